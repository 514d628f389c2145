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
 * Returns the mean of scores with its interval by Student's t distribution. The scores must be independent: those of
 * episodes say how well one policy plays, those of training runs how well a training method works.
 * @param scores at least one; a single score has no interval.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range` or `unknown_option`.
 */
export function meanInterval(scores: ArrayLike<number>, options: IntervalOptions = {}): Interval {
  return intervalOf(toScores('scores', scores), confidenceOf('meanInterval', options));
}

/**
 * Returns the mean difference of paired scores with its interval, like the leads that `eval` and `audit` print. A
 * difference on the same seeds has a narrower interval than the two means: the noise that both have cancels.
 * @param scores one per episode. @param others of the same episodes, in the same order.
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
