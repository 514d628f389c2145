/**
 * Threefry2x32-20, a counter-based random generator: the world's only one. A draw depends on key and counter alone.
 *
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
 */

import type { Params } from '../../world/block.js';

/** The generator's constant, from which the third word of the key is derived. */
const PARITY = 0x1bd11bda;

/** Two 32-bit words. */
export interface Draw {
  x0: number;
  x1: number;
}

const rotateLeft = (x: number, bits: number): number => (x << bits) | (x >>> (32 - bits));

/** Applies a group of four rounds with rotations r0 to r3. Then adds key words `a` and `b` and the group's number. */
function mix(
  d: Int32Array,
  r0: number,
  r1: number,
  r2: number,
  r3: number,
  a: number,
  b: number,
  group: number,
): void {
  let x0 = d[0];
  let x1 = d[1];
  x0 = (x0 + x1) | 0;
  x1 = rotateLeft(x1, r0) ^ x0;
  x0 = (x0 + x1) | 0;
  x1 = rotateLeft(x1, r1) ^ x0;
  x0 = (x0 + x1) | 0;
  x1 = rotateLeft(x1, r2) ^ x0;
  x0 = (x0 + x1) | 0;
  x1 = rotateLeft(x1, r3) ^ x0;
  d[0] = x0 + a;
  d[1] = x1 + b + group;
}

const state = new Int32Array(2);

/** Fills `out` with the two u32 words for key (k0, k1) and counter (c0, c1), all u32. @returns `out`. */
export function threefry(k0: number, k1: number, c0: number, c1: number, out: Draw): Draw {
  const k2 = k0 ^ k1 ^ PARITY;
  state[0] = c0 + k0;
  state[1] = c1 + k1;
  mix(state, 13, 15, 26, 6, k1, k2, 1);
  mix(state, 17, 29, 16, 24, k2, k0, 2);
  mix(state, 13, 15, 26, 6, k0, k1, 3);
  mix(state, 17, 29, 16, 24, k1, k2, 4);
  mix(state, 13, 15, 26, 6, k2, k0, 5);
  out.x0 = state[0] >>> 0;
  out.x1 = state[1] >>> 0;
  return out;
}

/** Converts a u32 to a float32 in [0, 1), without rounding. */
export const unit = (x: number): number => (x >>> 8) * 2 ** -24;

/** Converts a u32 to an integer in [0, n). @param n less than 65536. */
export const below = (x: number, n: number): number => Math.imul(x >>> 16, n) >>> 16;

/** The draws of one step. */
export interface Draws {
  readonly noise: Draw;
  readonly event: Draw;
}

/** The streams of an episode's draws, u32 each. */
export interface Streams {
  readonly noise: number;
  readonly event: number;
}

/** Returns the streams of real episodes, or the imagination streams. */
export function streamsOf(params: Params, imagination: boolean): Streams {
  const mask = imagination ? params.streamImagination : 0;
  return { noise: (params.streamNoise ^ mask) >>> 0, event: (params.streamEvent ^ mask) >>> 0 };
}

/** Returns draws for `drawsOf` to fill. */
export const newDraws = (): Draws => ({ noise: { x0: 0, x1: 0 }, event: { x0: 0, x1: 0 } });

/** Computes the draws of step `t`. @param out is overwritten. @returns `out`. */
export function drawsOf(streams: Streams, seed: number, t: number, out: Draws): Draws {
  threefry(seed, streams.noise, t, 0, out.noise);
  threefry(seed, streams.event, t, 0, out.event);
  return out;
}
