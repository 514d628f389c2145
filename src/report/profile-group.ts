/** Groups profiles: each named profile, all sampled ones, and thirds of these by each number of the belief target. */

import { beliefTarget, discreteProfileIndex, sampleProfile } from '../engine/reference/profile.js';
import { type HiddenProfile, hiddenProfileOf } from '../rollouts/trajectories/trajectory-episode.js';
import { BELIEF_NAMES, NUM_BELIEFS, PROFILE_NAMES, PROFILE_SIZE } from '../world/fields.js';
import { createWorld } from '../world/world.js';

const world = createWorld();

/** Returns an episode's hidden profile and its belief target, f32 [16] and [3]. @throws InputError `unknown_name`. */
export const hiddenProfile = (mode: string, seed: number): HiddenProfile =>
  hiddenProfileOf(world, mode, seed);

/**
 * The number of sampled profiles from which the bounds of the thirds are computed: a multiple of 3. Chosen by hand: more give
 * more accurate bounds, and take longer.
 */
const NUM_SAMPLES = 3000;
/** The seed of the first of these profiles. No default condition of an evaluation uses their seeds. */
const FIRST_SEED = 100;
const THIRDS = ['low', 'middle', 'high'] as const;

/** The group of all sampled profiles. */
export const SAMPLED_GROUP = 'sampled profiles';

/** All groups, in the order of the rows of a heat map (sections/episodes.ts). */
export const PROFILE_GROUPS: readonly string[] = [
  ...PROFILE_NAMES,
  SAMPLED_GROUP,
  ...BELIEF_NAMES.flatMap((name) => THIRDS.map((third) => groupOf(name, third))),
];

function groupOf(belief: string, third: string): string {
  return `${belief}: ${third} third`;
}

/** [3][2]: the bounds between the thirds, by BELIEF_NAMES. Computed at the first use. */
let bounds: readonly (readonly [number, number])[] | undefined;

/** Computes the bounds from sampled profiles. */
function computeBounds(): readonly (readonly [number, number])[] {
  const profile = new Float32Array(PROFILE_SIZE);
  const target = new Float32Array(NUM_BELIEFS);
  const columns = BELIEF_NAMES.map(() => new Float32Array(NUM_SAMPLES));
  for (let i = 0; i < NUM_SAMPLES; i++) {
    sampleProfile(world.params, FIRST_SEED + i, profile);
    beliefTarget(world.params, profile, target);
    for (const [k, column] of columns.entries()) column[i] = target[k];
  }
  return columns.map((column) => {
    column.sort();
    return [column[NUM_SAMPLES / 3], column[(2 * NUM_SAMPLES) / 3]] as const;
  });
}

/**
 * Returns the groups of an episode: its named profile, or all sampled profiles and a third for each belief.
 */
export function groupsOf(mode: string, seed: number, target: ArrayLike<number>): string[] {
  if (mode === 'discrete') return [PROFILE_NAMES[discreteProfileIndex(world.params, seed)]];
  if (PROFILE_NAMES.includes(mode)) return [mode];
  bounds ??= computeBounds();
  const thirds = bounds.map(([low, high], k) => {
    const third = target[k] < low ? THIRDS[0] : target[k] < high ? THIRDS[1] : THIRDS[2];
    return groupOf(BELIEF_NAMES[k], third);
  });
  return [SAMPLED_GROUP, ...thirds];
}
