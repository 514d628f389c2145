/** Batches of episodes that are played together. */
import type { Condition } from '../world/conditions.js';

/** Seeds with one choice of profiles. */
export interface EpisodeBatch {
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile: string;
  /** u32 [n]. */
  readonly seeds: Uint32Array;
}

/** Yields a condition's episodes in order, at most `size` at a time. */
export function* chunksOf({ parts }: Condition, size: number): Generator<EpisodeBatch> {
  for (const { profile, seeds } of parts) {
    for (let first = seeds.first; first <= seeds.last; first += size) {
      const length = Math.min(size, seeds.last - first + 1);
      yield { profile, seeds: Uint32Array.from({ length }, (_, i) => first + i) };
    }
  }
}
