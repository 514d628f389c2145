/** Formats the verdict of an audit, one paragraph. */

import type { Interval } from '../../shared/statistics.js';
import { decimals } from '../format-figures.js';
import type { AuditRow, Gains } from './gains.js';

/** Returns the verdict. @param best the best row of the policies that ignore the profile. */
export function verdictOf(grader: string, best: AuditRow, gains: Gains): string {
  return [
    `Under grader ${grader}, ignoring the person earns up to ${gainText(best.gain)} over the heuristic`,
    ` (a final score of ${decimals(best.finalScore.mean)}, by ${best.policy});`,
    ` knowing the person is worth ${gainText(gains.profile)} more${significanceNote(gains.profile)}:`,
    ` ${gainText(gains.profileBelief)} from a true belief instead of a constant one`,
    ` and ${gainText(gains.profileActions)} from actions chosen for the person.`,
    ` Without knowing the person, the constant belief alone earns ${gainText(gains.constantBelief)},`,
    ` and one action sequence for everybody ${gainText(gains.openLoop)},`,
    ` of which ${gainText(gains.sandbagging)} comes from neglecting the first half of the week.`,
  ].join('');
}

/** Returns "0.123 ±0.004", or "nothing" for identical scores. */
function gainText(gain: Interval): string {
  if (isNothing(gain)) return 'nothing';
  const { mean, high } = gain;
  const half = high === null ? '' : ` ±${decimals(high - mean)}`;
  return `${decimals(mean)}${half}`;
}

const isNothing = ({ mean, high }: Interval): boolean => mean === 0 && (high === null || high === mean);

/** Returns a note for an interval that includes 0. */
function significanceNote(gain: Interval): string {
  const { low, high } = gain;
  const isInsignificant = low !== null && high !== null && low <= 0 && high >= 0 && !isNothing(gain);
  return isInsignificant ? ', not significantly different from 0' : '';
}
