/** The week as an axis: days of four slots, and the halves that the grade tells apart. */
import { ACTION_NAMES, NUM_SLOTS, NUM_STEPS } from '../world/fields.js';
import { RHYTHM } from '../world/spec.js';
import { LIGHT } from './theme.js';
import type { Layer } from './view.js';

/** The first slot of the late half: rewards before it are early, from it on late (world page, One step). */
export const LATE = NUM_STEPS / 2;

/** Days from the week's beginning to that of a step. */
export const dayOf = (step: number): number => step / NUM_SLOTS;

/** "day 1 deep_work, learn, ...; day 2 ...". @param actions codes by step. */
export function daysInWords(actions: ArrayLike<number>): string {
  const names = Array.from(actions, (action) => ACTION_NAMES[action]);
  const days = Array.from({ length: Math.ceil(names.length / NUM_SLOTS) }, (_, day) => {
    const slots = names.slice(day * NUM_SLOTS, (day + 1) * NUM_SLOTS);
    return `day ${day + 1} ${slots.join(', ')}`;
  });
  return days.join('; ');
}

/** The halves by name, and where they begin and end, in days. */
export const HALVES = [
  { half: 'early', from: 0, to: dayOf(LATE) },
  { half: 'late', from: dayOf(LATE), to: RHYTHM.days },
] as const;

/** An x axis in days, ticks at midnight. */
const DAY_AXIS = {
  values: Array.from({ length: RHYTHM.days + 1 }, (_, day) => day),
  title: 'days',
  format: 'd',
  labelFlush: false,
  grid: false,
};

const DAY_SCALE = { domain: [0, RHYTHM.days], nice: false };

/** An x channel. */
export const inDays = (field: string) =>
  ({ field, type: 'quantitative', axis: DAY_AXIS, scale: DAY_SCALE }) as const;

/** The late half, behind everything. */
export const LATE_SHADE: Layer = {
  data: { values: [HALVES[1]] },
  mark: { type: 'rect', color: LIGHT.shade, opacity: 0.8 },
  encoding: { x: inDays('from'), x2: { field: 'to' } },
};

/** The halves' names above a panel. */
export const HALF_LABELS: Layer = {
  data: { values: HALVES.map(({ half, from, to }) => ({ half, middle: (from + to) / 2 })) },
  mark: { type: 'text', y: -4, baseline: 'bottom', fontSize: 9, color: LIGHT.muted },
  encoding: { x: inDays('middle'), text: { field: 'half', type: 'nominal' } },
};
