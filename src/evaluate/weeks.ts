/** Weeks that are played together. */
import type { Condition } from '../conditions.js';

/** Some seeds of one kind of person. */
export interface Weeks {
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile: string;
  /** u32 [n]. */
  readonly seeds: Uint32Array;
}

/** A condition's weeks in their order, at most `size` at a time. */
export function* chunksOf({ parts }: Condition, size: number): Generator<Weeks> {
  for (const { profile, seeds } of parts) {
    for (let first = seeds.first; first <= seeds.last; first += size) {
      const length = Math.min(size, seeds.last - first + 1);
      yield { profile, seeds: Uint32Array.from({ length }, (_, i) => first + i) };
    }
  }
}
