/** Writes a shard of `rhythm-vec dataset grpo`: a part of the rows, without the card. */
import { counted } from '../../evaluation/format-results.js';
import { LINES } from '../../shared/row-files/file-formats.js';
import { grpoRowsAsync } from '../../training/datasets/grpo/grpo-rows.js';
import type { DatasetPlan } from '../../training/datasets/state-sampler.js';
import { checkOutput, formatOf } from '../files/check-outputs.js';
import { openOutput } from '../files/output-file.js';
import { createProgress } from '../progress.js';
import { createJob, type DatasetJob } from '../shards/job.js';
import { partOf, type Shard, shardText } from '../shards/shard.js';
import { beginShard, checkShardFormat, checkShardOutput, endShard } from '../shards/shard-file.js';
import type { EngineOptions } from '../shared-options.js';

interface GrpoShardOptions extends EngineOptions {
  readonly format?: string;
  readonly grader: string;
  readonly output: string;
  readonly shard: Shard;
}

/** Writes the rows of a shard as JSON lines, unless the shard is complete. */
export async function runGrpoShard(
  plan: DatasetPlan,
  options: GrpoShardOptions,
  signal: AbortSignal,
): Promise<void> {
  const { output: path, format, shard, backend, kernel, threads } = options;
  checkShardOutput('--output', path);
  checkShardFormat('--output', formatOf('--output', path, format) ?? LINES);
  checkOutput('--output', path);
  const job = grpoJob(plan, options.grader);
  const { first, end } = partOf(plan.rows, shard, 'rows');
  const file = { job, shard, path, part: `rows ${first}-${end - 1}`, option: '--output' };
  const isComplete = await beginShard(file);
  if (isComplete) return;
  const progress = createProgress('rows');
  const output = await openOutput(path);
  let done = 0;
  try {
    for await (const rows of grpoRowsAsync(plan, { backend, kernel, threads }, undefined, { first, end })) {
      signal.throwIfAborted();
      await output.write(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      done += rows.length;
      progress.update(done, end - first);
    }
    signal.throwIfAborted();
    await output.commit();
  } finally {
    progress.stop();
    await output.discard();
  }
  await endShard(file);
  process.stderr.write(`Shard ${shardText(shard)}: ${counted(end - first, 'row')} in ${path}.\n`);
}

/** Returns the job of a plan. @param grader the value of --grader without its folder, for the card. */
const grpoJob = (plan: DatasetPlan, grader: string): DatasetJob =>
  createJob<DatasetJob>('dataset', plan.grader, {
    dataset: 'grpo',
    rows: plan.rows,
    seeds: plan.seeds,
    profiles: plan.profiles,
    steps: plan.steps,
    seed: plan.seed,
    allow_eval_seeds: plan.allowEvalSeeds,
    grader,
  });

/** Returns the plan of a job. */
export function planOf({ grader, options }: DatasetJob): DatasetPlan {
  const { rows, seeds, profiles, steps, seed, allow_eval_seeds: allowEvalSeeds } = options;
  return { rows, seeds, profiles, steps, seed, grader, allowEvalSeeds };
}
