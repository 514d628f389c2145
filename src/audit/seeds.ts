/** Which weeks an audit learns from, and on which it is judged. */
import { spreadSeeds } from '../search/seeds.js';

/** Starts of the search for one tape for everybody: more find tapes that score the same on fresh seeds, fewer lower ones. */
export const TRAINING_STARTS = 512;
/** Weeks of other luck that a person's own tape is found in. */
export const LUCKS = 32;
/** Fresh: beyond training's and the published evaluation's seeds. */
export const FRESH_FIRST = 20000;

/** u32 [512]: the weeks, and people, of the searches for everybody. */
export const trainingSeeds = (): Uint32Array => spreadSeeds(TRAINING_STARTS);

/** u32 [32]: the luck of the searches for one person, never that of the week which it is judged on. */
export const luckSeeds = (): Uint32Array => spreadSeeds(LUCKS);

/** u32 [n]. */
export const freshSeeds = (episodes: number): Uint32Array =>
  Uint32Array.from({ length: episodes }, (_, i) => FRESH_FIRST + i);
