/** Computes the share of a score between the two anchors of a grader, which `ScoreAnchors` describes. */
import type { Interval } from '../shared/statistics.js';
import { tQuantile } from '../shared/t-quantile.js';
import type { ScoreAnchors } from './audit/anchors-of.js';

/** The least distance of the anchors. Chosen by hand: with closer anchors, a share would be mostly noise. */
export const MIN_SPAN = 0.02;

/** The share of a score; null if its grader and profiles have no anchors, or `isTooNarrow` holds for its anchors. */
export type Share = Interval | null;

/** Whether the anchors lie closer than MIN_SPAN, or in the wrong order. */
export const isTooNarrow = ({ sequence, oracle }: ScoreAnchors): boolean =>
  !(oracle.mean - sequence.mean >= MIN_SPAN);

/**
 * Returns (score - sequence) / (oracle - sequence), and null if `isTooNarrow` holds for the anchors. The interval follows
 * from the standard errors of the score and both anchors by the delta method, with the t quantile of Welch's and
 * Satterthwaite's degrees of freedom. The anchors share seeds, so their errors may be correlated: they are added, as if fully
 * correlated. The bounds are null if a standard error is unknown.
 * @param episodes the number of episodes of the score.
 */
export function shareOf(score: Interval, episodes: number, anchors: ScoreAnchors): Share {
  if (isTooNarrow(anchors)) return null;
  const { sequence, oracle, sequenceSeeds, oracleSeeds } = anchors;
  const span = oracle.mean - sequence.mean;
  const share = (score.mean - sequence.mean) / span;
  const counts = [episodes, countOf(sequenceSeeds), countOf(oracleSeeds)];
  const errors = [score, sequence, oracle].map((interval, k) => errorOf(interval, counts[k]));
  if (errors.some(Number.isNaN)) return { mean: share, low: null, high: null };
  const [scoreError, sequenceError, oracleError] = errors;
  const half = halfWidth([
    { error: scoreError / span, freedom: counts[0] - 1 },
    {
      error: (Math.abs(1 - share) * sequenceError + Math.abs(share) * oracleError) / span,
      freedom: Math.min(counts[1], counts[2]) - 1,
    },
  ]);
  return { mean: share, low: share - half, high: share + half };
}

/** Returns the number of seeds of a range such as "20000-20099"; NaN for another text. */
function countOf(seeds: string): number {
  const [, first, last] = /^(\d+)-(\d+)$/.exec(seeds) ?? [];
  return Number(last) - Number(first) + 1;
}

/** Returns the standard error of a mean; NaN if it is unknown. @param count the number of episodes. */
const errorOf = ({ mean, high }: Interval, count: number): number =>
  high === null || !(count >= 2) ? Number.NaN : (high - mean) / tQuantile(count - 1);

interface ErrorTerm {
  readonly error: number;
  /** Degrees of freedom. */
  readonly freedom: number;
}

/** Returns half the width of the 95 % interval of a sum with independent errors. */
function halfWidth(terms: readonly ErrorTerm[]): number {
  const variance = terms.reduce((sum, { error }) => sum + error ** 2, 0);
  if (variance === 0) return 0;
  const spread = terms.reduce((sum, { error, freedom }) => sum + error ** 4 / freedom, 0);
  return tQuantile(Math.max(1, Math.floor(variance ** 2 / spread))) * Math.sqrt(variance);
}
