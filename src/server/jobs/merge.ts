/** Merges the results of a job's shards into the bytes of the whole job's file. */
import type { Job } from './job.js';

/** The file of one shard. */
export interface ShardResult {
  /** Yields the bytes of the shard's file, from the begin at every call. */
  read(): AsyncIterable<Uint8Array>;
}

/**
 * Yields the bytes of the file that the whole job writes.
 * @param results of all shards, in the order of their indices.
 */
export async function* mergeShards(_job: Job, results: readonly ShardResult[]): AsyncGenerator<Uint8Array> {
  for (const result of results) yield* result.read();
}
