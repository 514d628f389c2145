/** `rhythm-vec audit`: measures what a grader rewards. */

import { basename, dirname, join } from 'node:path';
import type { Command } from 'commander';
import { impossibleText } from '../evaluation/audit/assessment.js';
import type { Audit } from '../evaluation/audit/audit.js';
import { drawingsOf, reportOf } from '../evaluation/audit/audit-page.js';
import type { AuditRow } from '../evaluation/audit/gains.js';
import { alignedInterval, decimals } from '../evaluation/format-results.js';
import { audit } from '../evaluation/on-first-use.js';
import { auditToJson } from '../evaluation/result-json.js';
import { COMPONENT_NAMES } from '../world/fields.js';
import { EXIT, UsageError } from './command-errors.js';
import type { Context } from './context.js';
import { renderHeader } from './eval/eval-table.js';
import { checkDirectory, checkOutputs, fileKey } from './files/check-outputs.js';
import { checkNotGrader, readGrader } from './files/grader-file.js';
import { jsonText, messageStream, type OutputFile, writeFilesAtomically } from './files/output-file.js';
import { makeDirectory } from './files/paths.js';
import { checkPictures, drawAll, outputsOf } from './files/picture-files.js';
import { readPolicyFiles } from './files/policy-file.js';
import { createProgress } from './progress.js';
import {
  addEngineOptions,
  checkEngineOptions,
  type EngineOptions,
  OPTIONS,
  parseInteger,
  parseNames,
} from './shared-options.js';
import { COMPONENT_HEADS, renderColumns, wrap } from './text-table.js';

const HELP = `
Measures, before any training, the score that can be earned under a grader without inferring the profile, and the score
that knowing the profile adds:
  open-loop         the same 28 actions for every profile, the best that a search finds on training seeds
  open-loop-honest  the best sequence whose first half is no worse than the heuristic's: the difference to open-loop is
                    the gain of neglecting the first half
  reactive          chooses by step and meters alone, the best that a search finds
  push:X            maximises component X alone; belief_accuracy and belief_skill by a fixed belief
  planner           infers the profile; planner-prior does not; planner-oracle knows it
  oracle-open-loop  the best 28 actions for each profile, found in episodes with other random numbers
  +constant         with the belief [0.5, 0.5, 0.5]; +fitted with the best constant belief; +truth with the true belief
  +extreme          with one belief whose numbers are 0 or 1; +random with another random belief at each step. Neither
                    depends on the profile
The command also plays an impossible world, where every profile is neutral: knowing the profile must add nothing there. All
policies are scored on episodes that no search played, of seeds from 20000 on; differences are paired, with 95 % intervals.
The last paragraph of the output summarises the results. --output writes a report with figures: audit.md, audit.json, and SVG
and PNG of gains, components, action sequences, rewards and meters.

With --assert the command exits 1 if the grader pays for anything but inference (pays_only_for_inference in the JSON).

Examples:
  rhythm-vec audit
  rhythm-vec audit --grader v1 --output audit-v1
  echo '{"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}' > calm.json
  rhythm-vec audit --grader calm.json --json calm-audit.json
  rhythm-vec audit --grader v3 --assert
  echo 'export default ({ steps }) => ({ actions: steps.map(() => 3) })' > sleep.mjs
  rhythm-vec audit --grader v3 --policies ./sleep.mjs
`;

export function defineAudit(command: Command, { signal }: Context): void {
  command
    .addOption(OPTIONS.grader)
    .option('--seed <n>', 'seed of the searches (default: 0)', parseInteger)
    .option(
      '--evaluations <n>',
      'action sequences to score in the search for all profiles (default: 300000)',
      parseInteger,
    )
    .option('--episodes <n>', 'fresh seeds to score on (default: 2000)', parseInteger)
    .option(
      '--profiles <n>',
      'fresh seeds whose profiles get an action sequence of their own (default: 400)',
      parseInteger,
    )
    .option(
      '--planner-episodes <n>',
      'fresh seeds that each planner plays; all planners take a third of a second of one core per seed (default: 100)',
      parseInteger,
    )
    .option('--output <directory>', 'also write a report with figures to this directory')
    .addOption(OPTIONS.json)
    .option(
      '--policies <names|files>',
      'comma-separated: also score these students (trained networks), and the policies that these files export',
      parseNames,
    )
    .option('--assert', 'exit 1 if the grader pays for anything but inference');
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: AuditCommandOptions) => {
      if (!(await runAudit(options, signal))) process.exitCode = EXIT.failure;
    });
}

interface AuditCommandOptions extends EngineOptions {
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
async function runAudit(
  { output, json, assert = false, policies: paths, ...options }: AuditCommandOptions,
  signal: AbortSignal,
): Promise<boolean> {
  checkEngineOptions(options);
  if (json !== undefined) checkOutputs([{ option: '--json', path: json }], options.grader);
  if (output !== undefined) await checkReport(output, json, options.grader);
  const grader = await readGrader(options.grader);
  const policies = await readPolicyFiles(paths);
  using progress = createProgress('episodes');
  const result = await audit({ ...options, policies, grader, signal, onProgress: progress.update });
  progress.stop();
  messageStream(json).write(renderAudit(result));
  const files = output === undefined ? [] : await reportFiles(output, result, signal);
  if (json !== undefined) files.push({ path: json, data: jsonText(auditToJson(result)) });
  signal.throwIfAborted();
  if (output !== undefined) makeDirectory(output);
  await writeFilesAtomically(files);
  if (!assert || result.paysOnlyForInference) return true;
  process.stderr.write(`error: ${result.reason}\n`);
  return false;
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

interface Column {
  readonly head: string;
  readonly text: (row: AuditRow) => string;
}

/** Column heads, shorter than in other tables: policy names are long, and lines have at most 120 characters. */
const HEADS: Readonly<Record<string, string>> = {
  ...COMPONENT_HEADS,
  adaptation: 'adap-\ntat.',
  belief_accuracy: 'bel.\nacc.',
  belief_skill: 'bel.\nskill',
};

/** Returns the columns. Components without a weight have no column, so that lines stay short. */
const columnsOf = ({ graderWeights }: Audit): readonly Column[] => [
  { head: '\npolicy', text: ({ policy }) => policy },
  { head: 'final score\n(95 %)', text: ({ finalScore }) => alignedInterval(finalScore) },
  { head: 'over the\nheuristic', text: ({ gain }) => alignedInterval(gain) },
  { head: 'bel.\nMAE', text: ({ beliefMae }) => decimals(beliefMae) },
  { head: '1st\nhalf', text: ({ firstHalfMean }) => decimals(firstHalfMean) },
  { head: '2nd\nhalf', text: ({ secondHalfMean }) => decimals(secondHalfMean) },
  ...COMPONENT_NAMES.filter((name) => graderWeights[name] !== 0).map((name) => ({
    head: HEADS[name],
    text: ({ components }: AuditRow) => decimals(components[name].mean),
  })),
];

/** Returns the text of an audit: the table of policies with its legend, the verdict and its reason. */
export function renderAudit(audit: Audit): string {
  const columns = columnsOf(audit);
  const rows = renderColumns(
    columns.map(({ head }) => head),
    audit.rows.map((row) => columns.map(({ text }) => text(row))),
  );
  return [
    renderHeader(audit),
    `${rows}\n`,
    `Scored on seeds ${audit.seeds.fresh}, oracle-open-loop on ${audit.seeds.profiles}, planners on ${audit.seeds.planner};`,
    'no search played these episodes, and all differences are paired.',
    '1st half, 2nd half: mean reward of each half, without noise.',
    '+constant states the belief [0.5, 0.5, 0.5], +fitted the best constant belief, +extreme a belief of zeros and ones,',
    '+random another belief at each step, +truth the true belief; open-loop-honest does not neglect the first half;',
    'reactive sees step and meters; push:X maximises component X alone; planner infers the profile, planner-prior does not;',
    'oracles know the profile.',
    `${audit.seconds.toFixed(1)} s.\n`,
    `${wrap(audit.verdict)}\n`,
    `${wrap(impossibleText(audit.impossible))}\n`,
    `${wrap(audit.reason)}\n`,
  ].join('\n');
}
