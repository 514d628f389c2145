/** The shard of an evaluation: its part of the conditions, and its file with the manifest beside it. */

import type { Grader } from '../../engine/graders/grader.js';
import { playersOf } from '../../evaluation/choose-policies.js';
import type { EvaluateOptions } from '../../evaluation/evaluate-options.js';
import { counted } from '../../evaluation/format-results.js';
import { type Player, teacherName } from '../../rollouts/trajectories/trajectory-episode.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
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
import { beginShard, checkShardFile, contentsOf, endShard, type ShardFile } from '../shards/shard-file.js';

/** The options of an evaluation that concern its shards. */
export interface EvalShardOptions extends ConditionOptions, ModelFlags {
  /** Names of policies, and paths of files that export one. */
  readonly policies?: readonly string[];
  readonly trajectories?: string;
  readonly json?: string;
  /** The path of an audit's JSON. */
  readonly bracket?: string;
  readonly shard?: Shard;
}

/** A shard that is being played. */
export interface EvalShard {
  /** The shard's part of the conditions. */
  readonly conditions: readonly Condition[];
  /** Whether the file is complete: then the command has nothing to do. */
  readonly isComplete: boolean;
  /**
   * Writes the manifest beside the file (shard-file.ts), and reports the shard on the standard error.
   * @param text a summary of the language models' requests, printed before the report; '' without models.
   * @throws UsageError if the file also has other episodes, which an earlier run of a language model stored.
   */
  finish(text: string): Promise<void>;
}

/** Checks the outputs: a shard writes one file, from which merge computes the other outputs. @throws UsageError. */
export function checkEvalShard({ trajectories, json, bracket }: EvalShardOptions, format: RowFormat): void {
  for (const [flag, value] of Object.entries({ '--json': json, '--bracket': bracket })) {
    if (value === undefined) continue;
    throw new UsageError(`Expected no ${flag} with --shard, got ${value}. Pass ${flag} to merge.`);
  }
  if (trajectories === undefined) {
    throw new UsageError(
      'Expected --trajectories with --shard, got none. Name the file of the shard: merge computes the tables and the JSON from it.',
    );
  }
  checkShardFile('--trajectories', trajectories, format);
}

/** Opens the shard of --shard. @throws InputError `out_of_range` for more shards than episodes; UsageError as `beginShard`. */
export async function openEvalShard(
  options: EvalShardOptions,
  policies: EvaluateOptions['policies'],
  grader: Grader,
): Promise<EvalShard> {
  const [option, path, shard] = ['--trajectories', options.trajectories!, options.shard!];
  const conditions = shardConditions(selectConditions(options), shard);
  const episodes = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
  const players = playersOf(policies);
  const part = `${counted(episodes, 'episode')} of each policy`;
  const file = { job: evalJob(options, players, grader), shard, part, option, path };
  const finish = (text: string): Promise<void> => finishShard(file, episodes * players.length, text);
  return { conditions, isComplete: await beginShard(file), finish };
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

async function finishShard(file: ShardFile, episodes: number, text: string): Promise<void> {
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
