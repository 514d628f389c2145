/** Figures of results as text, in tables, reports and cards. */
import type { Interval } from './statistics.js';
import type { Wins } from './tally.js';

/** What rounds to nothing has no sign. */
const unsigned = (text: string): string => (Number(text) === 0 ? text.replace('-', '') : text);

export const decimals = (value: number): string => unsigned(value.toFixed(3));

/** A mean with half its interval, as sentences and pages have it. */
export const intervalInText = ({ mean, high }: Interval): string =>
  high === null ? decimals(mean) : `${decimals(mean)} ±${decimals(high - mean)}`;

/** The same in a column; one without an interval is as wide, so that means stand below each other. */
export function intervalText({ mean, high }: Interval): string {
  if (high === null) return `${decimals(mean)}       `;
  const half = high - mean;
  // Millions of episodes know the mean better than three decimals can say.
  const digits = half < 0.0005 && half > 0 ? 5 : 3;
  return `${unsigned(mean.toFixed(digits))} ±${half.toFixed(digits)}`;
}

/** "1 episode", "2 episodes". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** "1,234,567". */
export const grouped = (count: number): string => count.toLocaleString('en-US');

export const winsText = ({ won, lost, tied }: Wins): string => `${won}/${lost}/${tied}`;
