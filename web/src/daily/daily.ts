/** The days of the daily episode. */

/** The grader of daily episodes. */
export const DAILY_GRADER = 'v3';

const PATTERN = /^\d{4}-\d{2}-\d{2}$/;

/** Returns the current day in UTC, the same for everybody: "2026-11-24". */
export const today = (): string => new Date().toISOString().slice(0, 10);

/** Returns whether a text is a day whose episode can be played: 2000-01-01 to today. */
export function isPlayableDay(text: string): boolean {
  if (!PATTERN.test(text) || text < '2000-01-01' || text > today()) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Returns the seed of a day: its digits, such as 20261124. */
export const seedOfDay = (day: string): number => Number(day.replaceAll('-', ''));
