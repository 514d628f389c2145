/** Formats results as text, for tables, reports and cards. */
import type { Interval } from '../shared/statistics.js';
import type { Wins } from './score-tally.js';

/** Removes the sign of a formatted zero. */
const unsignedZero = (text: string): string => (Number(text) === 0 ? text.replace('-', '') : text);

/** Formats a number with three decimals. */
export const decimals = (value: number): string => unsignedZero(value.toFixed(3));

/** Formats a mean and half the width of its interval, without padding: "0.123 ±0.004". */
export const plainInterval = ({ mean, high }: Interval): string =>
  high === null ? decimals(mean) : `${decimals(mean)} ±${decimals(high - mean)}`;

/** Formats a mean and half the width of its interval, for columns. A mean without an interval is padded. */
export function alignedInterval({ mean, high }: Interval): string {
  if (high === null) return `${decimals(mean)}       `;
  const half = high - mean;
  // With millions of episodes an interval rounds to 0 at three decimals.
  const digits = half < 0.0005 && half > 0 ? 5 : 3;
  return `${unsignedZero(mean.toFixed(digits))} ±${half.toFixed(digits)}`;
}

/** Formats a count with its noun: "1 episode", "2 episodes". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Formats names as a list: "v1, v2 and v3". */
export const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;

/** Formats a count with grouped digits: "1,234,567". */
export const grouped = (count: number): string => count.toLocaleString('en-US');

/** Formats wins, losses and ties: "12/7/1". */
export const winsText = ({ won, lost, tied }: Wins): string => `${won}/${lost}/${tied}`;
