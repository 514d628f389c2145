/** Formats numbers of the crowd view. */

import { decimal } from '../../../../src/figures/format-numbers.js';
import type { Interval } from '../../../../src/shared/statistics.js';

export const count = (value: number): string => value.toLocaleString('en');

/** Rounds a large number: "2.9 million". */
export function rounded(value: number): string {
  if (value < 1e6) return count(Math.round(value / 1000) * 1000);
  const [divisor, unit] = value < 1e9 ? [1e6, 'million'] : [1e9, 'billion'];
  return `${(value / divisor).toFixed(value < 10 * divisor ? 1 : 0)} ${unit}`;
}

/** Formats half of the 95 % interval: "±0.0012"; '' for a single value. */
export const halfWidth = ({ mean, high }: Interval, digits: number): string =>
  high === null ? '' : `±${decimal(high - mean, digits)}`;

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
