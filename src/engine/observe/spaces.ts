/** Observation and action spaces of one environment, under Gymnasium's names, and random actions. */

import { checkInteger } from '../../shared/values.js';
import { ACTION_NAMES, type Field, MAX_ENVS, MAX_U32, NUM_ACTIONS, sizeOf } from '../../world/fields.js';
import { below, type Draw, threefry } from '../reference/threefry.js';

/** The space of one environment's observations. */
export interface ObservationSpace {
  /** Gymnasium's Box. */
  readonly type: 'box';
  /** Always float32. */
  readonly dtype: 'float32';
  /** The size of an observation. */
  readonly shape: readonly [size: number];
  /** f32 [size]: lower bounds, inclusive. */
  readonly low: Float32Array;
  /** f32 [size]: upper bounds, inclusive. */
  readonly high: Float32Array;
}

/** The space of actions. */
export interface ActionSpace {
  /** Gymnasium's Discrete. */
  readonly type: 'discrete';
  /** The number of codes, which begin at 0: 10. */
  readonly n: number;
  /** Names by code. */
  readonly names: readonly string[];
  /**
   * Draws uniform random actions from a u32 seed. Without `n`, returns one code; with `n`, an array of codes, u8 [n],
   * newly allocated. Element i depends on the seed and i alone; element 0 equals the code without `n`. Pass another seed at
   * every step.
   * @throws InputError `wrong_type` or `out_of_range`.
   */
  readonly sample: typeof sampleActions;
}

/** Returns the space of observations with these fields. Frozen except for its two arrays, which are newly allocated. */
export function observationSpace(fields: readonly Field[]): ObservationSpace {
  const size = sizeOf(fields);
  const low = new Float32Array(size);
  const high = new Float32Array(size);
  for (const field of fields) {
    low.fill(field.low, field.offset, field.offset + field.size);
    high.fill(field.high, field.offset, field.offset + field.size);
  }
  return Object.freeze({ type: 'box', dtype: 'float32', shape: Object.freeze([size] as const), low, high });
}

/** The action space of every environment. */
export const ACTION_SPACE: ActionSpace = Object.freeze({
  type: 'discrete',
  n: NUM_ACTIONS,
  names: ACTION_NAMES,
  sample: sampleActions,
});

/** The second word of Threefry's key, "ACTS" in ASCII; the first is a seed. */
const STREAM = 0x41435453;
const draw: Draw = { x0: 0, x1: 0 };

/** Returns the action of a seed at an index. */
const actionAt = (seed: number, i: number): number =>
  below(threefry(seed, STREAM, i, 0, draw).x0, NUM_ACTIONS);

/** Returns one random action, a code. @param seed u32. @throws InputError `wrong_type` or `out_of_range`. */
function sampleActions(seed: number): number;
/** Returns random actions, u8 [n], newly allocated. Action i depends on the seed and i alone. @param n 0 to 2^24. */
function sampleActions(seed: number, n: number): Uint8Array<ArrayBuffer>;
function sampleActions(seed: number, n?: number): number | Uint8Array<ArrayBuffer> {
  checkInteger('seed', seed, 0, MAX_U32);
  if (n === undefined) return actionAt(seed, 0);
  return new Uint8Array(checkInteger('n', n, 0, MAX_ENVS)).map((_, i) => actionAt(seed, i));
}
