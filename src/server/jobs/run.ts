/** Runs one shard of a job. */

import type { LanguageModel } from '../../agents/llm/language-model.js';
import type { VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { MODEL_PREFIX, type UserPolicy } from '../../evaluation/user-policy.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { episodeLine } from '../../rollouts/trajectories/write-line.js';
import { InputError } from '../../shared/errors.js';
import { teachByModel } from '../../training/teaching/llm-teacher.js';
import { teach } from '../../training/teaching/planner-teacher.js';
import type { Job, TeachJob } from './job.js';
import { type Shard, seedsOf } from './shard.js';

/** What a shard needs besides the job. It changes no result, except for the model's answers. */
export interface JobContext {
  readonly engine?: Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'>;
  readonly signal?: AbortSignal;
  /** Called with the work that is done and its total, in the units of the job's command: steps for `teach`. */
  readonly onProgress?: (done: number, total: number) => void;
  /** The policy of a file, which the job names and only the caller can load. */
  readonly policy?: UserPolicy;
  readonly llm?: LlmContext;
}

/** A language model, and where its paid episodes are kept. */
export interface LlmContext {
  readonly model: LanguageModel;
  /** Simultaneous episodes, 1 to 1024. */
  readonly concurrency: number;
  /** Returns whether an episode exists already, by `episodeKey`. It is not played again. */
  readonly has: (key: string) => boolean;
  /** Called after each step of an episode. */
  readonly onStep?: () => void;
}

/** Finished rows of a shard. */
export interface ShardBatch {
  /** The lines of the shard's file, with line ends. */
  readonly text: string;
  /** The number of lines. */
  readonly rows: number;
  /** The same rows as episodes. */
  readonly episodes: readonly TrajectoryEpisode[];
}

/**
 * Runs a shard. Yields its rows in the order of its file; the episodes of a language model when they end, without those
 * that exist already.
 * @throws InputError for names and for more shards than seeds; the errors of the job's command; the signal's reason.
 */
export function runShard(job: Job, shard: Shard, context: JobContext = {}): AsyncGenerator<ShardBatch> {
  return runTeach(job, shard, context);
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
  for await (const episode of teachByModel({ ...work, ...llm }, llm.has)) yield toBatch([episode]);
}

const toBatch = (episodes: readonly TrajectoryEpisode[]): ShardBatch => ({
  text: episodes.map(episodeLine).join(''),
  rows: episodes.length,
  episodes,
});
