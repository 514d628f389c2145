/** The time axis of an episode: days of four slots, and the two halves that the grade compares. */

import { ACTION_NAMES, NUM_SLOTS } from '../world/fields.js';
import { RHYTHM } from '../world/numbers.js';
import { SECOND_HALF } from './episode-means.js';
import { type Layer, LIGHT } from './theme.js';

/** Returns the days from the start of the episode to a step. */
export const dayOf = (step: number): number => step / NUM_SLOTS;

/** Lists actions by day: "day 1 deep_work, learn, ...; day 2 ...". @param actions codes by step. */
export function daysInWords(actions: ArrayLike<number>): string {
  const names = Array.from(actions, (action) => ACTION_NAMES[action]);
  const days = Array.from({ length: Math.ceil(names.length / NUM_SLOTS) }, (_, day) => {
    const slots = names.slice(day * NUM_SLOTS, (day + 1) * NUM_SLOTS);
    return `day ${day + 1} ${slots.join(', ')}`;
  });
  return days.join('; ');
}

/** The halves of an episode, with their start and end in days. */
export const HALVES = [
  { half: 'firstHalf', title: 'first half', from: 0, to: dayOf(SECOND_HALF) },
  { half: 'secondHalf', title: 'second half', from: dayOf(SECOND_HALF), to: RHYTHM.days },
] as const;

/** An x axis in days, with ticks at whole days. */
const DAY_AXIS = {
  values: Array.from({ length: RHYTHM.days + 1 }, (_, day) => day),
  title: 'days',
  format: 'd',
  labelFlush: false,
  grid: false,
};

const DAY_SCALE = { domain: [0, RHYTHM.days], nice: false };

/** Returns an x channel in days. */
export const inDays = (field: string) =>
  ({ field, type: 'quantitative', axis: DAY_AXIS, scale: DAY_SCALE }) as const;

/** Shades the second half. */
export const SECOND_HALF_SHADE: Layer = {
  data: { values: [HALVES[1]] },
  mark: { type: 'rect', color: LIGHT.shade, opacity: 0.8 },
  encoding: { x: inDays('from'), x2: { field: 'to' } },
};

/** Writes the names of the halves above a panel. */
export const HALF_LABELS: Layer = {
  data: { values: HALVES.map(({ title, from, to }) => ({ title, middle: (from + to) / 2 })) },
  mark: { type: 'text', y: -4, baseline: 'bottom', fontSize: 9, color: LIGHT.muted },
  encoding: { x: inDays('middle'), text: { field: 'title', type: 'nominal' } },
};
