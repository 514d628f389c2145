/** Runs `rhythm-vec audit`. */
import { basename, dirname, join } from 'node:path';
import { type Audit, audit } from '../../evaluation/audit/audit.js';
import { drawingsOf } from '../../evaluation/audit/audit-figures.js';
import { reportOf } from '../../evaluation/audit/audit-page.js';
import { auditToJson } from '../../evaluation/result-json.js';
import { UsageError } from '../command-errors.js';
import { checkDirectory, checkOutputs, fileKey } from '../files/check-outputs.js';
import { checkNotGrader, readGrader } from '../files/grader-file.js';
import { jsonText, messageStream, type OutputFile, writeFilesAtomically } from '../files/output-file.js';
import { makeDirectory } from '../files/paths.js';
import { checkPictures, drawAll, outputsOf } from '../files/picture-files.js';
import { readPolicyFiles } from '../files/policy-file.js';
import { createProgress } from '../progress.js';
import { checkEngineOptions, type EngineOptions } from '../shared-options.js';
import { renderAudit } from './audit-table.js';

export interface AuditCommandOptions extends EngineOptions {
  readonly grader: string;
  readonly output?: string;
  readonly json?: string;
  readonly seed?: number;
  readonly evaluations?: number;
  readonly episodes?: number;
  readonly profiles?: number;
  readonly plannerEpisodes?: number;
  readonly assert?: boolean;
  /** Names of students, and paths of policy files. */
  readonly policies?: readonly string[];
}

/**
 * Audits a grader, prints the result and writes the files.
 * @returns whether the command succeeded: false if `assert` is set and the grader pays for anything but inference.
 * @throws UsageError for invalid options and unusable files; InputError `bad_grader`; LibraryError `library_missing`; the
 *   errors of `audit`; the signal's reason.
 */
export async function runAudit(
  { output, json, assert = false, policies: paths, ...options }: AuditCommandOptions,
  signal: AbortSignal,
): Promise<boolean> {
  checkEngineOptions(options);
  if (json !== undefined) checkOutputs([{ option: '--json', path: json }], options.grader);
  if (output !== undefined) await checkReport(output, json, options.grader);
  const grader = await readGrader(options.grader);
  const policies = await readPolicyFiles(paths);
  const progress = createProgress('episodes');
  const messages = messageStream(json);
  try {
    const result = await audit({ ...options, policies, grader, signal, onProgress: progress.update });
    progress.stop();
    messages.write(renderAudit(result));
    const files = output === undefined ? [] : await reportFiles(output, result, signal);
    if (json !== undefined) files.push({ path: json, data: jsonText(auditToJson(result)) });
    signal.throwIfAborted();
    if (output !== undefined) makeDirectory(output);
    await writeFilesAtomically(files);
    if (!assert || result.paysOnlyForInference) return true;
    process.stderr.write(`error: ${result.reason}\n`);
    return false;
  } finally {
    progress.stop();
  }
}

/** The names of the two files of a report that are not figures. */
const DATA = 'audit.json';
const PAGE = 'audit.md';

/**
 * Checks arguments before any work is done. Refuses a report directory that cannot be written, and a grader file or
 * --json file that the report would overwrite.
 */
async function checkReport(directory: string, json: string | undefined, grader: string): Promise<void> {
  await checkPictures();
  checkDirectory('--output', directory);
  for (const name of [DATA, PAGE]) checkNotGrader('--output', join(directory, name), grader);
  if (json === undefined || json === '-') return;
  const key = fileKey(json);
  if (dirname(key) !== dirname(fileKey(join(directory, DATA)))) return;
  const name = basename(key);
  if (name !== DATA && name !== PAGE && !/\.(svg|png)$/.test(name)) return;
  throw new UsageError(
    `Expected --json to be another file than those of --output, got ${json}. Name another file; ${DATA} in --output has the same content.`,
  );
}

async function reportFiles(directory: string, result: Audit, signal: AbortSignal): Promise<OutputFile[]> {
  const drawings = drawingsOf(result);
  const files = (await drawAll(drawings, { signal })).flatMap(outputsOf);
  files.push({ path: DATA, data: jsonText(auditToJson(result)) });
  // The page comes after its pictures, so that it exists only with all of them.
  files.push({ path: PAGE, data: reportOf(result, drawings) });
  return files.map(({ path, data }) => ({ path: join(directory, path), data }));
}
