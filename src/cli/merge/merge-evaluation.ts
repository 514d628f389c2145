/** Assembles an evaluation from its shards: evaluates again, with the episodes in the shards. */

import type { LanguageModel } from '../../agents/llm/language-model.js';
import type { RunResult } from '../../engine/vec-env/vec-env-options.js';
import { type Evaluation, evaluateConditions } from '../../evaluation/evaluate.js';
import type { EpisodeBatch, EvaluateOptions, PolicyRecord } from '../../evaluation/evaluate-options.js';
import type { StoredResults } from '../../evaluation/play-chunk.js';
import { MODEL_PREFIX, UserPolicy } from '../../evaluation/user-policy.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { parseEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../../world/fields.js';
import type { EvalJob } from '../shards/job.js';
import type { StoredLines } from './stored-lines.js';

/** The options of a merge, as in `EvaluateOptions`. */
export type MergeOptions = Pick<
  EvaluateOptions,
  'onStart' | 'onEpisodes' | 'onTrajectories' | 'onProgress' | 'signal' | 'backend' | 'kernel' | 'threads'
>;

/**
 * Returns the evaluation of the whole job. It calls the callbacks of `options` as `evaluate` does, except that episodes of
 * language models are not passed to `onTrajectories`.
 * @param lines the lines of all shards. @throws Error if the shards lack an episode; the signal's reason.
 */
export function mergeEvaluation(
  job: EvalJob,
  lines: StoredLines,
  options: MergeOptions,
): Promise<Evaluation> {
  const models = modelsOf(job);
  const evaluateOptions: EvaluateOptions = {
    ...options,
    grader: job.grader,
    policies: policiesOf(job),
    ...(models.length === 0 ? {} : { llm: { models, played: playedBy(models, job, lines) } }),
  };
  return evaluateConditions(evaluateOptions, job.options.conditions, storedResults(lines));
}

/** Yields the trajectories of policies under conditions as lines with line ends, in the order of the job's file. */
export async function* linesInOrder(
  { policies, conditions }: Pick<EvalJob['options'], 'policies' | 'conditions'>,
  lines: StoredLines,
): AsyncGenerator<string> {
  for (const { name: condition, parts } of conditions) {
    for (const policy of policies) {
      for (const batch of batchesOf(parts)) {
        const { profile, seeds } = batch;
        for (const line of (await lines.linesOf({ condition, policy, profile }, seeds))!) yield `${line}\n`;
      }
    }
  }
}

/** The number of lines that are read together. Chosen by hand: more take more memory. */
const BATCH = 128;

function* batchesOf(parts: EvalJob['options']['conditions'][number]['parts']): Generator<EpisodeBatch> {
  for (const { profile, seeds } of parts) {
    for (let first = seeds.first; first <= seeds.last; first += BATCH) {
      const length = Math.min(BATCH, seeds.last - first + 1);
      yield { profile, seeds: Uint32Array.from({ length }, (_, i) => first + i) };
    }
  }
}

/** Returns the job's models. They are never prompted, because all their episodes are stored. */
const modelsOf = ({ options }: EvalJob): LanguageModel[] =>
  options.policies
    .filter((name) => name.startsWith(MODEL_PREFIX))
    .map((name) => ({
      name: name.slice(MODEL_PREFIX.length),
      complete: () =>
        Promise.reject(
          new Error(`Expected all episodes of ${name} in the shards, got a prompt of a missing one.`),
        ),
    }));

async function* playedBy(
  models: readonly LanguageModel[],
  { options }: EvalJob,
  lines: StoredLines,
): AsyncGenerator<TrajectoryEpisode> {
  const policies = models.map(({ name }) => `${MODEL_PREFIX}${name}`);
  for await (const line of linesInOrder({ ...options, policies }, lines)) yield parseEpisode(line.trimEnd());
}

/** Returns the job's policies. Policies from files are never called, because their episodes are stored. */
function policiesOf({ options }: EvalJob): EvaluateOptions['policies'] {
  const { policies, policy_files: files } = options;
  if (Object.keys(files).length === 0) return policies;
  // A new object for each policy, because `setPolicyFlags` changes the object.
  const storedPolicy = (): unknown => ({
    usesHiddenState: false,
    open: () => Promise.reject(new Error('Expected no call of a policy in a merge.')),
  });
  const entries = policies.map((name) => [name, Object.hasOwn(files, name) ? storedPolicy() : name]);
  return Object.fromEntries(entries) as PolicyRecord;
}

/** Returns the results in the lines of shards, as an evaluation reads them. */
const storedResults = (lines: StoredLines): StoredResults => ({
  async resultsOf(policy, condition, { profile, seeds }) {
    const texts = await lines.linesOf({ condition, policy: policy.name, profile }, seeds);
    if (texts === null) return null;
    const rows = texts.map((text) => JSON.parse(text));
    if (policy instanceof UserPolicy) setPolicyFlags(policy, rows);
    return {
      result: resultOf(rows.map((row) => row.final)),
      trajectories: texts.map((text) => parseEpisode(text)),
    };
  },
});

/** Sets, from stored episodes, whether a user's policy states beliefs and whether it uses hidden state. */
function setPolicyFlags(policy: UserPolicy, rows: readonly Record<string, unknown>[]): void {
  const statesBelief = ({ steps }: Record<string, unknown>): boolean =>
    (steps as { belief: unknown }[]).some((step) => step.belief !== null);
  if (rows.some(statesBelief)) policy.statesBeliefs = true;
  if (rows.some(({ oracle }) => oracle === true)) Object.assign(policy.policy, { usesHiddenState: true });
}

/** Returns stored episodes as the result of a run, with only the fields that an evaluation reads. */
function resultOf(rows: readonly Record<string, number>[]): RunResult {
  const column = (name: string): Float32Array => Float32Array.from(rows, (row) => row[name]);
  const components = new Float32Array(rows.length * NUM_COMPONENTS);
  for (const [i, row] of rows.entries())
    components.set(
      COMPONENT_NAMES.map((name) => row[name]),
      i * NUM_COMPONENTS,
    );
  return {
    components,
    finalScores: column('final_score'),
    beliefMae: column('belief_mae'),
    firstHalfMeans: column('early_mean'),
    secondHalfMeans: column('late_mean'),
  } as RunResult;
}
