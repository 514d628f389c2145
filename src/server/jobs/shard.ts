/** Splits seeds, episodes, rows or lines into shards: contiguous parts whose sizes differ by at most one. */
import { InputError } from '../../shared/errors.js';
import type { SeedRange } from '../../world/conditions.js';

/** One part of a job. */
export interface Shard {
  /** 0 to count - 1. */
  readonly index: number;
  /** The number of shards, at least 1. */
  readonly count: number;
}

/** The shard that is the whole job. */
export const WHOLE: Shard = { index: 0, count: 1 };

/** Formats a shard as `--shard` takes it: "0/4". */
export const shardText = ({ index, count }: Shard): string => `${index}/${count}`;

/**
 * Returns a shard's part of `total` units: the units in [first, end).
 * @param units the noun of the units, for the error, such as "seeds".
 * @throws InputError `out_of_range` for more shards than units.
 */
export function partOf(
  total: number,
  { index, count }: Shard,
  units: string,
): { readonly first: number; readonly end: number } {
  if (count > total) {
    throw new InputError(
      'out_of_range',
      `Expected at most ${total} shards, one for each of the ${total} ${units}, got ${count}. Divide the job into fewer shards.`,
    );
  }
  const firstOf = (shard: number): number => Math.floor((shard * total) / count);
  return { first: firstOf(index), end: firstOf(index + 1) };
}

/** Returns the seeds of a shard. @throws InputError `out_of_range` for more shards than seeds. */
export function seedsOf({ first, last }: SeedRange, shard: Shard): SeedRange {
  const part = partOf(last - first + 1, shard, 'seeds');
  return { first: first + part.first, last: first + part.end - 1 };
}
