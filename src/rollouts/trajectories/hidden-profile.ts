/** The hidden profile of an episode, stored under `hidden` in trajectories. */
import { Episode } from '../../engine/reference/episode.js';
import type { World } from '../../world/world.js';

/** A profile and its belief target. */
export interface HiddenProfile {
  /** f32 [16]. */
  readonly profile: Float32Array;
  /** f32 [3]. */
  readonly target: Float32Array;
}

/**
 * Returns the hidden profile of an episode. @param mode 'sampled', 'discrete' or a profile's name.
 * @throws InputError `unknown_name`.
 */
export function hiddenProfileOf(world: World, mode: string, seed: number): HiddenProfile {
  const { profile, target } = new Episode({ world }).reset(seed, { profile: mode });
  return { profile, target };
}
