/** Formats numbers of the crowd view. */

import { decimal } from '../../../../src/figures/theme.js';
import type { Interval } from '../../../../src/shared/statistics.js';
import type { Crowd } from '../../engine/crowd/crowd-request.js';
import { grouped } from '../../parts/grouped.js';

/** Formats a large number roughly: "2.9 million". */
export function rounded(value: number): string {
  if (value < 1e6) return grouped(Math.round(value / 1000) * 1000);
  const [divisor, unit] = value < 1e9 ? [1e6, 'million'] : [1e9, 'billion'];
  return `${(value / divisor).toFixed(value < 10 * divisor ? 1 : 0)} ${unit}`;
}

/** Formats the half-width of the 95 % interval: "±0.0012"; '' for a single value. */
export const halfWidth = ({ mean, high }: Interval, digits: number): string =>
  high === null ? '' : `±${decimal(high - mean, digits)}`;

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** Returns the main result of a crowd, such as "open-loop beats heuristic for 98 % of people". */
export function headlineOf({ policies, pairing }: Pick<Crowd, 'policies' | 'pairing'>): string {
  const [first, second] = policies.map(({ name }) => name);
  if (pairing === null) return `${first} scores ${decimal(policies[0].score.mean, 3)} on average`;
  const { better, same } = pairing;
  const worse = 1 - better - same;
  if (same >= better && same >= worse)
    return `${first} and ${second} score the same for ${roughly(same)} people`;
  const [winner, loser, share] = better > worse ? [first, second, better] : [second, first, worse];
  return `${winner} beats ${loser} for ${roughly(share)} people`;
}

/** Formats a share as "98 % of". A share of 1 is "all"; one between 0.99 and 1 is "over 99 % of". */
const roughly = (share: number): string => {
  if (share === 1) return 'all';
  return share > 0.99 ? 'over 99 % of' : `${Math.round(100 * share)} % of`;
};
