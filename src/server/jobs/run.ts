/** Runs one shard of a job. */

import type { AnswerLog, LanguageModel } from '../../agents/llm/language-model.js';
import type { PolicyLike } from '../../engine/policy/policy.js';
import type { VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { evaluateConditions } from '../../evaluation/evaluate.js';
import type { PolicyRecord } from '../../evaluation/evaluate-options.js';
import { MODEL_PREFIX, type UserPolicy } from '../../evaluation/user-policy.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { episodeLine } from '../../rollouts/trajectories/trajectory-lines.js';
import { InputError } from '../../shared/errors.js';
import { grpoRowsAsync } from '../../training/datasets/grpo/grpo-rows.js';
import type { DatasetPlan } from '../../training/datasets/state-sampler.js';
import { teach, teachByModel } from '../../training/teaching/policy-teacher.js';
import { auditShard } from './audit-shards.js';
import type { AuditJob, DatasetJob, EvalJob, RunnableJob, TeachJob } from './job.js';
import { partOf, type Shard, seedsOf } from './shard.js';
import { shardConditions } from './shard-conditions.js';

/** What a shard needs besides the job. */
export interface JobContext {
  readonly engine?: Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'>;
  readonly signal?: AbortSignal;
  /**
   * Called with the work that is done and its total, in the units of the job's command: steps for `teach`, episodes for
   * `eval` and `audit`, rows for `dataset`. A language model's job of `teach` calls `llm.onStep` instead.
   */
  readonly onProgress?: (done: number, total: number) => void;
  /** The policy from a file that a job of `teach` names. The caller loads it. */
  readonly policy?: UserPolicy;
  /** The policies of a job of `eval`, if some are from files. Default: those that the job names. */
  readonly policies?: PolicyRecord;
  /** The policies from files of a job of `audit`. */
  readonly auditPolicies?: Readonly<Record<string, PolicyLike>>;
  readonly llm?: LlmContext;
}

/** A language model, and where its paid episodes are kept. */
export interface LlmContext {
  readonly model: LanguageModel;
  /** The number of simultaneous episodes, 1 to 1024. */
  readonly concurrency: number;
  /** For `teach`: returns whether an episode exists, so that it is not played again. @param key as `episodeKey` returns it. */
  readonly has: (key: string) => boolean;
  /** Keeps the answers of unfinished episodes. */
  readonly answers?: AnswerLog;
  /** The episodes that exist, for `eval`. */
  readonly played?: AsyncIterable<TrajectoryEpisode>;
  /** Stores an episode as soon as it ends, before the shard yields it. */
  readonly append?: (episode: TrajectoryEpisode) => Promise<void>;
  /** Called after each step of an episode of `teach`. */
  readonly onStep?: () => void;
}

/** Finished rows of a shard. */
export interface ShardBatch {
  /** The lines of the shard's file, with line ends. */
  readonly text: string;
  /** The number of lines. */
  readonly rows: number;
  /** The same rows as episodes; [] for jobs of `audit` and `dataset`. */
  readonly episodes: readonly TrajectoryEpisode[];
}

/**
 * Runs a shard. Yields its rows in the order of its file, but a language model's episodes in the order in which they end.
 * Leaves out the episodes of a language model that exist already.
 * @throws InputError for unknown names, a missing model, a job of `eval` without trajectories, and more shards than the
 *   job has seeds (`teach`), episodes of a policy (`eval`), pieces (`audit`: see audit-shards.ts) or rows (`dataset`); the
 *   errors of the job's command; the signal's reason.
 */
export function runShard(
  job: RunnableJob,
  shard: Shard,
  context: JobContext = {},
): AsyncGenerator<ShardBatch> {
  if (job.kind === 'teach') return runTeach(job, shard, context);
  if (job.kind === 'eval') return runEval(job, shard, context);
  return job.kind === 'audit' ? runAudit(job, shard, context) : runDataset(job, shard, context);
}

async function* runTeach(job: TeachJob, shard: Shard, context: JobContext): AsyncGenerator<ShardBatch> {
  const { engine, signal, onProgress } = context;
  const { grader, options } = job;
  const work = {
    ...engine,
    signal,
    grader,
    profiles: options.profiles,
    seeds: seedsOf(options.seeds, shard),
  };
  if (!options.policy.startsWith(MODEL_PREFIX)) {
    const policy = context.policy ?? options.policy;
    for await (const episodes of teach({ ...work, onProgress, policy })) yield toBatch(episodes);
    return;
  }
  const { llm } = context;
  if (llm === undefined) {
    throw new InputError(
      'missing_setting',
      `Expected a model for the policy ${options.policy}, got none. Pass context.llm.`,
    );
  }
  for await (const episode of teachByModel({ ...work, ...llm }, llm.has)) {
    await llm.append?.(episode);
    yield toBatch([episode]);
  }
}

/** Yields all trajectories together, because `evaluateConditions` passes them to a callback. So a whole shard is in memory. */
async function* runEval(job: EvalJob, shard: Shard, context: JobContext): AsyncGenerator<ShardBatch> {
  const { engine, signal, onProgress, llm } = context;
  const { policies, conditions, output } = job.options;
  if (output !== 'trajectories') {
    throw new InputError(
      'unknown_option',
      `Expected a job with trajectories, got ${output}. Run eval --shard.`,
    );
  }
  const episodes: TrajectoryEpisode[] = [];
  const models = llm && { models: [llm.model], concurrency: llm.concurrency, played: llm.played };
  await evaluateConditions(
    {
      ...engine,
      signal,
      onProgress,
      grader: job.grader,
      llm: models,
      policies: context.policies ?? policies,
      onTrajectories: async (played) => {
        for (const episode of played) if (episode.model !== null) await llm?.append?.(episode);
        episodes.push(...played);
      },
    },
    shardConditions(conditions, shard),
  );
  yield toBatch(episodes);
}

async function* runAudit(job: AuditJob, shard: Shard, context: JobContext): AsyncGenerator<ShardBatch> {
  const { engine, signal, onProgress, auditPolicies: policies = {} } = context;
  const lines = await auditShard(job, shard, { ...engine, signal, onProgress, policies });
  yield { text: lines.join(''), rows: lines.length, episodes: [] };
}

async function* runDataset(job: DatasetJob, shard: Shard, context: JobContext): AsyncGenerator<ShardBatch> {
  const { engine = {}, signal, onProgress } = context;
  const plan = planOf(job);
  const part = partOf(plan.rows, shard, 'rows');
  let done = 0;
  for await (const rows of grpoRowsAsync(plan, engine, undefined, part)) {
    signal?.throwIfAborted();
    done += rows.length;
    onProgress?.(done, part.end - part.first);
    yield { text: rows.map((row) => `${JSON.stringify(row)}\n`).join(''), rows: rows.length, episodes: [] };
  }
}

/** Returns the plan of a job of `dataset grpo`. */
export function planOf({ grader, options }: DatasetJob): DatasetPlan {
  const { rows, seeds, profiles, steps, seed, allow_eval_seeds: allowEvalSeeds } = options;
  return { rows, seeds, profiles, steps, seed, grader, allowEvalSeeds };
}

const toBatch = (episodes: readonly TrajectoryEpisode[]): ShardBatch => ({
  text: episodes.map(episodeLine).join(''),
  rows: episodes.length,
  episodes,
});
