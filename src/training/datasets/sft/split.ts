/** Which seeds are for training and which for validation. */
import { type Draw, threefry } from '../../../engine/reference/threefry.js';
import type { SftPlan } from './sft-options.js';

export const SPLITS = ['train', 'validation'] as const;
export type Split = (typeof SPLITS)[number];

/** The second word of the key, which no stream of the published world has. */
const STREAM = 0x53504c54;
const draw: Draw = { x0: 0, x1: 0 };

/**
 * Where all rows of a seed go, whoever plays it and whatever else is in the files: the side of a seed is drawn from it
 * alone, so that a longer dataset keeps it.
 */
export const splitOf = ({ validation, splitSeed }: SftPlan, seed: number): Split =>
  threefry(splitSeed, STREAM, seed, 0, draw).x0 < validation * 2 ** 32 ? 'validation' : 'train';
