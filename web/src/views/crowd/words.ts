/** Numbers as the crowd's view says them. */
import type { Interval } from '../../../../src/evaluate/statistics.js';
import { decimal } from '../../../../src/pictures/numbers.js';

export const count = (value: number): string => value.toLocaleString('en');

/** With as many digits as are worth reading: "2.9 million". */
export function rough(value: number): string {
  if (value < 1e6) return count(Math.round(value / 1000) * 1000);
  const [divisor, unit] = value < 1e9 ? [1e6, 'million'] : [1e9, 'billion'];
  return `${(value / divisor).toFixed(value < 10 * divisor ? 1 : 0)} ${unit}`;
}

/** "±0.0012", half of the 95 % interval; nothing for a single value. */
export const spread = ({ mean, high }: Interval, digits: number): string =>
  high === null ? '' : `±${decimal(high - mean, digits)}`;

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
