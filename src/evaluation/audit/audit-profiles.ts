/** The profiles of an audit's episodes: sampled, discrete, or neutral in every episode. */
import type { ProfileChoice } from '../../engine/validate/profiles.js';
import { NUM_METERS, PROFILE_SIZE } from '../../world/fields.js';
import { createWorld } from '../../world/world.js';

/** The kinds of profiles for which an audit has anchors (see anchors.ts). */
export const PROFILE_KINDS = ['sampled', 'discrete'] as const;
export type ProfileKind = (typeof PROFILE_KINDS)[number];

/** With 'neutral' (the impossible world), every profile is the same, so there is nothing to infer. */
export type AuditProfiles = ProfileKind | 'neutral';

/** Returns the profile of the impossible world: the neutral traits (docs/world.md) and equal weights, f32 [16]. */
export function neutralProfile(): Float32Array {
  const profile = new Float32Array(PROFILE_SIZE).fill(1 / NUM_METERS);
  profile.set(createWorld().params.traitNeutral);
  return profile;
}

/** Returns the profiles of n environments. */
export function profileChoice(profiles: AuditProfiles, n: number): ProfileChoice {
  if (profiles !== 'neutral') return profiles;
  const rows = new Float32Array(n * PROFILE_SIZE);
  const neutral = neutralProfile();
  for (let at = 0; at < rows.length; at += PROFILE_SIZE) rows.set(neutral, at);
  return rows;
}

/** Returns the `profile` of an ActionSequenceProblem. */
export const problemProfile = (profiles: AuditProfiles): string | Float32Array =>
  profiles === 'neutral' ? neutralProfile() : profiles;
