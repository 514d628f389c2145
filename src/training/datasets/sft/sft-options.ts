/** Options of a dataset for SFT, and their validation. */

import type { Objective as PlannerObjective } from '../../../agents/planner/objectives.js';
import { TRAINING_SEEDS } from '../../../agents/search/search-seeds.js';
import { type Grader, toGrader } from '../../../engine/graders/grader.js';
import { InputError } from '../../../shared/errors.js';
import { checkBoolean, checkFinite, checkInteger, checkName } from '../../../shared/values.js';
import { MAX_U32, NUM_STEPS } from '../../../world/fields.js';
import { checkRange, type Range, refuseEvalSeeds } from '../dataset-seeds.js';

/** Objectives of teachers. 'none' stands for teachers without an objective, such as language models. */
export const OBJECTIVES = ['wellbeing', 'score', 'none'] as const satisfies readonly (
  | PlannerObjective
  | 'none'
)[];
export type Objective = (typeof OBJECTIVES)[number];

export interface SftOptions {
  /** Only episodes of teachers with this objective. Default wellbeing. */
  readonly objective?: Objective;
  /** Only these names. Default all; so for `model` and `conditions`. */
  readonly teacher?: readonly string[];
  readonly model?: readonly string[];
  readonly conditions?: readonly string[];
  /** Seeds of the episodes. Default 100-9999, the training seeds. */
  readonly seeds?: Range;
  /** Whether `seeds` may include evaluation seeds. Default false. */
  readonly allowEvalSeeds?: boolean;
  /** Whether to include teachers that used hidden state. Default false. */
  readonly allowOracle?: boolean;
  /** The range of steps whose answers become rows. Default 0-27. */
  readonly steps?: Range;
  /** Only episodes in which every completion names an action. Default false. */
  readonly onlyParsed?: boolean;
  /** The grader of scores and margins. Default v2. */
  readonly grader?: Grader;
  /** The minimum final score. */
  readonly minScore?: number;
  /** The minimum margin: the final score minus that of heuristic+constant, which infers nothing, in the same episode. */
  readonly minMargin?: number;
  /** The maximum error of the last belief. Uses hidden state. */
  readonly maxBeliefError?: number;
  /** The share of seeds for validation, in [0, 0.9]. Default 0.1. */
  readonly validation?: number;
  /** u32, the seed of the split. Default 0. */
  readonly splitSeed?: number;
}

/** Options with all defaults filled in. Unused filters are null. */
export interface SftPlan {
  readonly objective: Objective;
  readonly teacher: readonly string[] | null;
  readonly model: readonly string[] | null;
  readonly conditions: readonly string[] | null;
  readonly seeds: Range;
  readonly allowEvalSeeds: boolean;
  readonly allowOracle: boolean;
  readonly steps: Range;
  readonly onlyParsed: boolean;
  readonly grader: Grader;
  readonly minScore: number | null;
  readonly minMargin: number | null;
  readonly maxBeliefError: number | null;
  readonly validation: number;
  readonly splitSeed: number;
}

const ALL_STEPS: Range = { first: 0, last: NUM_STEPS - 1 };
const MAX_VALIDATION = 0.9;

/** Validates options. @throws InputError `unknown_name`, `out_of_range`, `wrong_type`, or `bad_seed` for evaluation seeds. */
export function toSftPlan(options: SftOptions): SftPlan {
  const { teacher = null, model = null, conditions = null, grader = toGrader('v2') } = options;
  const allowEvalSeeds = checkBoolean('allowEvalSeeds', options.allowEvalSeeds ?? false);
  const seeds = checkRange('seeds', options.seeds ?? TRAINING_SEEDS, MAX_U32);
  if (!allowEvalSeeds) refuseEvalSeeds(seeds);
  return {
    objective: checkName('objective', options.objective ?? 'wellbeing', OBJECTIVES),
    ...{ teacher, model, conditions, seeds, allowEvalSeeds, grader },
    allowOracle: checkBoolean('allowOracle', options.allowOracle ?? false),
    steps: checkRange('steps', options.steps ?? ALL_STEPS, ALL_STEPS.last),
    onlyParsed: checkBoolean('onlyParsed', options.onlyParsed ?? false),
    minScore: checkBetween('--min-score', options.minScore, 0, 1),
    minMargin: checkBetween('--min-margin', options.minMargin, -1, 1),
    maxBeliefError: checkBetween('--max-belief-error', options.maxBeliefError, 0, 1),
    validation: checkBetween('--validation', options.validation ?? 0.1, 0, MAX_VALIDATION) as number,
    splitSeed: checkInteger('--split-seed', options.splitSeed ?? 0, 0, MAX_U32),
  };
}

function checkBetween(what: string, value: number | undefined, low: number, high: number): number | null {
  if (value === undefined) return null;
  if (checkFinite(what, value) >= low && value <= high) return value;
  throw new InputError(
    'out_of_range',
    `Expected ${what} to be from ${low} to ${high}, got ${value}. Pass a number in that range.`,
  );
}
