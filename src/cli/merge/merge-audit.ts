/** Merges the shards of `rhythm-vec audit`: makes the JSON and the tables of the whole audit. */
import { readFile } from 'node:fs/promises';
import { auditToJson } from '../../evaluation/result-json.js';
import { mergeAudit } from '../../server/jobs/audit-shards.js';
import type { AuditJob } from '../../server/jobs/job.js';
import { renderAudit } from '../audit/audit-table.js';
import { messageStream, writeJson } from '../files/output-file.js';
import { createProgress } from '../progress.js';

/** Writes the JSON and prints the tables. @param paths the files of all shards. @param output the path of the JSON. */
export async function mergeAuditFiles(
  job: AuditJob,
  paths: readonly string[],
  output: string,
  signal: AbortSignal,
): Promise<void> {
  const lines: string[] = [];
  for (const path of paths) lines.push(...(await readFile(path, 'utf8')).trimEnd().split('\n'));
  const progress = createProgress('episodes');
  try {
    const audit = await mergeAudit(job, lines, { signal, onProgress: progress.update });
    signal.throwIfAborted();
    await writeJson(output, auditToJson(audit));
    progress.stop();
    messageStream(output).write(renderAudit(audit));
  } finally {
    progress.stop();
  }
}
