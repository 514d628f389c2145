/** Splits seeds, episodes, rows, lines or the conditions of an evaluation into shards: contiguous parts of about equal size. */
import { InputError } from '../../shared/errors.js';
import type { Condition, SeedRange } from '../../world/conditions.js';

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
    throw new InputError('out_of_range', {
      expected: `at most ${total} shards, one for each of the ${total} ${units}`,
      got: String(count),
      remedy: 'Divide the job into fewer shards.',
    });
  }
  const firstOf = (shard: number): number => Math.floor((shard * total) / count);
  return { first: firstOf(index), end: firstOf(index + 1) };
}

/** Returns the seeds of a shard. @throws InputError `out_of_range` for more shards than seeds. */
export function seedsOf({ first, last }: SeedRange, shard: Shard): SeedRange {
  const part = partOf(last - first + 1, shard, 'seeds');
  return { first: first + part.first, last: first + part.end - 1 };
}

/** Consecutive seeds with the same profiles: 'sampled', 'discrete' or a profile's name. */
interface Run extends SeedRange {
  readonly profile: string;
}

/**
 * Returns the episodes of each condition that belong to a shard; conditions without such episodes are left out. If several
 * conditions contain the same episode, one shard plays it for all of them, so that no episode of a language model is paid for
 * twice.
 * @throws InputError `out_of_range` for more shards than episodes.
 */
export function shardConditions(conditions: readonly Condition[], shard: Shard): Condition[] {
  const own = runsOf(distinctRuns(conditions), shard);
  return conditions
    .map((condition) => ({ ...condition, parts: condition.parts.flatMap((part) => within(part, own)) }))
    .filter(({ parts }) => parts.length > 0);
}

/** Returns the runs of a shard: a contiguous part of all episodes. */
function runsOf(runs: readonly Run[], shard: Shard): Run[] {
  const total = runs.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const part = partOf(total, shard, 'episodes of a policy');
  let before = 0;
  return runs.flatMap((run) => {
    const start = Math.max(part.first - before, 0);
    const end = Math.min(part.end - before, run.last - run.first + 1);
    before += run.last - run.first + 1;
    return start < end ? [{ ...run, first: run.first + start, last: run.first + end - 1 }] : [];
  });
}

/** Returns all episodes of the conditions once, in the order in which they first occur. */
function distinctRuns(conditions: readonly Condition[]): Run[] {
  const runs: Run[] = [];
  for (const { parts } of conditions) {
    for (const { profile, seeds } of parts) runs.push(...without({ profile, ...seeds }, runs));
  }
  return runs;
}

/** Returns the seeds of a run that are in none of the other runs. */
function without(run: Run, others: readonly Run[]): Run[] {
  let left = [run];
  for (const other of others) {
    if (other.profile !== run.profile) continue;
    left = left.flatMap(({ profile, first, last }) =>
      [
        { profile, first, last: Math.min(last, other.first - 1) },
        { profile, first: Math.max(first, other.last + 1), last },
      ].filter((rest) => rest.first <= rest.last),
    );
  }
  return left;
}

/** Returns the seeds of a part that are in any of the runs, in the order of the seeds. */
const within = ({ profile, seeds }: Condition['parts'][number], runs: readonly Run[]): Condition['parts'] =>
  runs
    .filter((run) => run.profile === profile)
    .map((run) => ({ first: Math.max(run.first, seeds.first), last: Math.min(run.last, seeds.last) }))
    .filter(({ first, last }) => first <= last)
    .sort((a, b) => a.first - b.first)
    .map((range) => ({ profile, seeds: range }));
