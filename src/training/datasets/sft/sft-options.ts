/** What a dataset for SFT is asked for. */

import type { Objective as Wanted } from '../../../agents/planner/objectives.js';
import { TRAINING_SEEDS } from '../../../agents/search/search-seeds.js';
import { type Grader, toGrader } from '../../../engine/graders/grader.js';
import { InputError } from '../../../shared/errors.js';
import { checkBoolean, checkFinite, checkInteger, checkName } from '../../../shared/values.js';
import { MAX_U32, NUM_STEPS } from '../../../world/fields.js';
import { checkRange, type Range, refuseEvalSeeds } from '../dataset-seeds.js';

/** What teachers want; 'none' is of those that want nothing by name, as language models do. */
export const OBJECTIVES = ['wellbeing', 'score', 'none'] as const satisfies readonly (Wanted | 'none')[];
export type Objective = (typeof OBJECTIVES)[number];

export interface SftOptions {
  /** Whose weeks: those of teachers that want this, no others. Default wellbeing. */
  readonly objective?: Objective;
  /** Names; default all. */
  readonly teacher?: readonly string[];
  readonly model?: readonly string[];
  readonly conditions?: readonly string[];
  /** Default 100-9999: what is left for training. */
  readonly seeds?: Range;
  /** Whether `seeds` may hold those that results are reported on. Default false. */
  readonly allowEvalSeeds?: boolean;
  /** Whether weeks of a teacher that was shown hidden numbers are taken. Default false. */
  readonly allowOracle?: boolean;
  /** Steps whose answers are rows. Default 0-27. */
  readonly steps?: Range;
  /** Only weeks in which every completion named an action. Default false. */
  readonly onlyParsed?: boolean;
  /** What scores are measured by. Default v2. */
  readonly grader?: Grader;
  /** The least final score. */
  readonly minScore?: number;
  /** The least difference to the final score of heuristic+constant in the same week: what shows no inference. */
  readonly minMargin?: number;
  /** The largest error of the last belief: looks at hidden numbers. */
  readonly maxBeliefError?: number;
  /** The share of seeds that are kept for validation, in [0, 0.9]. Default 0.1. */
  readonly validation?: number;
  /** u32, of the split. Default 0. */
  readonly splitSeed?: number;
}

/** Options with nothing left open but filters that are not asked for, which are null. */
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
const MOST_VALIDATION = 0.9;

/** @throws InputError `unknown_name`, `out_of_range`, `wrong_type`, or `bad_seed` for seeds that results are reported on. */
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
    minScore: between('--min-score', options.minScore, 0, 1),
    minMargin: between('--min-margin', options.minMargin, -1, 1),
    maxBeliefError: between('--max-belief-error', options.maxBeliefError, 0, 1),
    validation: between('--validation', options.validation ?? 0.1, 0, MOST_VALIDATION) as number,
    splitSeed: checkInteger('--split-seed', options.splitSeed ?? 0, 0, MAX_U32),
  };
}

function between(what: string, value: number | undefined, low: number, high: number): number | null {
  if (value === undefined) return null;
  if (checkFinite(what, value) >= low && value <= high) return value;
  throw new InputError(
    'out_of_range',
    `Expected ${what} to be from ${low} to ${high}, got ${value}. Pass a number of that range.`,
  );
}
