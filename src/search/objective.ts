/** What a tape comes to, and which of two is the better. */

/** Means over the starts that a tape was played from, of finished weeks. */
export interface Outcome {
  /** Of final scores. */
  readonly score: number;
  /** How far the mean of early means stays below the bound; 0 where it does not, or there is none. */
  readonly shortfall: number;
}

/** A tape and what it came to. */
export interface ScoredTape extends Outcome {
  /** u8 [28], codes. */
  readonly tape: Uint8Array;
}

/** Whether `a` is the better: whatever falls less short, then whatever scores more. */
export function isBetter(a: Outcome, b: Outcome): boolean {
  return a.shortfall === b.shortfall ? a.score > b.score : a.shortfall < b.shortfall;
}
