/** Options of a dataset for SFT, and their validation. */

import type { Objective as PlannerObjective } from '../../../agents/planner/objectives.js';
import { checkBoolean, checkName } from '../../../shared/values.js';
import {
  checkBetween,
  type EpisodeSelection,
  type SelectionOptions,
  toSelection,
} from '../selection-options.js';

/** Objectives of teachers. 'none' stands for teachers without an objective, such as language models. */
export const OBJECTIVES = ['wellbeing', 'score', 'none'] as const satisfies readonly (
  | PlannerObjective
  | 'none'
)[];
export type Objective = (typeof OBJECTIVES)[number];

export interface SftOptions extends SelectionOptions {
  /** Only episodes of teachers with this objective. Default wellbeing. */
  readonly objective?: Objective;
  /** Only episodes in which every completion names an action. Default false. */
  readonly onlyParsed?: boolean;
  /** The minimum final score, in [0, 1]. Default: no minimum. */
  readonly minScore?: number;
  /**
   * The minimum margin, in [-1, 1]: the final score minus the score of heuristic+constant, which infers nothing, in the same
   * episode. Default: no minimum.
   */
  readonly minMargin?: number;
  /** The maximum mean absolute error of the last belief, in [0, 1]. Uses hidden state. Default: no maximum. */
  readonly maxBeliefError?: number;
}

/** Options with all defaults filled in. Unused filters are null. */
export interface SftPlan extends EpisodeSelection {
  readonly objective: Objective;
  readonly onlyParsed: boolean;
  readonly minScore: number | null;
  readonly minMargin: number | null;
  readonly maxBeliefError: number | null;
}

/** Validates options. @throws InputError. */
export const toSftPlan = (options: SftOptions): SftPlan => ({
  ...toSelection(options),
  objective: checkName('objective', options.objective ?? 'wellbeing', OBJECTIVES),
  onlyParsed: checkBoolean('onlyParsed', options.onlyParsed ?? false),
  minScore: checkBound('--min-score', options.minScore, 0),
  minMargin: checkBound('--min-margin', options.minMargin, -1),
  maxBeliefError: checkBound('--max-belief-error', options.maxBeliefError, 0),
});

const checkBound = (what: string, value: number | undefined, low: number): number | null =>
  value === undefined ? null : checkBetween(what, value, low, 1);
