/** The job of `rhythm-vec teach`, and the files of its shards. */
import type { Grader } from '../../engine/graders/grader.js';
import { rangeText } from '../../training/datasets/state-sampler.js';
import { createJob, type TeachJob } from '../shards/job.js';
import { type Shard, seedsOf } from '../shards/shard.js';
import type { ShardFile } from '../shards/shard-file.js';

/** Returns the job for these options. */
export const teachJob = (grader: Grader, options: TeachJob['options']): TeachJob => {
  const { policy, policy_file, model, seeds, profiles } = options;
  return createJob<TeachJob>('teach', grader, { policy, policy_file, model, seeds, profiles });
};

/** Returns the file of a job's shard. @throws InputError `out_of_range` for more shards than seeds. */
export const teachShard = (job: TeachJob, shard: Shard, path: string): ShardFile => ({
  job,
  shard,
  path,
  option: '--output',
  part: `seeds ${rangeText(seedsOf(job.options.seeds, shard))}`,
});
