/**
 * The sizes of shards, by kind of job. They are chosen by hand: smaller shards add requests to Redis, larger ones repeat
 * more work after a failure.
 */
import type { JobKind } from '../../server/jobs/job.js';

export interface ShardSizes {
  /** The noun for the parts of a shard. */
  readonly unit: string;
  /** The minimum, maximum and default of --shard-size. */
  readonly least: number;
  readonly most: number;
  readonly defaultSize: number;
}

const EPISODES: ShardSizes = { unit: 'episodes', least: 8, most: 64, defaultSize: 32 };

export const SHARD_SIZES = {
  teach: EPISODES,
  eval: EPISODES,
  /** The maximum is 50 MB of text. */
  dataset: { unit: 'rows', least: 8, most: 16384, defaultSize: 2048 },
  /**
   * A piece is a search or a recording of episodes (audit-options.ts). Each shard repeats two searches (audit-shards.ts): a
   * fifth of an audit's work with the default options.
   */
  audit: { unit: 'pieces', least: 1, most: 256, defaultSize: 32 },
} as const satisfies Readonly<Record<JobKind, ShardSizes>>;
