/** The state in which an episode begins, at step 0 or later. */

import { NUM_METERS } from '../../world/fields.js';
import type { EnvStarts } from '../validate/starts.js';

/** The state in which an episode begins. All floats are float32 values. */
export interface EpisodeStart {
  /** Steps taken, 0 to 27. */
  readonly steps: number;
  /** f32 [5] in [0, 1]. */
  readonly meters: ArrayLike<number>;
  /** Sum of the rewards of each half without noise, sum of the rewards with noise, and crash count. */
  readonly early: number;
  readonly late: number;
  readonly return: number;
  readonly crashes: number;
}

/** Returns a start without rewards, by default at step 0. */
export const startFrom = (meters: ArrayLike<number>, steps = 0): EpisodeStart => ({
  ...{ steps, meters },
  ...{ early: 0, late: 0, return: 0, crashes: 0 },
});

/** Returns the start of environment i. */
export function startAt(start: EnvStarts, i: number): EpisodeStart {
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
