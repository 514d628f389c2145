/** What an evaluation is asked for, and what whoever listens to it is told. */

import type { ConditionOptions } from '../conditions.js';
import { InputError } from '../errors.js';
import type { GraderLike } from '../graders/grader.js';
import type { LanguageModel } from '../llm/model.js';
import type { BeliefKind } from '../policies/policies.js';
import type { TrajectoryEpisode } from '../trajectory/episode.js';
import { checkOptions, describe } from '../validate/values.js';
import type { RunResult } from '../vec-env/options.js';
import { checkLongCall } from '../vec-env/slices.js';
import type { RunInfo } from './run-info.js';

/** Language models, and how they are asked. */
export interface LlmOptions {
  /** By their names: the policy of each is "llm:NAME". */
  readonly models: readonly LanguageModel[];
  /** Weeks that are played at once, 1 to 1024, those of all conditions in one queue; each has one request under way. Default 4. */
  readonly concurrency?: number;
  /**
   * Episodes that are there already, such as those of an interrupted evaluation: nobody is asked for these weeks again. Of
   * other players and graders they are passed over.
   */
  readonly played?: Iterable<TrajectoryEpisode> | AsyncIterable<TrajectoryEpisode>;
  /** Called with each week that was asked for, once, when it ends; a promise is waited for. */
  readonly onEpisode?: (episode: TrajectoryEpisode) => unknown;
}

export interface EvaluateOptions extends ConditionOptions {
  /** Names of POLICIES, which is the default, and of STEPPED_POLICIES, and "llm:NAME" for a model of `llm`. */
  readonly policies?: readonly string[];
  /** The language models that policies name. */
  readonly llm?: LlmOptions;
  /** A name of GRADER_NAMES, a Grader, or six weights, which results call "custom". Default 'v2'. */
  readonly grader?: GraderLike;
  /** As in `VecEnvOptions`. */
  readonly backend?: string;
  readonly kernel?: string;
  readonly threads?: number;
  /** Episodes played together, 1 to 2^20; changes no result. Default 8192, or 128 with a policy that is asked at each step. */
  readonly chunkSize?: number;
  /** Called once, before the first episode; a promise is waited for. */
  readonly onStart?: (run: RunInfo) => unknown;
  /** Called after every chunk, and each asked policy in it, with the episodes played and to be played, those of all policies together. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Called with the episodes of each policy in each chunk, in the order of their seeds; a promise is waited for. */
  readonly onEpisodes?: (episodes: PlayedEpisodes) => unknown;
  /**
   * Called with the same episodes as trajectories, each a line of a file: some 18 kB, 35 kB with reasons. A promise is
   * waited for. No result changes, and it takes its time. Those of a language model come as they end, before all others.
   */
  readonly onTrajectories?: (episodes: readonly TrajectoryEpisode[]) => unknown;
  /** Aborting it rejects the promise with the signal's reason, at the next chunk, or at the next step of an asked policy. */
  readonly signal?: AbortSignal;
}

/** Under which condition what has played. */
export interface Played {
  readonly condition: string;
  /** How actions were chosen; with `belief`, an entry of POLICIES or STEPPED_POLICIES, or "llm:NAME". */
  readonly policy: string;
  readonly belief: BeliefKind;
  /** For a policy that plays a tape, the grader that it was found for; else null. */
  readonly tape: string | null;
  /** Whether it was shown who the persons are, which no agent may be. */
  readonly oracle: boolean;
}

/** Some episodes of a row. */
export interface PlayedEpisodes extends Played {
  /** Whose weeks they are: 'sampled', 'discrete' or a profile's name. */
  readonly profile: string;
  /** u32 [n]. */
  readonly seeds: Uint32Array;
  /** Of n slots, row-major. Its arrays are views, valid until the listener returns, or its promise is resolved. */
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

/** What only a caller without types gets wrong. */
export function checkEvaluateOptions(options: EvaluateOptions): void {
  checkOptions('evaluate options', options, OPTIONS);
  checkLongCall(options);
  const { policies, conditions, seeds, onStart, onEpisodes, onTrajectories } = options;
  for (const [name, list] of Object.entries({ policies, conditions })) {
    const fine = Array.isArray(list) && list.length > 0 && list.every((each) => typeof each === 'string');
    if (list !== undefined && !fine) refuseType(name, 'a list of at least one name', list);
  }
  for (const [name, listener] of Object.entries({ onStart, onEpisodes, onTrajectories })) {
    if (listener !== undefined && typeof listener !== 'function') refuseType(name, 'a function', listener);
  }
  if (options.llm !== undefined) checkLlm(options.llm);
  if (seeds !== undefined && (typeof seeds !== 'object' || seeds === null)) {
    refuseType('seeds', '{ first, last }', seeds);
  }
}

const LLM_OPTIONS: readonly (keyof LlmOptions)[] = ['models', 'concurrency', 'played', 'onEpisode'];

function checkLlm(llm: LlmOptions): void {
  checkOptions('llm', llm, LLM_OPTIONS);
  const { models, played, onEpisode } = llm;
  const fine = (model: LanguageModel | null): boolean =>
    typeof model?.name === 'string' && typeof model.complete === 'function';
  if (!Array.isArray(models) || !models.every(fine))
    refuseType('llm.models', 'a list of models, { name, complete }', models);
  const iterable = Object(played)[Symbol.iterator] ?? Object(played)[Symbol.asyncIterator];
  if (played !== undefined && typeof iterable !== 'function') refuseType('llm.played', 'episodes', played);
  if (onEpisode !== undefined && typeof onEpisode !== 'function')
    refuseType('llm.onEpisode', 'a function', onEpisode);
}

function refuseType(name: string, expected: string, got: unknown): never {
  throw new InputError(
    'wrong_type',
    `Expected ${name} to be ${expected}, got ${describe(got)}. Pass one, or leave it out.`,
  );
}
