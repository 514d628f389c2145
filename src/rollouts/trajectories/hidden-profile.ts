/** The hidden profile of an episode, stored under `hidden` in trajectories. */
import { Episode } from '../../engine/reference/episode.js';
import type { World } from '../../world/world.js';

export interface Person {
  /** f32 [16]. */
  readonly profile: Float32Array;
  /** f32 [3]. */
  readonly target: Float32Array;
}

/** @param mode 'sampled', 'discrete' or a profile's name. @throws InputError `unknown_name`. */
export function personOf(world: World, mode: string, seed: number): Person {
  const { profile, target } = new Episode({ world }).reset(seed, { profile: mode });
  return { profile, target };
}
