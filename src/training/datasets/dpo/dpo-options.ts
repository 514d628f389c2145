/** Options of a dataset for DPO, and their validation. */
import { checkBoolean, checkName } from '../../../shared/values.js';
import {
  checkBetween,
  type EpisodeSelection,
  type SelectionOptions,
  toSelection,
} from '../selection-options.js';

/** What decides which answer is better: the episode's final score, or the sum of rewards from the state on. */
export const CRITERIA = ['score', 'return'] as const;
export type Criterion = (typeof CRITERIA)[number];

interface PairOptions {
  /** What decides which answer is better. Default 'score'. */
  readonly by?: Criterion;
  /** The smallest difference between the values of a pair, at least 0. Default 0: any difference. */
  readonly minMargin?: number;
  /** Whether to pair each answer with each worse one, instead of only the best with the worst. Default false. */
  readonly allPairs?: boolean;
}

export interface DpoOptions extends SelectionOptions, PairOptions {}

/** Options with all defaults filled in. */
export interface DpoPlan extends EpisodeSelection, Required<PairOptions> {}

/** Validates options. @throws InputError `unknown_name`, or as `toSelection`. */
export const toDpoPlan = (options: DpoOptions): DpoPlan => ({
  ...toSelection(options),
  by: checkName('by', options.by ?? CRITERIA[0], CRITERIA),
  minMargin: checkBetween('--min-margin', options.minMargin ?? 0, 0, Number.MAX_VALUE),
  allPairs: checkBoolean('allPairs', options.allPairs ?? false),
});
