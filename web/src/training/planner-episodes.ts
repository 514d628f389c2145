/** The format of the planner's stored episodes, from which students learn. scripts/planner-episodes.ts writes the files. */
import type { Played } from '../../../src/training/student/episodes.js';
import { NUM_STEPS } from '../../../src/world/fields.js';

/** The first seed of the episodes, and their number. Chosen by hand: more episodes teach more and take longer. */
export const EPISODES = { first: 100, count: 3000 };

/** Returns the bytes of a file: two actions per byte, the first one in the low half. @param actions u8 [n, 28]. */
export const pack = (actions: Uint8Array): Uint8Array =>
  Uint8Array.from({ length: actions.length / 2 }, (_, k) => actions[2 * k] | (actions[2 * k + 1] << 4));

/** Returns the first `count` episodes of a file. */
export function unpack(file: Uint8Array, count: number): Played {
  const actions = Uint8Array.from(
    { length: count * NUM_STEPS },
    (_, k) => (file[k >> 1] >> (4 * (k & 1))) & 15,
  );
  return { seeds: Uint32Array.from({ length: count }, (_, i) => EPISODES.first + i), actions };
}
