/** The profiles and seeds of forks with imagined profiles, which replace the hidden profiles and seeds. */
import { isFloats, readOptions, wrongType } from '../../shared/values.js';
import type { Params } from '../../world/block.js';
import { MODE, PROFILE_SIZE } from '../../world/fields.js';
import { sampleProfile } from '../reference/profile.js';
import { type EnvProfiles, toProfiles } from '../validate/profiles.js';
import { toSeeds } from '../validate/seeds.js';
import type { Core } from './core.js';
import { IMAGINED_OPTIONS, type ImaginedProfiles } from './vec-env-options.js';

/** The profiles and seeds of a fork's environments. */
export interface Imagined {
  /** f32 [n, 16]. */
  readonly profiles: Float32Array;
  /** u32 [n]. */
  readonly seeds: Uint32Array;
}

/**
 * Validates the imagined profiles of a fork. @returns newly allocated arrays; null for a fork that keeps the hidden profiles.
 * @throws InputError `wrong_type`, `wrong_length`, `bad_profile`, `bad_seed`, `unknown_option`.
 */
export function toImagined(
  { world, span }: Core,
  count: number,
  choice: boolean | ImaginedProfiles | undefined,
): Imagined | null {
  if (typeof choice !== 'object' || choice === null) return null;
  const { profiles, seed } = readOptions('imagination', choice, IMAGINED_OPTIONS);
  const seeds = toSeeds(seed, count, 'imagination.seed', span);
  if (profiles === 'prior') return { profiles: priorProfiles(world.params, seeds), seeds };
  if (isFloats(profiles)) return { profiles: toProfiles(world, profiles, count).floats!, seeds };
  throw wrongType(
    'imagination.profiles',
    "'prior' or a Float32Array [indices.length, 16]",
    profiles,
    "Pass 'prior', or profiles such as inference.posteriorSamples(count).",
  );
}

/** Draws profiles like sampled profiles, but on a stream that no real episode uses. */
function priorProfiles(params: Params, seeds: Uint32Array): Float32Array {
  const profiles = new Float32Array(seeds.length * PROFILE_SIZE);
  const stream = (params.streamProfile ^ params.streamImagination) >>> 0;
  seeds.forEach((seed, i) => {
    sampleProfile(params, seed, profiles.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE), stream);
  });
  return profiles;
}

/** Returns the imagined profiles as the fork's default profiles, which later resets use. */
export const toGivenProfiles = ({ profiles }: Imagined): EnvProfiles => ({
  modes: new Uint8Array(profiles.length / PROFILE_SIZE).fill(MODE.given),
  floats: profiles,
});
