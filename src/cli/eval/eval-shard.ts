/** Checks, describes and completes the file of a shard of `rhythm-vec eval`. */
import type { Grader } from '../../engine/graders/grader.js';
import { playersOf } from '../../evaluation/choose-policies.js';
import type { EvaluateOptions } from '../../evaluation/evaluate-options.js';
import { counted } from '../../evaluation/format-results.js';
import { type Player, teacherName } from '../../rollouts/trajectories/trajectory-episode.js';
import { createJob, type EvalJob } from '../../server/jobs/job.js';
import { type Shard, shardText } from '../../server/jobs/shard.js';
import { shardConditions } from '../../server/jobs/shard-conditions.js';
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
import { checkShardOutput, contentsOf, endShard, type ShardFile } from '../shards/shard-file.js';

/** The options of `eval` that a shard needs. */
export interface EvalShardOptions extends ConditionOptions, ModelFlags {
  readonly policies?: readonly string[];
  readonly trajectories?: string;
  readonly components?: string;
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

/**
 * Checks the outputs: a shard writes one file, from which merge computes the other outputs.
 * @param models the language models that play. @throws UsageError.
 */
export function checkEvalShard(options: EvalShardOptions, models: readonly string[]): void {
  const { trajectories, components, json, bracket } = options;
  for (const [flag, value] of Object.entries({ '--json': json, '--bracket': bracket })) {
    if (value === undefined) continue;
    throw new UsageError(`Expected no ${flag} with --shard, got ${value}. Pass ${flag} to merge.`);
  }
  if ((trajectories === undefined) === (components === undefined)) {
    throw new UsageError(
      `Expected either --trajectories or --components with --shard, got ${components === undefined ? 'neither' : 'both'}. ` +
        'Pass one of them: merge computes the tables, the JSON and the components from either file.',
    );
  }
  if (trajectories === undefined && models.length > 0) {
    throw new UsageError(
      'Expected --trajectories with --shard and a language model, got --components. Pass --trajectories: ' +
        "only trajectories keep the model's answers, which cost money to request again.",
    );
  }
  const [option, path] = outputOf(options);
  checkShardOutput(option, path);
}

const outputOf = ({ trajectories, components }: EvalShardOptions): [option: string, path: string] =>
  trajectories === undefined ? ['--components', components!] : ['--trajectories', trajectories];

/** Returns the shard of --shard; null without one. @throws InputError `out_of_range` for more shards than episodes. */
export async function evalShard(
  options: EvalShardOptions,
  policies: EvaluateOptions['policies'],
  grader: Grader,
): Promise<EvalShard | null> {
  const { shard } = options;
  if (shard === undefined) return null;
  const [option, path] = outputOf(options);
  const conditions = shardConditions(selectConditions(options), shard);
  const episodes = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
  const players = playersOf(policies);
  const job = evalJob(options, players, grader);
  const part = `${counted(episodes, 'episode')} of each policy`;
  return { file: { job, shard, part, option, path }, conditions, episodes: episodes * players.length };
}

/** Returns the job for these options. */
export function evalJob(options: EvalShardOptions, players: readonly Player[], grader: Grader): EvalJob {
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
    output: options.trajectories === undefined ? 'components' : 'trajectories',
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
  if (option === '--trajectories' && rows !== episodes) {
    throw new UsageError(
      `Expected ${path} to hold only the ${counted(episodes, 'episode')} of this shard, ` +
        `got ${counted(rows, 'episode')}. Pass another ${option}.`,
    );
  }
  await endShard(file);
  process.stderr.write(`${text}Shard ${shardText(shard)}: ${counted(episodes, 'episode')} in ${path}.\n`);
}
