/** An audit in one paragraph. */
import { decimals } from '../evaluate/figures.js';
import type { Interval } from '../evaluate/statistics.js';
import type { AuditRow, Prices } from './prices.js';

/** Plain words for who has read nothing else. @param best the best row of those that ignore the person. */
export function verdictOf(grader: string, best: AuditRow, prices: Prices): string {
  return [
    `Under grader ${grader}, ignoring the person earns up to ${shown(best.price)} over the heuristic`,
    ` (a final score of ${decimals(best.finalScore.mean)}, by ${best.policy});`,
    ` knowing the person is worth ${shown(prices.person)} more${doubt(prices.person)}:`,
    ` ${shown(prices.personBelief)} by a true belief instead of a constant one`,
    ` and ${shown(prices.personActions)} by actions of the person's own.`,
    ` Of what ignoring earns, the constant belief alone is ${shown(prices.constantBelief)},`,
    ` one tape for everybody ${shown(prices.blindTape)},`,
    ` and neglecting the first half of the week ${shown(prices.sandbagging)} of that.`,
  ].join('');
}

/** "0.123 ±0.004", "nothing" where there is no difference at all. */
function shown(price: Interval): string {
  if (isNothing(price)) return 'nothing';
  const { mean, high } = price;
  const half = high === null ? '' : ` ±${decimals(high - mean)}`;
  return `${decimals(mean)}${half}`;
}

const isNothing = ({ mean, high }: Interval): boolean => mean === 0 && (high === null || high === mean);

/** Of what may be nothing; what is nothing is known to be. */
function doubt(price: Interval): string {
  const { low, high } = price;
  const open = low !== null && high !== null && low <= 0 && high >= 0 && !isNothing(price);
  return open ? ', which cannot be told from nothing' : '';
}
