/** A simple encoder of observations, which tests compare with the fast encoder of src. */
import { largestMagnitudes, type Magnitudes } from '../../src/engine/observe/bounds.js';
import {
  type EncodedField,
  ObservationEncoder,
  type ObservationOptions,
} from '../../src/engine/observe/encoding.js';
import { HISTORY_SIZE, type HistoryRows } from '../../src/engine/observe/history.js';
import { OBSERVATION_FIELDS } from '../../src/world/fields.js';
import type { World } from '../../src/world/world.js';
import type { Random } from './random.js';

const NAMES = OBSERVATION_FIELDS.map((field) => field.name);
/** The codes of the fields that can be one-hot. */
const CODES: Record<string, number[]> = {
  day: [0, 1, 2, 3, 4, 5, 6, 7],
  slot: [0, 1, 2, 3],
  event: [-1, 0, 1, 2, 3, 4],
  last_action: [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
};
/** The lowest and the highest value of each field except reward and anomalies, whose bounds depend on the world. */
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

/** Returns the table of encoded fields. */
export const encodedFields = (world: World, options: ObservationOptions = {}): readonly EncodedField[] =>
  new ObservationEncoder(world, options, 1).fields;

/** Returns the last steps of an environment, f32 [7, 12], the oldest first; missing steps have action -1 and zeros. */
export function readHistory({ rows }: HistoryRows, envIndex: number): Float32Array {
  const row = [...rows.subarray(envIndex * HISTORY_SIZE, (envIndex + 1) * HISTORY_SIZE)];
  const steps = [0, 1, 2, 3, 4, 5, 6].map((t) => [
    ...[row[t], row[7 + t]],
    ...[...row.slice(14 + 5 * t, 19 + 5 * t), ...row.slice(49 + 5 * t, 54 + 5 * t)],
  ]);
  return Float32Array.from(steps.flat());
}

const magnitudes = new WeakMap<World, Magnitudes>();
/** Returns the lowest and the highest value of a field. */
function boundsOf(world: World, name: string): [number, number] {
  if (name !== 'reward' && name !== 'anomalies') return BOUNDS[name];
  if (!magnitudes.has(world)) magnitudes.set(world, largestMagnitudes(world.params));
  const magnitude = magnitudes.get(world)![name];
  return [-magnitude, magnitude];
}

/** Encodes the raw values of a field: its numbers, scaled if `scale` is set, or its one-hot code. */
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

/** Encodes one row. @param row [22], raw. @param history [7, 12], the oldest first; null without the history option. */
export function encodeNaively(
  world: World,
  options: ObservationOptions,
  row: ArrayLike<number>,
  history: ArrayLike<number> | null,
): number[] {
  const current = (options.fields ?? NAMES).flatMap((name) => {
    const { offset, size } = OBSERVATION_FIELDS.find((field) => field.name === name)!;
    return encoded(world, options, name, Array.from(row).slice(offset, offset + size));
  });
  if (!options.history) return current;
  const steps = [0, 1, 2, 3, 4, 5, 6].map((step) => Array.from(history!).slice(step * 12, step * 12 + 12));
  const past = (name: string, from: number, to: number) =>
    steps.flatMap((step) => encoded(world, options, name, step.slice(from, to)));
  return [
    ...current,
    ...past('last_action', 0, 1),
    ...past('reward', 1, 2),
    ...past('deltas', 2, 7),
    ...past('anomalies', 7, 12),
  ];
}

/** Draws observation options. */
export function randomObservationOptions(random: Random): ObservationOptions {
  const order = [...random.permutation(NAMES.length)].map((k) => NAMES[k]);
  return {
    fields: random.chance(0.3) ? undefined : order.slice(0, random.integer(1, NAMES.length)),
    oneHot: random.chance(0.5),
    scale: random.chance(0.5),
    history: random.chance(0.5),
  };
}
