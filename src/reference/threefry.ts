/**
 * Threefry2x32-20: the only source of randomness. A draw is a function of (key, counter) and nothing else.
 *
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
 */

const PARITY = 0x1bd11bda;
const ROTATIONS = [
  [13, 15, 26, 6],
  [17, 29, 16, 24],
] as const;

/** Two 32-bit words. */
export interface Draw {
  x0: number;
  x1: number;
}

const rotateLeft = (x: number, bits: number): number => (x << bits) | (x >>> (32 - bits));

/** Fills `out` with the two u32 words for key (k0, k1) and counter (c0, c1), all u32. @returns `out`. */
export function threefry(k0: number, k1: number, c0: number, c1: number, out: Draw): Draw {
  const keys = [k0 | 0, k1 | 0, k0 ^ k1 ^ PARITY];
  let x0 = (c0 + keys[0]) | 0;
  let x1 = (c1 + keys[1]) | 0;
  for (let group = 1; group <= 5; group++) {
    const rotations = ROTATIONS[(group - 1) & 1];
    for (let round = 0; round < 4; round++) {
      x0 = (x0 + x1) | 0;
      x1 = rotateLeft(x1, rotations[round]) ^ x0;
    }
    x0 = (x0 + keys[group % 3]) | 0;
    x1 = (x1 + keys[(group + 1) % 3] + group) | 0;
  }
  out.x0 = x0 >>> 0;
  out.x1 = x1 >>> 0;
  return out;
}

/** A u32 as an exact float32 in [0, 1). */
export const unit = (x: number): number => (x >>> 8) * 2 ** -24;

/** A u32 as an integer in [0, n), n < 65536. */
export const below = (x: number, n: number): number => Math.imul(x >>> 16, n) >>> 16;
