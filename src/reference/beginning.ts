/** Where an episode begins: with the week, or later, where others may stand. */
import type { SlotStarts } from '../validate/starts.js';
import { NUM_METERS } from '../world/fields.js';

/** What has been before. All floats are float32 values. */
export interface Beginning {
  /** Steps taken, 0 to 27. */
  readonly steps: number;
  /** f32 [5] in [0, 1]. */
  readonly meters: ArrayLike<number>;
  /** Sums of rewards, of each half without luck and of those given, and the crash count. */
  readonly early: number;
  readonly late: number;
  readonly return: number;
  readonly crashes: number;
}

/** Before any reward of a week. */
export const weekFrom = (meters: ArrayLike<number>, steps = 0): Beginning => ({
  ...{ steps, meters },
  ...{ early: 0, late: 0, return: 0, crashes: 0 },
});

/** Slot i's. */
export function beginningAt(start: SlotStarts, i: number): Beginning {
  const { steps, meters, early, late, returns, crashes } = start;
  return {
    steps: steps[i],
    meters: meters.subarray(i * NUM_METERS, (i + 1) * NUM_METERS),
    early: early?.[i] ?? 0,
    late: late?.[i] ?? 0,
    return: returns?.[i] ?? 0,
    crashes: crashes?.[i] ?? 0,
  };
}
