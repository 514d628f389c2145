/** Runs `rhythm-vec reeval`. */

import { STUDENT_NAMES } from '../../agents/student/shipped-students.js';
import { type Grader, toGrader } from '../../engine/graders/grader.js';
import { BASELINES } from '../../evaluation/reevaluation/baselines.js';
import {
  type ReevaluatedRow,
  Reevaluation,
  type Section,
} from '../../evaluation/reevaluation/reevaluation.js';
import { toSnakeCase } from '../../evaluation/result-json.js';
import { UserPolicy } from '../../evaluation/user-policy.js';
import { YARDSTICK_POLICIES } from '../../evaluation/yardstick.js';
import { SCHEMAS } from '../../shared/schemas.js';
import { GRADER_NAMES } from '../../world/fields.js';
import { UsageError } from '../command-errors.js';
import { checkOutputs } from '../files/check-outputs.js';
import { readGrader } from '../files/grader-file.js';
import { messageStream, writeJson } from '../files/output-file.js';
import { readPolicyFiles } from '../files/policy-file.js';
import {
  checkTrajectories,
  inBatches,
  readTrajectories,
  toStandardError,
} from '../files/trajectory-files.js';
import { createProgress } from '../progress.js';
import { checkEngineOptions, type EngineOptions } from '../shared-options.js';
import { BatchReevaluator } from './batch-reevaluator.js';
import { renderReevaluated } from './reeval-table.js';

/** The built-in policies that --baselines may name. Those of YARDSTICK_POLICIES that always play are left out. */
const FURTHER_BASELINES: readonly string[] = [
  ...STUDENT_NAMES,
  ...YARDSTICK_POLICIES.filter((name) => !BASELINES.some((baseline) => baseline.name === name)),
];

export interface ReevalOptions extends EngineOptions {
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
export async function runReeval(options: ReevalOptions, signal: AbortSignal): Promise<boolean> {
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
  const progress = createProgress('bytes');
  const { skipped } = reevaluator.counts;
  try {
    const lines = readTrajectories(jsonl, { signal, onProgress: progress.update, engine });
    const batches = inBatches(lines, { skipped, report: toStandardError, signal });
    for await (const batch of batches) await reevaluator.add(batch);
  } finally {
    progress.stop();
  }
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
