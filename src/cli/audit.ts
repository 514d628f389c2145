/** `rhythm-vec audit`: what a grader really pays for. */
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { type Audit, audit } from '../audit/audit.js';
import { drawingsOf } from '../audit/drawings.js';
import { auditToJson } from '../audit/json.js';
import { reportOf } from '../audit/report.js';
import { renderAudit } from './audit/table.js';
import type { Context } from './context.js';
import { checkNotGrader, readGrader } from './files/grader-file.js';
import {
  checkDirectory,
  checkOutput,
  jsonText,
  makeDirectory,
  type OutputFile,
  writeTogether,
} from './files/output-file.js';
import { checkPictures, drawAll, outputsOf } from './files/picture-files.js';
import { addEngineOptions, checkEngineOptions, type EngineOptions, parseInteger } from './options.js';
import { createProgress } from './progress.js';

interface Options extends EngineOptions {
  readonly grader: string;
  readonly output?: string;
  readonly json?: string;
  readonly seed?: number;
  readonly evaluations?: number;
  readonly episodes?: number;
  readonly persons?: number;
}

const HELP = `
Before anything is trained: what can be earned under a grader without looking at the person, and what is left for who does?
  blind-tape   the same 28 actions for everybody, the best that a search finds on training seeds
  honest-tape  the best of those whose first half of the week is no worse than the heuristic's: the difference to
               blind-tape is what neglecting the first half, to shine later, is worth
  push:X       one component raised alone; belief_accuracy by the middle person's belief
  oracle       knows the person: a tape of each one's own, found in weeks of other luck
  +constant    with the belief [0.5, 0.5, 0.5]; +truth with what is true of the person
All are scored on fresh seeds, from 20000 on; differences are paired, with 95 % intervals. The last paragraph says what it
comes to. --output writes a report with pictures: audit.md, audit.json, and SVG and PNG of prices, components, tapes,
rewards and meters.

Examples:
  rhythm-vec audit
  rhythm-vec audit --grader v1 --output audit-v1
  echo '{"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}' > calm.json
  rhythm-vec audit --grader calm.json --json calm-audit.json
`;

export function addAuditCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('audit')
    .description(
      'Find out what a grader really pays for, before training: exploits with prices, and what knowing pays.',
    )
    .addOption(new Option('--grader <name|file>', 'v1, v2 or a grader file').default('v2'))
    .option('--output <directory>', 'also write a report with pictures there')
    .option('--json <file>', 'also write the results as JSON; - is the standard output')
    .option('--seed <n>', "of the searches' random numbers (default: 0)", parseInteger)
    .option('--evaluations <n>', 'tapes to score in the search for everybody (default: 300000)', parseInteger)
    .option('--episodes <n>', 'fresh seeds to score on (default: 2000)', parseInteger)
    .option('--persons <n>', 'of these, played by who knows the person (default: 400)', parseInteger);
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action((options: Options) => runAudit(options, signal));
}

async function runAudit({ output, json, ...options }: Options, signal: AbortSignal): Promise<void> {
  checkEngineOptions(options);
  checkNotGrader('--json', json, options.grader);
  const grader = await readGrader(options.grader);
  if (json !== undefined) checkOutput('--json', json);
  if (output !== undefined) await prepare(output);
  const progress = createProgress('weeks');
  const people = json === '-' ? process.stderr : process.stdout;
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

/** Refuses, before any work is done, what could not be written in the end. */
async function prepare(directory: string): Promise<void> {
  await checkPictures();
  checkDirectory('--output', directory);
}

async function reportFiles(directory: string, result: Audit, signal: AbortSignal): Promise<OutputFile[]> {
  const drawings = drawingsOf(result);
  const files = (await drawAll(drawings, { signal })).flatMap(outputsOf);
  files.push({ path: 'audit.json', data: jsonText(auditToJson(result)) });
  // Last: a report is only there with all that it shows.
  files.push({ path: 'audit.md', data: reportOf(result, drawings) });
  return files.map(({ path, data }) => ({ path: join(directory, path), data }));
}
