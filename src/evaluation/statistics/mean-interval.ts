/** Means and paired differences with intervals by Student's t distribution. */
import { type Interval, intervalOf } from '../../shared/statistics.js';
import { CONFIDENCE } from '../../shared/t-quantile.js';
import { checkLength, readOptions } from '../../shared/values.js';
import { toConfidence, toScores } from './scores.js';

/** Options of `meanInterval` and `pairedDifference`. */
export interface IntervalOptions {
  /** The confidence level, in (0, 1): the probability that such an interval contains the true mean. Default 0.95. */
  confidence?: number;
}

const OPTIONS: readonly (keyof IntervalOptions)[] = ['confidence'];

/**
 * Returns the mean of scores with its interval by Student's t distribution. The scores must be independent. Scores of
 * episodes measure one policy; scores of training runs measure a training method.
 * @param scores at least one; a single score has no interval.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range` or `unknown_option`.
 */
export function meanInterval(scores: ArrayLike<number>, options: IntervalOptions = {}): Interval {
  return intervalOf(toScores('scores', scores), confidenceOf('meanInterval', options));
}

/**
 * Returns the mean of `scores` minus `others`, pair by pair, with its interval: the lead of one policy over another, as
 * `reeval`, `regrade` and `audit` print it. On the same seeds its interval is usually narrower than for independent scores,
 * because the noise common to both cancels out.
 * @param scores one per episode. @param others the scores of the same episodes, in the same order.
 * @throws as `meanInterval`; `wrong_length` also for lists of different lengths.
 */
export function pairedDifference(
  scores: ArrayLike<number>,
  others: ArrayLike<number>,
  options: IntervalOptions = {},
): Interval {
  const confidence = confidenceOf('pairedDifference', options);
  const values = toScores('scores', scores);
  const subtracted = toScores('others', others);
  checkLength('others', subtracted.length, values.length, 'one for each score');
  return intervalOf(
    values.map((value, i) => value - subtracted[i]),
    confidence,
  );
}

function confidenceOf(name: string, options: IntervalOptions): number {
  const { confidence = CONFIDENCE } = readOptions(`options of ${name}`, options, OPTIONS);
  return toConfidence(confidence);
}
