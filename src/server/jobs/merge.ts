/** Merges the files of the shards of a job of `teach` or `dataset grpo`. */
import { InputError } from '../../shared/errors.js';
import type { Job } from './job.js';

/** The file of one shard. */
export interface ShardFile {
  /** Yields the bytes of the shard's file, from the beginning at every call. */
  read(): AsyncIterable<Uint8Array>;
}

/**
 * Yields the bytes of the file that the whole job writes; for a job of `dataset grpo`, its rows as JSON lines.
 * @param files of all shards, in the order of their indices.
 * @throws InputError `wrong_type` for jobs of `eval` and `audit`, which `mergeEvaluation` and `mergeAudit` merge, and of
 *   `dataset sft` and `dataset dpo`.
 */
export async function* mergeShards(job: Job, files: readonly ShardFile[]): AsyncGenerator<Uint8Array> {
  if (job.kind === 'eval' || job.kind === 'audit' || job.kind === 'selection') {
    const command = job.kind === 'selection' ? `dataset ${job.options.plan.dataset}` : job.kind;
    throw new InputError(
      'wrong_type',
      `Expected a job of teach or dataset grpo, whose file is its shards' files one after the other, got one of ${command}. ` +
        'Use mergeEvaluation, mergeAudit or rhythm-vec merge.',
    );
  }
  for (const file of files) yield* file.read();
}
