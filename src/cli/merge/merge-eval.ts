/** Merges the shards of `rhythm-vec eval`: evaluates the whole job again, with the episodes in the shards. */
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { LanguageModel } from '../../agents/llm/language-model.js';
import { bracketEvaluation } from '../../evaluation/bracket.js';
import { selectPolicies } from '../../evaluation/choose-policies.js';
import { evaluatePolicies, type StoredResults } from '../../evaluation/evaluate.js';
import type { EvaluateOptions, PolicyRecord } from '../../evaluation/evaluate-options.js';
import { evaluationToJson } from '../../evaluation/result-json.js';
import type { RunInfo } from '../../evaluation/run-info.js';
import { gradersInUse } from '../../evaluation/score-tally.js';
import { MODEL_PREFIX, UserPolicy } from '../../evaluation/user-policy.js';
import { type TrajectoryEpisode, teacherName } from '../../rollouts/trajectories/trajectory-episode.js';
import { parseEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import { LINES } from '../../shared/row-files/file-formats.js';
import { checkBracketGrader, readBracket, renderBracket } from '../eval/bracket.js';
import { renderHeader, renderTable } from '../eval/eval-table.js';
import { formatOf } from '../files/check-outputs.js';
import { LineIndex, readLines } from '../files/lines.js';
import { commitTogether, jsonText, messageStream, Outputs } from '../files/output-file.js';
import { createProgress } from '../progress.js';
import type { EvalJob } from '../shards/job.js';
import { openEpisodeFile } from '../store/episode-file.js';
import { resultOf } from '../store/episode-store.js';

export interface MergeCommandOptions {
  readonly output: string;
  /** `json`, `bracket` and `details`: as in `eval`. */
  readonly json?: string;
  readonly bracket?: string;
  readonly details?: boolean;
  /** The format of --output. */
  readonly format?: string;
}

/** Writes the outputs and prints the tables. @param paths the files of all shards. */
export async function mergeEval(
  job: EvalJob,
  paths: readonly string[],
  options: MergeCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  const { output: path, json, bracket, details } = options;
  const anchors = await readBracket(bracket, signal);
  checkBracketGrader(bracket, anchors, gradersInUse(job.grader));
  const messages = messageStream(path, json);
  using progress = createProgress('episodes');
  await using outputs = new Outputs();
  const file = await openEpisodeFile(path, formatOf('--output', path, options.format) ?? LINES);
  try {
    await using shards = await ShardEpisodes.open(paths, signal);
    const { policies, conditions, model } = job.options;
    const models = modelsOf(job);
    const settings: EvaluateOptions = {
      signal,
      grader: job.grader,
      policies: policiesOf(job),
      onProgress: progress.update,
      onStart: (info: RunInfo) => void messages.write(renderHeader(info)),
      onTrajectories: model === null ? (episodes) => file.write(episodes) : undefined,
      ...(models.length === 0 ? {} : { llm: { models, played: playedBy(models, job, shards) } }),
    };
    const evaluation = await evaluatePolicies(
      selectPolicies(settings, conditions),
      conditions,
      settings,
      storedResults(shards),
    );
    // With language models, the lines are in the order of the job's conditions, policies and seeds.
    if (model !== null) {
      for await (const line of shards.inOrder(conditions, policies)) await file.writeLines([line]);
    }
    const bracketed = bracketEvaluation(evaluation, anchors);
    if (json !== undefined) await (await outputs.open(json)).write(jsonText(evaluationToJson(bracketed)));
    signal.throwIfAborted();
    await commitTogether([file, outputs]);
    progress.stop();
    const text = details || anchors !== null ? renderBracket(bracketed) : '';
    messages.write(renderTable(evaluation, { details, text }));
  } finally {
    await file.close();
  }
}

/** Identifies the episodes of a policy, such as "llm:MODEL", under a condition with a profile. */
const groupOf = (condition: string, policy: string, profile: string): string =>
  JSON.stringify([condition, policy, profile]);

/** The episodes in the files of shards. */
class ShardEpisodes implements AsyncDisposable {
  readonly #handles: FileHandle[] = [];
  readonly #lines = new LineIndex();
  readonly #groups = new Set<string>();

  /** Reads the files once. */
  static async open(paths: readonly string[], signal: AbortSignal): Promise<ShardEpisodes> {
    const shards = new ShardEpisodes();
    try {
      for (const path of paths) await shards.#read(path, signal);
      return shards;
    } catch (error) {
      await shards[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #read(path: string, signal: AbortSignal): Promise<void> {
    const handle = await open(path);
    this.#handles.push(handle);
    for await (const { text, start, end } of readLines(createReadStream(path), Number.POSITIVE_INFINITY)) {
      signal.throwIfAborted();
      const row = JSON.parse(text!);
      const group = groupOf(row.condition, teacherName(row), row.profile_mode);
      this.#groups.add(group);
      this.#lines.add(`${group} ${row.seed}`, { handle, start, end });
    }
  }

  /** Returns whether a shard has an episode of this group. */
  has(group: string): boolean {
    return this.#groups.has(group);
  }

  /** Yields the lines of a group's seeds. @throws Error if no shard has one of them. */
  async *linesOf(group: string, seeds: Iterable<number>): AsyncGenerator<string> {
    for (const seed of seeds) {
      const key = `${group} ${seed}`;
      if (!this.#lines.has(key)) {
        throw new Error(
          `Expected seed ${seed} of ${group} in a shard, got none. Run the shards again, and merge them.`,
        );
      }
      yield* this.#lines.read([key]);
    }
  }

  /** Yields the lines of all episodes of policies under conditions. */
  async *inOrder(
    conditions: EvalJob['options']['conditions'],
    policies: readonly string[],
  ): AsyncGenerator<string> {
    for (const { name, parts } of conditions) {
      for (const policy of policies) {
        for (const { profile, seeds } of parts) {
          const all = Array.from({ length: seeds.last - seeds.first + 1 }, (_, i) => seeds.first + i);
          yield* this.linesOf(groupOf(name, policy, profile), all);
        }
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const handle of this.#handles) await handle.close();
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
  shards: ShardEpisodes,
): AsyncGenerator<TrajectoryEpisode> {
  const policies = models.map(({ name }) => `${MODEL_PREFIX}${name}`);
  for await (const line of shards.inOrder(options.conditions, policies)) yield parseEpisode(line);
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

/** Returns the results in shards, as an evaluation reads them. */
const storedResults = (shards: ShardEpisodes): StoredResults => ({
  async resultsOf(policy, condition, { profile, seeds }) {
    const group = groupOf(condition, policy.name, profile);
    if (!shards.has(group)) return null;
    const trajectories: TrajectoryEpisode[] = [];
    for await (const line of shards.linesOf(group, seeds)) trajectories.push(parseEpisode(line));
    if (policy instanceof UserPolicy) setPolicyFlags(policy, trajectories);
    return { result: resultOf(trajectories.map(({ final }) => final)), trajectories };
  },
});

/** Sets, from stored episodes, whether a user's policy states beliefs and whether it uses hidden state. */
function setPolicyFlags(policy: UserPolicy, episodes: readonly TrajectoryEpisode[]): void {
  if (episodes.some(({ steps }) => steps.some(({ belief }) => belief !== null))) policy.statesBeliefs = true;
  if (episodes.some(({ oracle }) => oracle)) Object.assign(policy.policy, { usesHiddenState: true });
}
