/** Describes the results of an audit in sentences. */

import type { Interval } from '../../shared/statistics.js';
import { decimals } from '../format-results.js';
import type { AuditRow, Gains } from './gains.js';
import type { ImpossibleWorld } from './impossible-world.js';

/** Returns the verdict. @param best the best row of the policies that ignore the profile. */
export function verdictOf(grader: string, best: AuditRow, gains: Gains): string {
  return [
    `Under grader ${grader}, a policy that ignores the profile gains up to ${gainText(best.gain)} over the heuristic`,
    ` (a final score of ${decimals(best.finalScore.mean)}, by ${best.policy});`,
    ` knowing the profile is worth ${gainText(gains.profile)} more${significanceNote(gains.profile)}.`,
    ` With one action sequence for everybody, the true belief gains ${gainText(gains.profileBelief)} over the constant`,
    ` belief; with the true belief, a sequence chosen for the profile gains ${gainText(gains.profileActions)} more.`,
    ` Without knowing the profile, the constant belief alone gains ${gainText(gains.constantBelief)} over the heuristic,`,
    ` and one action sequence for everybody ${gainText(gains.openLoop)},`,
    ` of which ${gainText(gains.sandbagging)} comes from neglecting the first half of the episode.`,
  ].join('');
}

/** Describes what knowing the profile adds in the impossible world. */
export const impossibleText = ({ sequence, planner }: ImpossibleWorld): string =>
  'In the impossible world every profile is neutral, and sequence, belief and prior are fitted to it. There, a sequence ' +
  `with the true belief gains ${gainText(sequence)} over the fitted sequence and belief, and the planner with inference ` +
  `gains ${gainText(planner)} over the planner with the fitted prior.`;

/** Returns "0.123 ±0.004", "0.123" without an interval, or "nothing" for identical scores. */
function gainText(gain: Interval): string {
  if (isNothing(gain)) return 'nothing';
  const { mean, high } = gain;
  const half = high === null ? '' : ` ±${decimals(high - mean)}`;
  return `${decimals(mean)}${half}`;
}

const isNothing = ({ mean, high }: Interval): boolean => mean === 0 && (high === null || high === mean);

/** Returns a note if the interval includes 0, else ''. */
function significanceNote(gain: Interval): string {
  const { low, high } = gain;
  const isInsignificant = low !== null && high !== null && low <= 0 && high >= 0 && !isNothing(gain);
  return isInsignificant ? ', not significantly different from 0' : '';
}
