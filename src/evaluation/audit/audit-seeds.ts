/** Seeds of an audit: training seeds for the searches, and fresh seeds for the scores. */
import { spreadSeeds } from '../../world/conditions.js';

/** The number of seeds of the searches for all profiles. More seeds do not raise the score on fresh seeds; fewer lower it. */
export const NUM_TRAINING_SEEDS = 512;
/** The number of seeds of the search for one profile. Chosen by hand: more seeds take longer. */
export const SEEDS_PER_PROFILE = 32;
/** The first fresh seed, beyond the seeds of training and of the published evaluations. */
export const FRESH_FIRST = 20000;

/** Returns the training seeds of the searches for all profiles, u32 [512]. */
export const trainingSeeds = (): Uint32Array => spreadSeeds(NUM_TRAINING_SEEDS);

/** Returns the training seeds of the searches for one profile, u32 [32]. They contain no fresh seed. */
export const profileTrainingSeeds = (): Uint32Array => spreadSeeds(SEEDS_PER_PROFILE);

/** Returns the fresh seeds, u32 [n]. */
export const freshSeeds = (episodes: number): Uint32Array =>
  Uint32Array.from({ length: episodes }, (_, i) => FRESH_FIRST + i);

/** Describes the first n fresh seeds, as "20000-20099". */
export const freshRange = (episodes: number): string => `${FRESH_FIRST}-${FRESH_FIRST + episodes - 1}`;
