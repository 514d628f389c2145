/** Runs `rhythm-vec teach` with a policy of this package or a file, and writes JSON lines. */

import type { Grader } from '../../engine/graders/grader.js';
import { counted } from '../../evaluation/format-results.js';
import type { UserPolicy } from '../../evaluation/user-policy.js';
import { episodeLine } from '../../rollouts/trajectories/trajectory-lines.js';
import { teach } from '../../training/teaching/policy-teacher.js';
import type { SeedRange } from '../../world/conditions.js';
import { fileDigest } from '../files/input-file.js';
import { openOutput } from '../files/output-file.js';
import { createProgress } from '../progress.js';
import { type Shard, seedsOf, WHOLE } from '../shards/shard.js';
import { beginShard, endShard } from '../shards/shard-file.js';
import type { EngineOptions } from '../shared-options.js';
import { teachJob, teachShard } from './teach-job.js';

export interface PolicyTeachOptions extends EngineOptions {
  readonly policy: string | UserPolicy;
  /** The path of the policy's file; null for a policy of this package. */
  readonly policyPath: string | null;
  readonly seeds: SeedRange;
  readonly profiles: string;
  readonly output: string;
  readonly shard?: Shard;
}

/**
 * Plays episodes with a policy and writes them. Does nothing if the file of the shard is complete.
 * @throws InputError for an unknown policy or profile name; UsageError for the file of another shard; the signal's reason.
 */
export async function teachLines(
  options: PolicyTeachOptions,
  grader: Grader,
  signal: AbortSignal,
): Promise<void> {
  const { policy, policyPath, seeds, profiles, shard, output: path, backend, kernel, threads } = options;
  const job = teachJob(grader, {
    policy: typeof policy === 'string' ? policy : policy.name,
    model: null,
    seeds,
    profiles,
    policy_file: policyPath === null ? null : fileDigest(policyPath),
  });
  const file = teachShard(job, shard ?? WHOLE, path);
  const isComplete = shard !== undefined && (await beginShard(file));
  if (isComplete) return;
  const output = await openOutput(path);
  const progress = createProgress('steps');
  const engine = { backend, kernel, threads };
  const work = { ...engine, policy, grader, profiles, seeds: seedsOf(seeds, file.shard), signal };
  let episodes = 0;
  try {
    for await (const batch of teach({ ...work, onProgress: progress.update })) {
      await output.write(batch.map(episodeLine).join(''));
      episodes += batch.length;
    }
    signal.throwIfAborted();
    await output.commit();
  } finally {
    progress.stop();
    await output.discard();
  }
  if (shard !== undefined) await endShard(file);
  if (path === '-') return;
  process.stderr.write(`${counted(episodes, 'episode')} in ${path}.\n`);
}
