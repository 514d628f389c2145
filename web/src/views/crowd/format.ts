/** Names and formats the results of the crowd view. */

import { decimal } from '../../../../src/figures/theme.js';
import type { Interval } from '../../../../src/shared/statistics.js';
import type { Crowd, CrowdPolicy } from '../../engine/crowd/crowd-request.js';
import { grouped } from '../../parts/grouped.js';
import { policyName } from '../../words.js';

/** A policy under its visitor's name. */
export interface NamedPolicy extends CrowdPolicy {
  /** The name in code, which has a colour. */
  readonly code: string;
}

/** A crowd as it is shown. */
export interface NamedCrowd extends Crowd {
  readonly policies: readonly NamedPolicy[];
}

export const namedCrowd = (crowd: Crowd): NamedCrowd => ({
  ...crowd,
  policies: crowd.policies.map((policy) => ({ ...policy, code: policy.name, name: policyName(policy.name) })),
});

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

/** Returns the main result of a crowd, such as "Same week for everybody beats daily rules of thumb for 98 % of people". */
export function headlineOf({ policies, pairing }: Pick<Crowd, 'policies' | 'pairing'>): string {
  const [first, second] = policies.map(({ name }) => name);
  if (pairing === null) return capital(`${first} scores ${decimal(policies[0].score.mean, 3)} on average`);
  const { better, same } = pairing;
  const worse = 1 - better - same;
  if (same >= better && same >= worse)
    return capital(`${first} and ${second} score the same for ${roughly(same)} people`);
  const [winner, loser, share] = better > worse ? [first, second, better] : [second, first, worse];
  return capital(`${winner} beats ${loser} for ${roughly(share)} people`);
}

const capital = (text: string): string => text[0].toUpperCase() + text.slice(1);

/** Formats a share as "98 % of". A share of 1 is "all"; one between 0.99 and 1 is "over 99 % of". */
const roughly = (share: number): string => {
  if (share === 1) return 'all';
  return share > 0.99 ? 'over 99 % of' : `${Math.round(100 * share)} % of`;
};
