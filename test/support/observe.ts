/** What a slot is shown, written the slow way: one list of numbers after the other, by the names of fields. */
import { type Reach, reachOf } from '../../src/observe/bounds.js';
import { ObservationEncoder } from '../../src/observe/encoder.js';
import type { EncodedField } from '../../src/observe/fields.js';
import { HISTORY_SIZE, type HistoryRows } from '../../src/observe/history.js';
import type { ObservationOptions } from '../../src/observe/options.js';
import { RECORD_SIZE } from '../../src/observe/record.js';
import { OBSERVATION_FIELDS } from '../../src/world/fields.js';
import type { World } from '../../src/world/world.js';
import type { Random } from './random.js';

const NAMES = OBSERVATION_FIELDS.map((field) => field.name);
const CODES: Record<string, number[]> = {
  day: [0, 1, 2, 3, 4, 5, 6, 7],
  slot: [0, 1, 2, 3],
  event: [-1, 0, 1, 2, 3, 4],
  last_action: [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
};
const BOUNDS: Record<string, [number, number]> = {
  step: [0, 28],
  day: [0, 7],
  slot: [0, 3],
  remaining: [0, 28],
  meters: [0, 1],
  event: [-1, 4],
  last_action: [-1, 9],
  deltas: [-1, 1],
};

/** The table of what is shown. */
export const encodedFields = (world: World, options: ObservationOptions = {}): readonly EncodedField[] =>
  new ObservationEncoder(world, options, 1).fields;

/** f32 [7, 12], newly allocated: a slot's steps, the oldest first; action -1 and zeros where there was none. */
export function readHistory({ rings, oldest }: HistoryRows, slot: number): Float32Array {
  const rows = new Float32Array(HISTORY_SIZE);
  const ring = rings.subarray(slot * HISTORY_SIZE, (slot + 1) * HISTORY_SIZE);
  const cut = oldest[slot] * RECORD_SIZE;
  rows.set(ring.subarray(cut));
  rows.set(ring.subarray(0, cut), HISTORY_SIZE - cut);
  return rows;
}

const reaches = new WeakMap<World, Reach>();
function boundsOf(world: World, name: string): [number, number] {
  if (name !== 'reward' && name !== 'anomalies') return BOUNDS[name];
  if (!reaches.has(world)) reaches.set(world, reachOf(world.params));
  const reach = reaches.get(world)![name];
  return [-reach, reach];
}

function encoded(
  world: World,
  options: ObservationOptions,
  name: string,
  values: readonly number[],
): number[] {
  if (options.oneHot && name in CODES) return CODES[name].map((code) => Number(code === values[0]));
  if (!options.scale) return [...values];
  const [low, high] = boundsOf(world, name);
  return values.map((value) => Math.min(1, Math.max(0, (value - low) * (1 / (high - low)))));
}

/**
 * What one slot is shown. @param row [22], raw. @param history [7, 12], the oldest first, if the options want one.
 */
export function shownOf(
  world: World,
  options: ObservationOptions,
  row: ArrayLike<number>,
  history: ArrayLike<number> | null,
): number[] {
  const now = (options.fields ?? NAMES).flatMap((name) => {
    const { offset, size } = OBSERVATION_FIELDS.find((field) => field.name === name)!;
    return encoded(world, options, name, Array.from(row).slice(offset, offset + size));
  });
  if (!options.history) return now;
  const steps = [0, 1, 2, 3, 4, 5, 6].map((step) => Array.from(history!).slice(step * 12, step * 12 + 12));
  const past = (name: string, from: number, to: number) =>
    steps.flatMap((step) => encoded(world, options, name, step.slice(from, to)));
  return [
    ...now,
    ...past('last_action', 0, 1),
    ...past('reward', 1, 2),
    ...past('deltas', 2, 7),
    ...past('anomalies', 7, 12),
  ];
}

/** Any options. */
export function drawOptions(random: Random): ObservationOptions {
  const order = [...random.permutation(NAMES.length)].map((k) => NAMES[k]);
  return {
    fields: random.chance(0.3) ? undefined : order.slice(0, random.integer(1, NAMES.length)),
    oneHot: random.chance(0.5),
    scale: random.chance(0.5),
    history: random.chance(0.5),
  };
}
