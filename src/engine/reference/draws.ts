/** The random draws of a step, which depend only on seed, stream and step (docs/world.md, Randomness). */
import type { Params } from '../../world/block.js';
import { type Draw, threefry } from './threefry.js';

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
