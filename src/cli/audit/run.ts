/** The work of `rhythm-vec audit`. */
import { basename, dirname, join, resolve } from 'node:path';
import { type Audit, audit } from '../../audit/audit.js';
import { drawingsOf } from '../../audit/drawings.js';
import { auditToJson } from '../../audit/json.js';
import { reportOf } from '../../audit/report.js';
import { UsageError } from '../failure.js';
import { readGrader } from '../files/grader-file.js';
import {
  besideOutputs,
  checkDirectory,
  jsonText,
  makeDirectory,
  type OutputFile,
  writeTogether,
} from '../files/output-file.js';
import { checkOutputs } from '../files/output-places.js';
import { checkPictures, drawAll, outputsOf } from '../files/picture-files.js';
import { checkEngineOptions, type EngineOptions } from '../options.js';
import { createProgress } from '../progress.js';
import { renderAudit } from './table.js';

export interface AuditCommandOptions extends EngineOptions {
  readonly grader: string;
  readonly output?: string;
  readonly json?: string;
  readonly seed?: number;
  readonly evaluations?: number;
  readonly episodes?: number;
  readonly persons?: number;
}

/** @throws UsageError for paths; LibraryError `library_missing`; what `audit` throws; the signal's reason. */
export async function runAudit(
  { output, json, ...options }: AuditCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  checkEngineOptions(options);
  if (json !== undefined) checkOutputs([{ option: '--json', path: json }], options.grader);
  const grader = await readGrader(options.grader);
  if (output !== undefined) await checkReport(output, json);
  const progress = createProgress('weeks');
  const people = besideOutputs(json);
  try {
    const result = await audit({ ...options, grader, signal, onProgress: progress.update });
    progress.stop();
    people.write(renderAudit(result));
    const files = output === undefined ? [] : await reportFiles(output, result, signal);
    if (json !== undefined) files.push({ path: json, data: jsonText(auditToJson(result)) });
    signal.throwIfAborted();
    if (output !== undefined) makeDirectory(output);
    await writeTogether(files);
  } finally {
    progress.stop();
  }
}

const DATA = 'audit.json';
const PAGE = 'audit.md';

/** Refuses, before any work is done, a report that could not be written in the end, and results in the place of its files. */
async function checkReport(directory: string, json: string | undefined): Promise<void> {
  await checkPictures();
  checkDirectory('--output', directory);
  if (json === undefined || json === '-' || resolve(dirname(json)) !== resolve(directory)) return;
  const name = basename(json);
  if (name !== DATA && name !== PAGE && !/\.(svg|png)$/.test(name)) return;
  throw new UsageError(
    `Expected --json to be another file than those of --output, got ${json}. Name another; ${DATA} in --output says the same.`,
  );
}

async function reportFiles(directory: string, result: Audit, signal: AbortSignal): Promise<OutputFile[]> {
  const drawings = drawingsOf(result);
  const files = (await drawAll(drawings, { signal })).flatMap(outputsOf);
  files.push({ path: DATA, data: jsonText(auditToJson(result)) });
  // Last: a report is only there with all that it shows.
  files.push({ path: PAGE, data: reportOf(result, drawings) });
  return files.map(({ path, data }) => ({ path: join(directory, path), data }));
}
