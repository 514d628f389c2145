/** Validates the options that select recorded episodes for a dataset. */

import { type Grader, toGrader } from '../../engine/graders/grader.js';
import { InputError } from '../../shared/errors.js';
import { checkBoolean, checkFinite, checkInteger } from '../../shared/values.js';
import { TRAINING_SEEDS } from '../../world/conditions.js';
import { MAX_U32, NUM_STEPS } from '../../world/fields.js';
import { checkRange, type Range, refuseEvalSeeds } from './dataset-seeds.js';

export interface SelectionOptions {
  /** Names of the teachers, models and conditions whose episodes are taken. Default: all. */
  readonly teacher?: readonly string[];
  readonly model?: readonly string[];
  readonly conditions?: readonly string[];
  /** Seeds of the episodes. Default 100-9999, the training seeds. */
  readonly seeds?: Range;
  /** Whether `seeds` may include evaluation seeds. Default false. */
  readonly allowEvalSeeds?: boolean;
  /** Whether to take episodes of policies that used hidden state. Default false. */
  readonly allowOracle?: boolean;
  /** The range of steps that become rows. Default 0-27. */
  readonly steps?: Range;
  /** The grader of final scores. Default v2. */
  readonly grader?: Grader;
  /** The share of seeds for validation, in [0, 0.9]. Default 0.1. */
  readonly validation?: number;
  /** u32, the seed of the split. Default 0. */
  readonly splitSeed?: number;
}

/** The validated selection of episodes. Unused filters are null. */
export interface EpisodeSelection
  extends Required<Omit<SelectionOptions, 'teacher' | 'model' | 'conditions'>> {
  readonly teacher: readonly string[] | null;
  readonly model: readonly string[] | null;
  readonly conditions: readonly string[] | null;
}

const ALL_STEPS: Range = { first: 0, last: NUM_STEPS - 1 };
/** Chosen by hand: at least about a tenth of the seeds is for training. */
const MAX_VALIDATION = 0.9;

/** Validates options. @throws InputError `out_of_range`, `wrong_type`, or `bad_seed` for refused evaluation seeds. */
export function toSelection(options: SelectionOptions): EpisodeSelection {
  const { teacher = null, model = null, conditions = null, grader = toGrader('v2') } = options;
  const allowEvalSeeds = checkBoolean('allowEvalSeeds', options.allowEvalSeeds ?? false);
  const seeds = checkRange('seeds', options.seeds ?? TRAINING_SEEDS, MAX_U32);
  if (!allowEvalSeeds) refuseEvalSeeds(seeds);
  return {
    teacher,
    model,
    conditions,
    seeds,
    allowEvalSeeds,
    grader,
    allowOracle: checkBoolean('allowOracle', options.allowOracle ?? false),
    steps: checkRange('steps', options.steps ?? ALL_STEPS, ALL_STEPS.last),
    validation: checkBetween('--validation', options.validation ?? 0.1, 0, MAX_VALIDATION),
    splitSeed: checkInteger('--split-seed', options.splitSeed ?? 0, 0, MAX_U32),
  };
}

/** Validates a number in [low, high]. @throws InputError `out_of_range` or `wrong_type`. */
export function checkBetween(what: string, value: number, low: number, high: number): number {
  if (checkFinite(what, value) >= low && value <= high) return value;
  const range = high === Number.MAX_VALUE ? `at least ${low}` : `from ${low} to ${high}`;
  throw new InputError(
    'out_of_range',
    `Expected ${what} to be ${range}, got ${value}. Pass a number in that range.`,
  );
}
