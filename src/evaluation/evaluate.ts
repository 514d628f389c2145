/** Evaluates every policy under every condition, in chunks of episodes. */

import { BASELINE } from '../agents/policies/fixed-policies.js';
import { yieldTurn } from '../engine/engine-calls.js';
import { type Grader, graderWeights, toGrader } from '../engine/graders/grader.js';
import type { Env } from '../engine/node.js';
import type { RunResult, VecEnvOptions } from '../engine/vec-env/vec-env-options.js';
import { ResizableAnyEnv } from '../rollouts/resizable-env.js';
import type { TrajectoryEpisode } from '../rollouts/trajectories/trajectory-episode.js';
import { checkInteger } from '../shared/values.js';
import { type Condition, episodesOf, profilesOf, seedsOf } from '../world/conditions.js';
import {
  chunksOf,
  type EpisodeBatch,
  type EvaluateOptions,
  type Played,
  type PlayedEpisodes,
} from './evaluate-options.js';
import type { AnswerSummary, LlmEpisodes } from './llm-episodes.js';
import {
  type Graded,
  type LlmPolicy,
  type NamedPolicy,
  type PlayOptions,
  PolicyPlayers,
  playerOf,
  playPolicy,
} from './play-policy.js';
import type { EpisodeOrigin, EvaluationRecorder } from './record-trajectories.js';
import { describeRun, type RunInfo } from './run-info.js';
import { otherGraders, type RegradedScore, RegradeTally, ScoreTally, type Summary } from './score-tally.js';
import type { Verdict } from './verdict.js';
import { VerdictTally } from './verdict-tally.js';

/** The results of an evaluation, and a description of its run. */
export interface Evaluation extends RunInfo {
  /** Wall time in seconds. */
  readonly seconds: number;
  /** By condition, then by policy. */
  readonly rows: readonly EvaluationRow[];
}

/** One policy under one condition. */
export interface EvaluationRow extends Played, Summary, AnswerSummary {
  /** The range of seeds, such as "0-99". */
  readonly seeds: string;
  /** As `describeProfiles` of src/world/conditions.ts describes them. */
  readonly profiles: string;
  /**
   * Scores of the same episodes under the graders v2 and v3, except the grader in use. The policy did not play for these
   * graders.
   */
  readonly regraded: readonly RegradedScore[];
  /** The comparison with the best policy that infers nothing; null if no score of such a policy is stored and no policy of the
   * evaluation may infer. */
  readonly verdict: Verdict | null;
}

/** The default chunk size. Its data fit a cache, and the reference backend reacts to a signal within a second. */
const CHUNK = 8192;
/**
 * The default chunk size if a policy is called at each step (kind 'stepped'), or trajectories are recorded. Both are slow: with
 * this size they react to a signal within seconds.
 */
const SMALL_CHUNK = 128;
/** Chosen by hand: a larger chunk takes more memory. */
const MAX_CHUNK = 2 ** 20;
const DEFAULT_GRADER = 'v2';
/** The default number of simultaneous episodes of a language model. Chosen by hand. */
const CONCURRENCY = 4;

/**
 * Evaluates `policies` under `conditions`. Ignores the policies and conditions of the options.
 * @param policies in the order of the rows, without duplicates (choose-policies.ts).
 * @param stored returns the results of episodes that were played before. @throws as `evaluate` of on-first-use.ts.
 */
export async function evaluatePolicies(
  policies: readonly NamedPolicy[],
  conditions: readonly Condition[],
  options: Omit<EvaluateOptions, 'policies'>,
  stored: StoredResults | null = null,
): Promise<Evaluation> {
  const run = new Run(policies, conditions, options, stored);
  const startTime = performance.now();
  await using environments = new ResizableAnyEnv(engineOf(options, run.grader));
  // One or two environments would run on another kernel than the episodes.
  const info = describeRun(await environments.of(16), run.grader);
  await options.onStart?.(info);
  await run.playLlmEpisodes();
  const rows = await run.playAll(environments, info.worldDigest);
  options.signal?.throwIfAborted();
  return { ...info, seconds: (performance.now() - startTime) / 1000, rows };
}

function engineOf(
  { backend, kernel, threads, profiles }: EvaluateOptions,
  grader: Grader,
): Omit<VecEnvOptions, 'numEnvs'> {
  return { backend, kernel, threads, profiles, grader: graderWeights(grader) };
}

/** The tallies of one row. */
class RowTally {
  readonly scores = new ScoreTally();
  readonly regraded: RegradeTally;

  constructor(grader: Grader) {
    this.regraded = new RegradeTally(otherGraders(grader));
  }

  /** Adds the next episodes. @param baseline f32 [n]: the heuristic's final scores in the same episodes. */
  add(episodes: Graded, baseline: Float32Array): void {
    this.scores.add(episodes, baseline);
    this.regraded.add(episodes.components);
  }
}

/** A running evaluation. */
class Run {
  readonly grader: Grader;
  readonly #options: Omit<EvaluateOptions, 'policies'>;
  readonly #conditions: readonly Condition[];
  readonly #stored: StoredResults | null;
  readonly #policies: readonly NamedPolicy[];
  readonly #chunkSize: number;
  readonly #llmEpisodes = new Map<NamedPolicy, LlmEpisodes>();
  /** The number of episodes of all policies. */
  readonly #total: number;
  #done = 0;

  constructor(
    policies: readonly NamedPolicy[],
    conditions: readonly Condition[],
    options: Omit<EvaluateOptions, 'policies'>,
    stored: StoredResults | null,
  ) {
    this.#policies = policies;
    this.#conditions = conditions;
    this.#options = options;
    this.#stored = stored;
    this.grader = toGrader(options.grader === undefined ? DEFAULT_GRADER : options.grader);
    const defaultSize =
      options.onTrajectories || this.#policies.some(({ kind }) => kind === 'stepped') ? SMALL_CHUNK : CHUNK;
    this.#chunkSize = checkInteger('chunkSize', options.chunkSize ?? defaultSize, 1, MAX_CHUNK);
    const episodes = this.#conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
    this.#total = episodes * this.#policies.length;
  }

  /** Plays the episodes of all conditions with the language models, one model after the other. */
  async playLlmEpisodes(): Promise<void> {
    for (const policy of this.#policies) {
      if (policy.kind !== 'model') continue;
      const modelEpisodes = await policy.episodesOf(this.#conditions);
      this.#llmEpisodes.set(policy, modelEpisodes);
      const before = this.#done;
      for await (const episodes of this.#addMissing(modelEpisodes)) {
        if (episodes.length > 0) await this.#options.onTrajectories?.(episodes);
        this.#done = before + modelEpisodes.size;
        this.#reportProgress();
      }
      this.#done = before + modelEpisodes.size;
    }
  }

  /** Adds the episodes played earlier, then plays the missing ones. Yields the new trajectories. */
  async *#addMissing(modelEpisodes: LlmEpisodes) {
    const { llm = { models: [] }, backend, kernel, signal } = this.#options;
    if (llm.played !== undefined) yield await modelEpisodes.addEarlier(llm.played, this.grader);
    const { concurrency = CONCURRENCY, answers, onEpisode } = llm;
    yield* modelEpisodes.playMissing({
      grader: this.grader,
      concurrency,
      backend,
      kernel,
      signal,
      answers,
      onEpisode,
    });
  }

  /** Returns the rows of all conditions. */
  async playAll(environments: ResizableAnyEnv, worldDigest: string): Promise<EvaluationRow[]> {
    const rows: EvaluationRow[] = [];
    for (const condition of this.#conditions)
      rows.push(...(await this.#rowsOf(condition, environments, worldDigest)));
    return rows;
  }

  /** Plays the episodes of a condition, chunk by chunk. Returns a row for each policy. */
  async #rowsOf(
    condition: Condition,
    environments: ResizableAnyEnv,
    worldDigest: string,
  ): Promise<EvaluationRow[]> {
    const { onEpisodes, onTrajectories, signal, backend, kernel, threads } = this.#options;
    const tallies = new Map(this.#policies.map((policy) => [policy, new RowTally(this.grader)]));
    using players = new PolicyPlayers();
    const options = { grader: this.grader, backend, kernel, threads, signal, players };
    const verdicts = await VerdictTally.open(condition, this.#policies, this.grader, worldDigest);
    const policies = { tallies, llmEpisodes: this.#llmEpisodes, stored: this.#stored, options };
    const last = this.#policies[this.#policies.length - 1];
    for (const batch of chunksOf(condition, this.#chunkSize)) {
      signal?.throwIfAborted();
      const env = await environments.of(batch.seeds.length);
      const scores = new Map<string, Float32Array>();
      const chunk = { condition: condition.name, batch, recorded: onTrajectories !== undefined };
      for await (const { policy, episodes, trajectories } of playChunk(env, chunk, policies)) {
        if (verdicts !== null) scores.set(policy.name, episodes.result.finalScores.slice());
        await onEpisodes?.(episodes);
        // The signal may have been aborted while the listener ran.
        signal?.throwIfAborted();
        if (policy.kind === 'model') continue;
        await onTrajectories?.(trajectories);
        this.#done += env.numEnvs;
        if (policy.kind === 'stepped') this.#reportProgress();
      }
      await verdicts?.add(env, batch, scores, options);
      if (last.kind !== 'stepped') this.#reportProgress();
      // Lets signals and timers run, so that a long evaluation can be interrupted.
      await yieldTurn();
    }
    return Array.from(tallies, ([policy, tally]) => ({
      ...this.#rowOf(condition, policy, tally),
      verdict: verdicts?.verdictOn(policy.name) ?? null,
    }));
  }

  #rowOf(
    condition: Condition,
    policy: NamedPolicy,
    { scores, regraded }: RowTally,
  ): Omit<EvaluationRow, 'verdict'> {
    return {
      condition: condition.name,
      ...policyFields(policy, this.grader.name),
      seeds: seedsOf(condition),
      profiles: profilesOf(condition),
      ...scores.summary(),
      regraded: regraded.summary(),
      ...(this.#llmEpisodes.get(policy)?.summary(condition) ?? NO_ANSWERS),
    };
  }

  #reportProgress(): void {
    this.#options.onProgress?.(this.#done, this.#total);
  }
}

/** The columns about answers in the rows of all policies but language models. */
const NO_ANSWERS: AnswerSummary = { unparsed: null, usage: null };

/** Episodes of one condition that are played together. */
export interface Chunk {
  readonly condition: string;
  readonly batch: EpisodeBatch;
  /** Whether to record trajectories. */
  readonly recorded: boolean;
}

/** The episodes of a chunk as one policy played them. */
export interface PlayedChunk {
  readonly policy: NamedPolicy;
  readonly episodes: PlayedEpisodes;
  /** Trajectories; [] without recording, and for a language model, whose episodes were recorded earlier. */
  readonly trajectories: readonly TrajectoryEpisode[];
}

/** Results of episodes that were played before. */
export interface StoredResults {
  /** Returns the results of a policy's episodes, in the order of the batch; null if they must be played. */
  resultsOf(
    policy: Exclude<NamedPolicy, LlmPolicy>,
    condition: string,
    batch: EpisodeBatch,
  ): Promise<{ readonly result: RunResult; readonly trajectories: readonly TrajectoryEpisode[] } | null>;
}

/** The tallies of a chunk's policies, and the sources of their results. */
export interface ChunkPolicies {
  /** The tally of each policy. After the baseline, the policies play in this order. */
  readonly tallies: ReadonlyMap<NamedPolicy, Pick<ScoreTally, 'add'>>;
  /** The recorded episodes of each language model. */
  readonly llmEpisodes: ReadonlyMap<NamedPolicy, LlmEpisodes>;
  readonly stored: StoredResults | null;
  readonly options: PlayOptions;
}

/**
 * Plays the episodes with every policy, unless their results are stored. Adds the results to the tallies, and yields them.
 * The baseline always comes first, because every row is compared with it on the same seeds.
 */
export async function* playChunk(
  env: Env,
  { condition, batch, recorded }: Chunk,
  { tallies, llmEpisodes, stored, options }: ChunkPolicies,
): AsyncGenerator<PlayedChunk> {
  const { grader } = options;
  const others = Array.from(tallies.keys()).filter((policy) => policy !== BASELINE);
  let baseline = new Float32Array();
  for (const policy of [BASELINE, ...others]) {
    const tally = tallies.get(policy);
    const isModel = policy.kind === 'model';
    const isRecorded = recorded && tally !== undefined && !isModel;
    const origin = { player: playerOf(policy), condition, grader };
    const recorder = isRecorded ? await openRecorder(env, batch, origin) : null;
    const playedPolicy = isModel ? llmEpisodes.get(policy)!.replayPolicy(condition, batch) : policy;
    const earlier = isModel ? null : ((await stored?.resultsOf(policy, condition, batch)) ?? null);
    const result = earlier?.result ?? (await playPolicy(env, batch, playedPolicy, options, recorder));
    if (policy === BASELINE) baseline = result.finalScores.slice();
    // The baseline plays even if it is not among the policies; then it has no row.
    if (tally === undefined) continue;
    tally.add(result, baseline);
    const episodes = { condition, ...policyFields(policy, grader.name), ...batch, result };
    yield { policy, episodes, trajectories: earlier?.trajectories ?? recorder?.end(result) ?? [] };
  }
}

/** Opens a recorder. Its module is loaded only if trajectories are recorded. */
async function openRecorder(
  { world }: Env,
  batch: EpisodeBatch,
  origin: EpisodeOrigin,
): Promise<EvaluationRecorder> {
  const { EvaluationRecorder } = await import('./record-trajectories.js');
  return new EvaluationRecorder(world, batch, origin);
}

/** Returns the fields that name a policy in results. */
export const policyFields = (policy: NamedPolicy, grader: string): Omit<Played, 'condition'> => ({
  policy: policy.actions,
  belief: policy.belief,
  sequenceGrader: policy.sequenceGrader(grader),
  oracle: policy.usesHiddenState,
});
