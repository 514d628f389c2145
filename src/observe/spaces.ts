/** The spaces that agents' libraries ask for: what one slot is shown, and what it may do. */
import { ACTION_NAMES, type Field, NUM_ACTIONS, sizeOf } from '../world/fields.js';

/** What one slot is shown. */
export interface ObservationSpace {
  readonly type: 'box';
  readonly dtype: 'float32';
  readonly shape: readonly [size: number];
  /** f32 [size], inclusive. */
  readonly low: Float32Array;
  readonly high: Float32Array;
}

export interface ActionSpace {
  readonly type: 'discrete';
  readonly n: number;
  /** By code. */
  readonly names: readonly string[];
}

/** The space of one slot's row of `fields`. Frozen but for its two arrays, which are newly allocated. */
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

export const ACTION_SPACE: ActionSpace = Object.freeze({
  type: 'discrete',
  n: NUM_ACTIONS,
  names: ACTION_NAMES,
});
