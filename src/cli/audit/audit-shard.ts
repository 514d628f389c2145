/** Computes a shard of `rhythm-vec audit`: one of the parts that several processes compute and `merge` joins. */

import type { Grader } from '../../engine/graders/grader.js';
import type { PolicyLike } from '../../engine/policy/policy.js';
import { toAuditRequest } from '../../evaluation/audit/audit-options.js';
import { counted } from '../../evaluation/format-results.js';
import { type AuditJob, createJob } from '../../server/jobs/job.js';
import { runShard } from '../../server/jobs/run.js';
import { type Shard, shardText } from '../../server/jobs/shard.js';
import { UsageError } from '../command-errors.js';
import { fileDigest } from '../files/input-file.js';
import { openOutput } from '../files/output-file.js';
import { isPolicyFile, pathOfPolicy } from '../files/policy-file.js';
import { createProgress } from '../progress.js';
import { beginShard, checkShardOutput, endShard } from '../shards/shard-file.js';
import type { EngineOptions } from '../shared-options.js';

/** The options of an audit that determine its job. */
export interface AuditJobOptions {
  readonly grader: Grader;
  readonly seed?: number;
  readonly evaluations?: number;
  readonly episodes?: number;
  readonly profiles?: number;
  readonly plannerEpisodes?: number;
  /** The values of --policies. */
  readonly paths?: readonly string[];
  /** The policies of --policies by name, in the same order. */
  readonly policies: Readonly<Record<string, PolicyLike>>;
}

interface AuditShardOptions extends AuditJobOptions, EngineOptions {
  readonly shard: Shard;
  /** The value of --json. */
  readonly path: string;
}

/** Checks the output options: a shard writes its pieces (searches and recordings of episodes) to the file of --json alone. */
export function checkAuditShard({
  json,
  output,
  assert,
}: {
  readonly json?: string;
  readonly output?: string;
  readonly assert?: boolean;
}): void {
  for (const [flag, value] of Object.entries({ '--output': output, '--assert': assert })) {
    if (value === undefined) continue;
    throw new UsageError(
      `Expected no ${flag} with --shard, got one. Leave it out, merge the shards, and read the merged result.`,
    );
  }
  if (json === undefined)
    throw new UsageError('Expected --json with --shard, got none. Name the file of the shard.');
  checkShardOutput('--json', json);
}

/** Computes a shard and writes its pieces, unless its file is complete already. */
export async function runAuditShard(options: AuditShardOptions, signal: AbortSignal): Promise<void> {
  const { shard, path, policies, backend, kernel, threads } = options;
  const job = auditJob(options);
  const file = { job, shard, path, part: 'pieces of the audit', option: '--json' };
  const isComplete = await beginShard(file);
  if (isComplete) return;
  const progress = createProgress('episodes');
  const context = { engine: { backend, kernel, threads }, signal, onProgress: progress.update };
  const output = await openOutput(path);
  let pieces = 0;
  try {
    for await (const { text, rows } of runShard(job, shard, { ...context, auditPolicies: policies })) {
      await output.write(text);
      pieces += rows;
    }
    signal.throwIfAborted();
    await output.commit();
  } finally {
    progress.stop();
    await output.discard();
  }
  await endShard(file);
  process.stderr.write(`Shard ${shardText(shard)}: ${counted(pieces, 'piece')} of the audit in ${path}.\n`);
}

/** Returns the job for these options. */
export function auditJob({ paths = [], policies, grader, ...options }: AuditJobOptions): AuditJob {
  const { seed, evaluations, episodes, profiles, plannerEpisodes } = options;
  const request = toAuditRequest({
    grader,
    policies,
    seed,
    evaluations,
    episodes,
    profiles,
    plannerEpisodes,
  });
  const names = Object.keys(policies);
  const files = [...new Set(paths)].flatMap((path, k) =>
    isPolicyFile(path) ? [[names[k], fileDigest(pathOfPolicy(path))]] : [],
  );
  return createJob<AuditJob>('audit', grader, {
    seed: request.seed,
    evaluations: request.evaluations,
    episodes: request.episodes,
    profiles: request.profiles,
    planner_episodes: request.plannerEpisodes,
    policies: names,
    policy_files: Object.fromEntries(files),
  });
}
