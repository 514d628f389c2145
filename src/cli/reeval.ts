/** `rhythm-vec reeval`: replays, compares and regrades trajectories. */
import type { Command } from 'commander';
import { STUDENT_NAMES } from '../agents/student/packaged-students.js';
import { type Grader, toGrader } from '../engine/graders/grader.js';
import { BASELINES } from '../evaluation/reevaluation/baselines.js';
import { type ReevaluatedRow, Reevaluation, type Section } from '../evaluation/reevaluation/reevaluation.js';
import { type Mismatch, whereOf } from '../evaluation/reevaluation/trajectory-replayer.js';
import { toSnakeCase } from '../evaluation/result-json.js';
import { YARDSTICK_POLICIES } from '../evaluation/stored-scores.js';
import { UserPolicy } from '../evaluation/user-policy.js';
import { SCHEMAS } from '../shared/schemas.js';
import { describe } from '../shared/values.js';
import { GRADER_NAMES } from '../world/fields.js';
import { EXIT, UsageError } from './command-errors.js';
import type { Context } from './context.js';
import { checkOutputs } from './files/check-outputs.js';
import { readGrader } from './files/grader-file.js';
import { printable } from './files/lines.js';
import { messageStream, writeJson } from './files/output-file.js';
import { readPolicyFiles } from './files/policy-file.js';
import {
  checkTrajectories,
  inBatches,
  type PlacedEpisode,
  type Report,
  readTrajectories,
  SkippedLines,
  toStandardError,
} from './files/trajectory-files.js';
import { createProgress } from './progress.js';
import { type ReevalCounts, renderReevaluated } from './reeval-table.js';
import {
  addEngineOptions,
  checkEngineOptions,
  type EngineOptions,
  OPTIONS,
  parseInteger,
  parseNames,
} from './shared-options.js';

const HELP = `
A file of trajectories has one episode per line, or per row of Parquet, as \`rhythm-vec teach\` writes it;
docs/trajectories.md has the schema.
Every episode is replayed from its seed with its actions and beliefs. Observations, rewards, prompts and parsed completions
are compared with the file bit for bit. Mismatches are reported:
  teacher.jsonl:3: step 4, observation.meters[2]: recorded 0.71, recomputed 0.7080322
Invalid lines are left out, and the first ten are reported: corrupt lines, lines of another schema, version or world, and
duplicates. For each condition and grader, a table has a row for each teacher, and rows for baselines on the same seeds:
random, heuristic, open-loop, heuristic+constant, open-loop+constant (+constant states the belief [0.5, 0.5, 0.5]), and the
policies of --baselines. [oracle] marks teachers that used hidden state.
The exit code is 1 if anything mismatched, or if a line was left out and --skip-bad is not given.

Examples:
  rhythm-vec reeval --jsonl teacher.jsonl
  rhythm-vec reeval --jsonl teacher.jsonl --grader v2 --json teacher-results.json
  echo 'export default ({ steps }) => ({ actions: steps.map(() => 3) })' > sleep.mjs
  rhythm-vec reeval --jsonl teacher.jsonl --baselines ./sleep.mjs
  gzip --keep teacher.jsonl
  zcat teacher.jsonl.gz | rhythm-vec reeval --jsonl -
`;

export function defineReeval(command: Command, { signal }: Context): void {
  command
    .addOption(OPTIONS.jsonl)
    .option('--grader <name|file>', 'v1, v2, v3 or a grader file (default: all three)')
    .option(
      '--baselines <names|files>',
      'comma-separated: also play these students, reactive+constant, planner-prior, and the policies of these files',
      parseNames,
    )
    .addOption(OPTIONS.json)
    .option(
      '--mismatches <n>',
      'report at most this many mismatches of each episode; all are counted',
      parseInteger,
      10,
    )
    .addOption(OPTIONS.skipBad);
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: ReevalOptions) => {
      if (!(await runReeval(options, signal))) process.exitCode = EXIT.failure;
    });
}

/** The built-in policies that --baselines may name. Those of YARDSTICK_POLICIES that always play are left out. */
const FURTHER_BASELINES: readonly string[] = [
  ...STUDENT_NAMES,
  ...YARDSTICK_POLICIES.filter((name) => !BASELINES.some((baseline) => baseline.name === name)),
];

interface ReevalOptions extends EngineOptions {
  readonly jsonl: readonly string[];
  readonly grader?: string;
  /** Names of FURTHER_BASELINES, and paths of policy files. */
  readonly baselines?: readonly string[];
  readonly json?: string;
  /** The maximum number of mismatches to report per episode. */
  readonly mismatches: number;
  readonly skipBad: boolean;
}

/**
 * Re-evaluates trajectories, prints the tables, and with --json writes the results.
 * @returns whether all episodes equal their replay, and all lines are valid or --skip-bad is given.
 * @throws UsageError for invalid options, unusable files, or files without a valid episode; InputError `bad_grader`;
 *   LibraryError `library_missing`; as `createVecEnv`; the errors of the baselines; the signal's reason.
 */
async function runReeval(options: ReevalOptions, signal: AbortSignal): Promise<boolean> {
  checkEngineOptions(options);
  const { jsonl, json } = options;
  if (json !== undefined) checkOutputs([{ option: '--json', path: json }], options.grader);
  checkTrajectories('--jsonl', jsonl, json === undefined ? null : { option: '--json', path: json });
  const policies = Object.entries(await readPolicyFiles(options.baselines, FURTHER_BASELINES));
  const baselines = policies.map(([name, policy]) => new UserPolicy(name, policy));
  await using reevaluation = await Reevaluation.open(options, await gradersOf(options), baselines);
  const reevaluator = new BatchReevaluator(reevaluation, options.mismatches, toStandardError);
  await readAll(reevaluator, options, signal);
  const { counts, listedMismatches } = reevaluator;
  const { skipped, ...totals } = counts;
  if (counts.episodes === 0) {
    const why = skipped.total === 0 ? '' : `; ${skipped.text}`;
    throw new UsageError(`Expected episodes, got none${why}. Pass a file that rhythm-vec teach wrote.`);
  }
  const sections = reevaluation.sections();
  messageStream(json).write(renderReevaluated(reevaluation.run, sections, counts));
  if (json !== undefined) {
    const { grader: _, graderWeights: __, backendReason: ___, ...run } = reevaluation.run;
    const results = {
      schema: SCHEMAS.reevaluation,
      ...run,
      files: jsonl,
      ...totals,
      skipped: skipped.counts,
      named: listedMismatches,
    };
    await writeJson(json, toSnakeCase({ ...results, rows: rowsOf(sections) }));
  }
  return counts.mismatchedEpisodes === 0 && (options.skipBad || skipped.total === 0);
}

async function readAll(
  reevaluator: BatchReevaluator,
  { jsonl, ...engine }: Pick<ReevalOptions, 'jsonl' | keyof EngineOptions>,
  signal: AbortSignal,
): Promise<void> {
  using progress = createProgress('bytes');
  const { skipped } = reevaluator.counts;
  const lines = readTrajectories(jsonl, { signal, onProgress: progress.update, engine });
  const batches = inBatches(lines, { skipped, report: toStandardError, signal });
  for await (const batch of batches) await reevaluator.add(batch);
}

const gradersOf = async ({ grader }: ReevalOptions): Promise<readonly Grader[]> =>
  grader === undefined ? GRADER_NAMES.map(toGrader) : [await readGrader(grader)];

/** Returns the rows as one list, for the JSON file. */
const rowsOf = (sections: readonly Section[]) =>
  sections.flatMap(({ condition, profiles, seeds, graders }) =>
    graders.flatMap(({ grader, weights, rows }) =>
      rows.map(({ player, ...row }: ReevaluatedRow) => ({
        condition,
        profiles,
        seeds,
        grader,
        graderWeights: weights,
        teacher: null,
        model: null,
        objective: null,
        oracle: false,
        ...player,
        ...row,
      })),
    ),
  );

/** The maximum number of mismatches in the JSON file. Chosen by hand: more make the file larger. The counts include all. */
const MAX_LISTED = 1000;

interface ListedMismatch extends Mismatch {
  /** File and line, such as "teacher.jsonl:3". */
  readonly line: string;
}

/** A re-evaluation that counts and reports mismatches. */
class BatchReevaluator {
  readonly counts: ReevalCounts = {
    episodes: 0,
    mismatchedEpisodes: 0,
    mismatches: 0,
    skipped: new SkippedLines(),
  };
  /** The first mismatches of all files, at most MAX_LISTED. */
  readonly listedMismatches: ListedMismatch[] = [];
  readonly #reevaluation: Reevaluation;
  readonly #maxReported: number;
  readonly #report: Report;

  /** @param maxReported the maximum number of mismatches to report per episode. */
  constructor(reevaluation: Reevaluation, maxReported: number, report: Report) {
    this.#reevaluation = reevaluation;
    this.#maxReported = maxReported;
    this.#report = report;
  }

  /** Replays episodes, and counts and reports their mismatches. */
  async add(batch: readonly PlacedEpisode[]): Promise<void> {
    const mismatches = await this.#reevaluation.add(batch.map(({ episode }) => episode));
    for (const [i, { place }] of batch.entries()) this.#reportMismatches(place, mismatches[i]);
    this.counts.episodes += batch.length;
  }

  #reportMismatches(place: string, mismatches: readonly Mismatch[]): void {
    if (mismatches.length === 0) return;
    this.counts.mismatchedEpisodes++;
    this.counts.mismatches += mismatches.length;
    for (const mismatch of mismatches.slice(0, MAX_LISTED - this.listedMismatches.length)) {
      this.listedMismatches.push({ line: place, ...mismatch });
    }
    for (const mismatch of mismatches.slice(0, this.#maxReported))
      this.#report(`${place}: ${textOf(mismatch)}`);
    const more = mismatches.length - this.#maxReported;
    if (more > 0) this.#report(`${place}: and ${more} more`);
  }
}

const textOf = (mismatch: Mismatch): string => {
  const { recorded, recomputed } = mismatch;
  return printable(
    `${whereOf(mismatch)}: recorded ${valueText(recorded)}, recomputed ${valueText(recomputed)}`,
  );
};

const valueText = (value: Mismatch['recorded']): string => (Object.is(value, -0) ? '-0' : describe(value));
