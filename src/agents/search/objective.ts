/** The outcome of an action sequence, and the comparison of two outcomes. */

/** The outcome of an action sequence, over all episodes that it plays. */
export interface Outcome {
  /** Mean final score. */
  readonly score: number;
  /**
   * How far the mean of the episodes' first-half means lies below the option `minFirstHalfMean`; 0 if it does not, or without
   * the option.
   */
  readonly shortfall: number;
}

/** An action sequence and its outcome. */
export interface ScoredActionSequence extends Outcome {
  /** u8 [28], codes. */
  readonly actions: Uint8Array;
}

/** Returns whether `a` is better: a smaller shortfall first, then a higher score. */
export function isBetter(a: Outcome, b: Outcome): boolean {
  return a.shortfall === b.shortfall ? a.score > b.score : a.shortfall < b.shortfall;
}
