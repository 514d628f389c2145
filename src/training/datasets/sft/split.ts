/** Splits seeds into training and validation. */
import { type Draw, threefry } from '../../../engine/reference/threefry.js';
import type { SftPlan } from './sft-options.js';

export const SPLITS = ['train', 'validation'] as const;
export type Split = (typeof SPLITS)[number];

/** The second word of the Threefry key of its draws: "SPLT" in ASCII. No stream of the published world has this number. */
const STREAM = 0x53504c54;
const draw: Draw = { x0: 0, x1: 0 };

/**
 * Returns the split of all rows of a seed. The split does not depend on the teacher or on other episodes, so a row keeps its
 * split when the dataset grows.
 */
export const splitOf = (
  { validation, splitSeed }: Pick<SftPlan, 'validation' | 'splitSeed'>,
  seed: number,
): Split => (threefry(splitSeed, STREAM, seed, 0, draw).x0 < validation * 2 ** 32 ? 'validation' : 'train');
