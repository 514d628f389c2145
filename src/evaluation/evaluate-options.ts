/** Options of an evaluation, the batches that it plays, and the data of its callbacks. */
import type { AnswerLog, LanguageModel } from '../agents/llm/language-model.js';
import type { BeliefKind } from '../agents/policies/fixed-policies.js';
import type { PolicyName } from '../agents/policies/stepped-policies.js';
import type { GraderLike } from '../engine/graders/grader.js';
import type { PolicyLike } from '../engine/policy/policy.js';
import { checkLongCall } from '../engine/vec-env/runs.js';
import type { EngineOptions, RunResult } from '../engine/vec-env/vec-env-options.js';
import type { TrajectoryEpisode } from '../rollouts/trajectories/trajectory-episode.js';
import { checkOptions, wrongType } from '../shared/values.js';
import type { Condition, ConditionOptions } from '../world/conditions.js';
import type { RunInfo } from './run-info.js';

/** Options of language models. */
export interface LlmOptions {
  /** Models. The policy of each is "llm:NAME". */
  readonly models: readonly LanguageModel[];
  /** Simultaneous episodes, 1 to 1024, each with one pending request. All conditions share one queue. Default 4. */
  readonly concurrency?: number;
  /**
   * Earlier episodes, such as those of an interrupted evaluation. They are not requested again. Episodes of other
   * policies, models or graders are ignored.
   */
  readonly played?: Iterable<TrajectoryEpisode> | AsyncIterable<TrajectoryEpisode>;
  /** Keeps each answer of an unfinished episode; the answers that it has are not requested again. */
  readonly answers?: AnswerLog;
  /** Called once with each requested episode when it ends. A promise is awaited. */
  readonly onEpisode?: (episode: TrajectoryEpisode) => unknown;
}

/** Policies by their names in results. The name of a built-in policy or a language model stands for the policy. */
export type PolicyRecord = Readonly<Record<string, PolicyLike | PolicyName>>;

/** Options of `evaluate`. */
export interface EvaluateOptions extends ConditionOptions, EngineOptions {
  /**
   * Names of built-in policies, as in `eval --policies`, and "llm:NAME" for a model of `llm`; or policies by their names in
   * results, such as `{ mine: policy, 'heuristic+constant': builtin('heuristic+constant') }`. Default: random, heuristic
   * and open-loop, each without a belief and with the constant belief.
   */
  readonly policies?: readonly PolicyName[] | PolicyRecord;
  /** The language models that `policies` names. */
  readonly llm?: LlmOptions;
  /** A name of GRADER_NAMES, a Grader, or eight weights (called "custom" in results). Default 'v2'. */
  readonly grader?: GraderLike;
  /**
   * Episodes played together, 1 to 2^20; does not change results. Default 8192, or 128 with `onTrajectories` or a stepped
   * policy (a policy that is called at each step): these are slow, and small chunks react to `signal` sooner.
   */
  readonly chunkSize?: number;
  /** Called once before the first episode. A promise is awaited. */
  readonly onStart?: (run: RunInfo) => unknown;
  /**
   * Called with the number of episodes played and their total, over all policies: after each chunk, within a chunk after each
   * stepped policy, and when an episode of a language model ends.
   */
  readonly onProgress?: (done: number, total: number) => void;
  /** Called with the episodes of each policy in each chunk, in the order of seeds. A promise is awaited. */
  readonly onEpisodes?: (episodes: PlayedEpisodes) => unknown;
  /**
   * Called with the episodes that `onEpisodes` receives, except those of `llm.played`, in the form of trajectories. If
   * `llm.played` has an episode for one condition only, and another condition contains it too, the callback gets a copy for
   * the other condition. A trajectory takes about 14 kB as a line of a file, or up to 30 kB with reasons. A promise is awaited.
   * Recording does not change results, but is slow. Episodes of language models come first, each when it ends.
   */
  readonly onTrajectories?: (episodes: readonly TrajectoryEpisode[]) => unknown;
  /** Aborting it rejects the promise with the signal's reason, at the next chunk or the next step of a stepped policy. */
  readonly signal?: AbortSignal;
}

/** The condition and policy of episodes. */
export interface Played {
  /** The name of the condition. */
  readonly condition: string;
  /** The policy's name without its belief, such as "heuristic" for heuristic+constant. */
  readonly policy: string;
  /** The kind of belief that is stated at each step. */
  readonly belief: BeliefKind;
  /** The grader whose action sequence a policy plays; null for other policies. */
  readonly sequenceGrader: string | null;
  /** Whether the policy used the hidden profiles. Then it is not a valid agent. */
  readonly oracle: boolean;
}

/** Episodes of one row of the results, in one chunk. */
export interface PlayedEpisodes extends Played {
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile: string;
  /** u32 [n]. */
  readonly seeds: Uint32Array;
  /** Results of n environments, row-major. The arrays are views, valid until the callback returns or its promise resolves. */
  readonly result: RunResult;
}

const OPTIONS: readonly (keyof EvaluateOptions)[] = [
  'policies',
  'llm',
  'conditions',
  'seeds',
  'episodes',
  'profiles',
  'grader',
  'backend',
  'kernel',
  'threads',
  'chunkSize',
  'onStart',
  'onProgress',
  'onEpisodes',
  'onTrajectories',
  'signal',
];

/** Refuses unknown options and wrong types. */
export function checkEvaluateOptions(options: EvaluateOptions): void {
  checkOptions('evaluate options', options, OPTIONS);
  checkLongCall(options);
  const { policies, conditions, seeds, onStart, onEpisodes, onTrajectories } = options;
  if (conditions !== undefined && !areNames(conditions))
    refuseType('conditions', 'a list of at least one name', conditions);
  if (policies !== undefined && !areNames(policies) && !isPolicyRecord(policies))
    refuseType('policies', 'a list of at least one name, or policies by name, { mine: policy }', policies);
  for (const [name, listener] of Object.entries({ onStart, onEpisodes, onTrajectories })) {
    if (listener !== undefined && typeof listener !== 'function') refuseType(name, 'a function', listener);
  }
  if (options.llm !== undefined) checkLlm(options.llm);
  if (seeds !== undefined && (typeof seeds !== 'object' || seeds === null)) {
    refuseType('seeds', '{ first, last }', seeds);
  }
}

const areNames = (list: unknown): boolean =>
  Array.isArray(list) && list.length > 0 && list.every((name) => typeof name === 'string');

const isPolicyRecord = (policies: unknown): boolean =>
  typeof policies === 'object' && !Array.isArray(policies) && Object.keys(Object(policies)).length > 0;

const LLM_OPTIONS: readonly (keyof LlmOptions)[] = [
  'models',
  'concurrency',
  'played',
  'answers',
  'onEpisode',
];

function checkLlm(llm: LlmOptions): void {
  checkOptions('llm', llm, LLM_OPTIONS);
  const { models, played, answers, onEpisode } = llm;
  const isModel = (model: LanguageModel | null): boolean =>
    typeof model?.name === 'string' && typeof model.complete === 'function';
  if (!Array.isArray(models) || !models.every(isModel))
    refuseType('llm.models', 'a list of models, { name, complete }', models);
  const iterable = Object(played)[Symbol.iterator] ?? Object(played)[Symbol.asyncIterator];
  if (played !== undefined && typeof iterable !== 'function')
    refuseType('llm.played', 'an iterable of episodes', played);
  if (answers !== undefined && (typeof answers?.get !== 'function' || typeof answers.add !== 'function'))
    refuseType('llm.answers', 'a log of answers, { get, add }', answers);
  if (onEpisode !== undefined && typeof onEpisode !== 'function')
    refuseType('llm.onEpisode', 'a function', onEpisode);
}

function refuseType(name: string, expected: string, got: unknown): never {
  throw wrongType(name, expected, got, `Pass ${expected}, or omit the option.`);
}

/** Seeds with one choice of profiles. */
export interface EpisodeBatch {
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile: string;
  /** u32 [n]. */
  readonly seeds: Uint32Array;
}

/** Yields a condition's episodes in order, at most `size` at a time. */
export function* chunksOf({ parts }: Condition, size: number): Generator<EpisodeBatch> {
  for (const { profile, seeds } of parts) {
    for (let first = seeds.first; first <= seeds.last; first += size) {
      const length = Math.min(size, seeds.last - first + 1);
      yield { profile, seeds: Uint32Array.from({ length }, (_, i) => first + i) };
    }
  }
}
