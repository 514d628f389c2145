/** The problems and options of a search, and their validation. The search finds an action sequence for each problem. */
import type { ResetRequest } from '../../engine/backends/backend.js';
import { NODE } from '../../engine/backends/node.js';
import type { GraderLike } from '../../engine/graders/grader.js';
import { type GraderChoice, toGraders } from '../../engine/validate/profiles.js';
import { toSeeds } from '../../engine/validate/seeds.js';
import { illegalAction, isAction } from '../../engine/validate/steps.js';
import { checkLongCall } from '../../engine/vec-env/runs.js';
import type { EngineOptions, VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { InputError } from '../../shared/errors.js';
import {
  checkBoolean,
  checkFinite,
  checkInteger,
  checkLength,
  checkOptions,
  isList,
  wrongType,
} from '../../shared/values.js';
import { MAX_ENVS, MAX_THREADS, MAX_U32, NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import { type ProfileKindName, type ResolvedProfile, resolveProfile } from '../../world/resolve-names.js';
import { createWorld, type World } from '../../world/world.js';
import type { ScorerSettings } from './scorer.js';

/** The episodes for which a search optimises an action sequence. */
export interface ActionSequenceProblem {
  /** u32 each: seeds of the training episodes. With a sampled or discrete `profile` they determine the profiles too. */
  readonly seeds: ArrayLike<number>;
  /** 'sampled' (default) or 'discrete', from each seed; or one profile for all episodes: a name, or 16 floats. */
  readonly profile?: ProfileKindName | ArrayLike<number>;
}

/** Options of a search for action sequences. The backend, kernel and threads change no result. */
export interface ActionSequenceSearchOptions extends EngineOptions, Readonly<Pick<VecEnvOptions, 'world'>> {
  /** The grader whose mean final score is maximised: a name, a Grader, or eight weights that sum to 1. Default 'v2'. */
  readonly grader?: GraderLike;
  /**
   * Lower bound for the mean, over the episodes, of `firstHalfMeans` (the mean reward of the first 14 steps). A sequence below
   * the bound ranks behind every sequence that reaches it. Default: none.
   */
  readonly minFirstHalfMean?: number;
  /** The minimum number of action sequences to score for each problem, 1,000 to 10^9. Default 300,000. */
  readonly evaluations?: number;
  /** Codes [n, 28]: sequences to start from. On the training seeds the result ranks at least as high as each. Default: none. */
  readonly initialSequences?: ArrayLike<number>;
  /** u32, seed of the search's random numbers. Default 0. */
  readonly seed?: number;
  /** Whether noise and events are drawn from streams that no real episode uses. Default false. */
  readonly imagination?: boolean;
  /** Called with the number of sequences scored so far and the total, over all problems. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Aborting it rejects the promise with the signal's reason, within milliseconds. */
  readonly signal?: AbortSignal;
}

const OPTIONS: readonly (keyof ActionSequenceSearchOptions)[] = [
  'grader',
  'minFirstHalfMean',
  'evaluations',
  'initialSequences',
  'seed',
  'imagination',
  'world',
  'backend',
  'kernel',
  'threads',
  'onProgress',
  'signal',
];
const PROBLEM_OPTIONS: readonly (keyof ActionSequenceProblem)[] = ['seeds', 'profile'];

/** Numbers of action sequences to score for each problem. Chosen by hand: a search with more takes longer. */
const MIN_EVALUATIONS = 1000;
const MAX_EVALUATIONS = 1e9;
const DEFAULT_EVALUATIONS = 300_000;

/** The validated problems and options of a search. */
export interface SearchRequest extends ScorerSettings {
  readonly seed: number;
  /** Resets one environment to each starting state, problem by problem. A problem has one for each of its seeds. */
  readonly reset: ResetRequest;
  readonly evaluations: number;
  /** u8 [n, 28]. */
  readonly initialSequences: Uint8Array;
}

/**
 * Validates problems and options, and adds defaults.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range`, `unknown_option`, `unknown_name`, `bad_seed`,
 *   `bad_profile`, `bad_grader`, `bad_world` or `illegal_action`.
 */
export function toSearchRequest(
  problems: readonly ActionSequenceProblem[],
  options: ActionSequenceSearchOptions,
): SearchRequest {
  checkOptions('search options', options, OPTIONS);
  checkLongCall(options);
  const { threads, minFirstHalfMean, grader = 'v2', evaluations = DEFAULT_EVALUATIONS } = options;
  const world = createWorld(options.world);
  const numStarts = numStartsOf(problems);
  return {
    platform: NODE,
    world,
    imagination: checkBoolean('imagination', options.imagination ?? false),
    backend: options.backend,
    kernel: options.kernel,
    threads: threads === undefined ? null : checkInteger('threads', threads, 1, MAX_THREADS),
    seed: checkInteger('seed', options.seed ?? 0, 0, MAX_U32),
    numProblems: problems.length,
    numStarts,
    reset: resetOf(world, problems, numStarts, grader),
    minFirstHalfMean:
      minFirstHalfMean === undefined ? -Infinity : checkFinite('minFirstHalfMean', minFirstHalfMean),
    evaluations: checkInteger('evaluations', evaluations, MIN_EVALUATIONS, MAX_EVALUATIONS),
    initialSequences: toSequences(options.initialSequences ?? []),
  };
}

/**
 * Checks the options and the number of seeds of problems. Returns the number of starting states of a problem. All problems
 * must have the same number, so that they can be stepped together.
 */
function numStartsOf(problems: readonly ActionSequenceProblem[]): number {
  if (!Array.isArray(problems)) {
    throw wrongType('problems', 'an array', problems, 'Pass [{ seeds }].');
  }
  if (problems.length === 0) {
    throw new InputError('wrong_length', {
      expected: 'at least one problem',
      got: 'none',
      remedy: 'Pass [{ seeds }].',
    });
  }
  problems.forEach((problem, k) => {
    checkOptions(`problems[${k}]`, problem, PROBLEM_OPTIONS);
    checkSeedList(problem, k);
    checkLength(
      `seeds in problems[${k}]`,
      problem.seeds.length,
      problems[0].seeds.length,
      'as in problems[0]',
    );
  });
  const numStarts = problems[0].seeds.length;
  checkInteger('seeds of all problems together', numStarts * problems.length, 1, MAX_ENVS);
  return numStarts;
}

function checkSeedList({ seeds }: ActionSequenceProblem, k: number): void {
  if (isList(seeds)) return;
  throw wrongType(
    `problems[${k}].seeds`,
    'an array',
    seeds,
    'Pass an array with one seed for each training episode.',
  );
}

/** Returns the request of the reset. Problem k has the `numStarts` environments from `k * numStarts` on. */
function resetOf(
  world: World,
  problems: readonly ActionSequenceProblem[],
  numStarts: number,
  grader: GraderChoice,
): ResetRequest {
  const numEnvs = numStarts * problems.length;
  const seeds = new Uint32Array(numEnvs);
  const modes = new Uint8Array(numEnvs);
  const profiles = new Float32Array(numEnvs * PROFILE_SIZE);
  problems.forEach((problem, k) => {
    const first = k * numStarts;
    seeds.set(toSeeds(problem.seeds, numStarts, `problems[${k}].seeds`), first);
    const { mode, floats } = profileOf(world, problem, k);
    modes.fill(mode, first, first + numStarts);
    for (let env = first; env < first + numStarts; env++) profiles.set(floats ?? [], env * PROFILE_SIZE);
  });
  return { mask: null, seeds, modes, profiles, graders: toGraders(world, grader, numEnvs) };
}

function profileOf(world: World, { profile = 'sampled' }: ActionSequenceProblem, k: number): ResolvedProfile {
  if (typeof profile === 'string' || isList(profile)) return resolveProfile(world, profile);
  throw wrongType(`problems[${k}].profile`, 'a name or 16 floats', profile, 'Pass a name or 16 floats.');
}

/** Validates rows of action codes. Returns a copy. */
function toSequences(sequences: ArrayLike<number>): Uint8Array {
  if (!isList(sequences)) {
    throw wrongType(
      'initialSequences',
      'an array of action codes',
      sequences,
      `Pass n x ${NUM_STEPS} codes.`,
    );
  }
  const length = Math.ceil(sequences.length / NUM_STEPS) * NUM_STEPS;
  checkLength('actions in initialSequences', sequences.length, length, `n x ${NUM_STEPS}`);
  return Uint8Array.from(sequences, (code, k) => {
    if (!isAction(code)) throw illegalAction(`initialSequences[${k}]`, code);
    return code;
  });
}
