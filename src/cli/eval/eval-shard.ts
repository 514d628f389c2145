/** Checks, describes and completes the file of a shard of `rhythm-vec eval`. */
import type { Grader } from '../../engine/graders/grader.js';
import { playersOf } from '../../evaluation/choose-policies.js';
import type { EvaluateOptions } from '../../evaluation/evaluate-options.js';
import { counted } from '../../evaluation/format-results.js';
import { type Player, teacherName } from '../../rollouts/trajectories/trajectory-episode.js';
import {
  type Condition,
  type ConditionOptions,
  episodesOf,
  selectConditions,
} from '../../world/conditions.js';
import { UsageError } from '../command-errors.js';
import { fileDigest } from '../files/input-file.js';
import { isPolicyFile, pathOfPolicy } from '../files/policy-file.js';
import { type ModelFlags, samplingOf } from '../llm/llm-options.js';
import { createJob, type EvalJob } from '../shards/job.js';
import { type Shard, shardConditions, shardText } from '../shards/shard.js';
import { checkShardOutput, contentsOf, endShard, type ShardFile } from '../shards/shard-file.js';

/** The options of `eval` that a shard needs. */
export interface EvalShardOptions extends ConditionOptions, ModelFlags {
  readonly policies?: readonly string[];
  readonly trajectories?: string;
  readonly json?: string;
  readonly bracket?: string;
  readonly shard?: Shard;
}

/** The file of a shard, and the shard's part of the conditions. */
export interface EvalShard {
  readonly file: ShardFile;
  readonly conditions: readonly Condition[];
  /** The number of episodes in the shard, over all policies. */
  readonly episodes: number;
}

/** Checks the outputs: a shard writes one file, from which merge computes the other outputs. @throws UsageError. */
export function checkEvalShard(options: EvalShardOptions): void {
  const { trajectories, json, bracket } = options;
  for (const [flag, value] of Object.entries({ '--json': json, '--bracket': bracket })) {
    if (value === undefined) continue;
    throw new UsageError(`Expected no ${flag} with --shard, got ${value}. Pass ${flag} to merge.`);
  }
  if (trajectories === undefined) {
    throw new UsageError(
      'Expected --trajectories with --shard, got none. Name the file of the shard: merge computes the tables and the JSON from it.',
    );
  }
  checkShardOutput('--trajectories', trajectories);
}

/** Returns the shard of --shard; null without one. @throws InputError `out_of_range` for more shards than episodes. */
export async function evalShard(
  options: EvalShardOptions,
  policies: EvaluateOptions['policies'],
  grader: Grader,
): Promise<EvalShard | null> {
  const { shard } = options;
  if (shard === undefined) return null;
  const [option, path] = ['--trajectories', options.trajectories!];
  const conditions = shardConditions(selectConditions(options), shard);
  const episodes = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
  const players = playersOf(policies);
  const job = evalJob(options, players, grader);
  const part = `${counted(episodes, 'episode')} of each policy`;
  return { file: { job, shard, part, option, path }, conditions, episodes: episodes * players.length };
}

/** Returns the job for these options. */
function evalJob(options: EvalShardOptions, players: readonly Player[], grader: Grader): EvalJob {
  const names = options.policies ?? [];
  const policies = players.map(teacherName);
  const hasModel = players.some(({ model }) => model !== null);
  const files = [...new Set(names)].flatMap((name, k) =>
    isPolicyFile(name) ? [[policies[k], fileDigest(pathOfPolicy(name))]] : [],
  );
  return createJob<EvalJob>('eval', grader, {
    policies,
    policy_files: Object.fromEntries(files),
    model: hasModel ? { sampling: samplingOf(options), prices: options.prices ?? null } : null,
    conditions: selectConditions(options),
  });
}

/**
 * Writes the manifest beside the file (shard-file.ts), and reports the shard on the standard error.
 * @param text a summary of the language models' requests, printed before the report; '' without models.
 * @throws UsageError if the file also has other episodes, which an earlier run of a language model stored.
 */
export async function finishShard({ file, episodes }: EvalShard, text: string): Promise<void> {
  const { path, shard, option } = file;
  const { rows } = await contentsOf(path);
  if (rows !== episodes) {
    throw new UsageError(
      `Expected ${path} to hold only the ${counted(episodes, 'episode')} of this shard, ` +
        `got ${counted(rows, 'episode')}. Pass another ${option}.`,
    );
  }
  await endShard(file);
  process.stderr.write(`${text}Shard ${shardText(shard)}: ${counted(episodes, 'episode')} in ${path}.\n`);
}
