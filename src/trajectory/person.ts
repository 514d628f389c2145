/** Who a week's person is: what trajectories keep under `hidden`. */
import { beliefTarget, discreteProfile, namedProfile, sampleProfile } from '../reference/profile.js';
import { MODE, NUM_BELIEFS, PROFILE_SIZE } from '../world/fields.js';
import { resolveProfile } from '../world/resolve.js';
import type { World } from '../world/world.js';

export interface Person {
  /** f32 [16]. */
  readonly profile: Float32Array;
  /** f32 [3]. */
  readonly target: Float32Array;
}

/** @param mode 'sampled', 'discrete' or a profile's name. @throws InputError `unknown_name`. */
export function personOf(world: World, mode: string, seed: number): Person {
  const { params } = world;
  const resolved = resolveProfile(world, mode);
  const profile = new Float32Array(PROFILE_SIZE);
  if (resolved.floats !== null) profile.set(resolved.floats);
  else if (resolved.mode === MODE.sampled) sampleProfile(params, seed, profile);
  else namedProfile(params, discreteProfile(params, seed), profile);
  const target = new Float32Array(NUM_BELIEFS);
  beliefTarget(params, profile, target);
  return { profile, target };
}
