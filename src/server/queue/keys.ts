/** The names of a queue's keys in Redis. */

/** The name of BullMQ's queue. Its keys begin with `PREFIX:shards:`. */
export const SHARDS = 'shards';

/** The keys of one job. */
export interface JobKeys {
  /** Hash: the job, its state and its counters. */
  readonly job: string;
  /** Hash by shard: SHA-256 and compressed result, until the result is collected. */
  readonly results: string;
  /** Hash by shard: the SHA-256 of each result, also of collected results. */
  readonly digests: string;
  /** Hash by shard: the machine that gave other bytes when it computed the shard again. */
  readonly differences: string;
  /** Hash: the budget and the costs of a language model. ledger-scripts.ts lists the fields. */
  readonly ledger: string;
  /** Text that expires. While it exists, no worker sends a request to the language model. */
  readonly pause: string;
  /** Sorted set: the requests that count for the rate limit, by the time after which they no longer count. */
  readonly places: string;
  /** List: when the latest shards finished, in milliseconds, the latest first. */
  readonly finished: string;
  /** Text that expires: the claim of the running collector, as "ID PROCESS FILE", fields of `Claim` (collector-claim.ts). */
  readonly collector: string;
  /** Set: the failed attempts that are already counted, so that none is counted twice. */
  readonly failures: string;
}

/** Returns the keys of a job. */
export const jobKeys = (prefix: string, name: string): JobKeys => {
  const keyOf = (what: string): string => `${prefix}:${what}:${name}`;
  return {
    job: keyOf('job'),
    results: keyOf('results'),
    digests: keyOf('digests'),
    differences: keyOf('differences'),
    ledger: keyOf('ledger'),
    pause: keyOf('pause'),
    places: keyOf('rate'),
    finished: keyOf('finished'),
    collector: keyOf('collector'),
    failures: keyOf('failures'),
  };
};

/** Hash: the version and world of a queue. */
export const metaKey = (prefix: string): string => `${prefix}:queue`;
/** Set: the names of the jobs that are neither collected nor cancelled. */
export const openKey = (prefix: string): string => `${prefix}:open`;
/** Sorted set: the names of all known jobs, by the time of submission. */
export const namesKey = (prefix: string): string => `${prefix}:jobs`;

/** A shard as BullMQ stores it. */
export interface ShardData {
  /** The job's name. */
  readonly job: string;
  /** The random name of the job's submission. A shard of an earlier submission is not computed. */
  readonly submission: string;
  readonly index: number;
}

/** Returns BullMQ's id of a shard. */
export const shardId = ({ job, submission, index }: ShardData): string => `${job}-${submission}-${index}`;
/** Hash by episode: the finished episodes of a language model, until their shard is finished. */
export const episodesKey = (prefix: string, { job, submission, index }: ShardData): string =>
  `${prefix}:episodes:${job}:${submission}:${index}`;
/** Returns BullMQ's key of a shard's lock. */
export const lockKey = (prefix: string, shard: ShardData): string =>
  `${prefix}:${SHARDS}:${shardId(shard)}:lock`;
