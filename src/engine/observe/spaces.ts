/** Observation and action spaces of one environment, under Gymnasium's names. */
import { ACTION_NAMES, type Field, NUM_ACTIONS, sizeOf } from '../../world/fields.js';
import { sampleActions } from './sample-actions.js';

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
