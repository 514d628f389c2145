/** Validates the problems and options of a search, which finds an action sequence for the episodes of each problem. */
import type { ResetRequest } from '../../engine/backends/backend.js';
import { illegalAction, isAction } from '../../engine/validate/actions.js';
import { type GraderChoice, toGraders } from '../../engine/validate/profiles.js';
import { toSeeds } from '../../engine/validate/seeds.js';
import { checkLongCall } from '../../engine/vec-env/sliced-runs.js';
import { InputError } from '../../shared/errors.js';
import {
  checkBoolean,
  checkFinite,
  checkInteger,
  checkLength,
  checkOptions,
  describe,
  isList,
} from '../../shared/values.js';
import { MAX_ENVS, MAX_THREADS, MAX_U32, NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import { type ResolvedProfile, resolveProfile } from '../../world/resolve-names.js';
import { createWorld, type World } from '../../world/world.js';
import {
  type ActionSequenceProblem,
  type ActionSequenceSearchOptions,
  OPTIONS,
  PROBLEM_OPTIONS,
} from './search-options.js';

/** Numbers of action sequences to score for each problem. Chosen by hand: a search with more takes longer. */
const MIN_EVALUATIONS = 1000;
const MAX_EVALUATIONS = 1e9;
const DEFAULT_EVALUATIONS = 300_000;

/** The validated problems and options of a search. */
export interface SearchRequest {
  readonly world: World;
  readonly imagination: boolean;
  /** As passed by the caller, like `kernel`. Both are checked when the batches are opened. */
  readonly backend: string | undefined;
  readonly kernel: string | undefined;
  /** Null: as many as the machine has processors. */
  readonly threads: number | null;
  readonly seed: number;
  readonly numProblems: number;
  /** The number of starting states of each problem, one for each seed. */
  readonly numStarts: number;
  /** Resets one environment to each starting state, problem by problem. */
  readonly reset: ResetRequest;
  /** The lower bound of the mean of `firstHalfMeans` over a problem's episodes; -Infinity for none. */
  readonly minFirstHalfMean: number;
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
    throw new InputError(
      'wrong_type',
      `Expected problems to be an array, got ${describe(problems)}. Pass [{ seeds }].`,
    );
  }
  if (problems.length === 0) {
    throw new InputError('wrong_length', 'Expected at least one problem, got none. Pass [{ seeds }].');
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
  throw new InputError(
    'wrong_type',
    `Expected problems[${k}].seeds to be an array, got ${describe(seeds)}. Pass an array with one seed for each training episode.`,
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
  throw new InputError(
    'wrong_type',
    `Expected problems[${k}].profile to be a name or 16 floats, got ${describe(profile)}. Pass a name or 16 floats.`,
  );
}

/** Validates rows of action codes. Returns a copy. */
function toSequences(sequences: ArrayLike<number>): Uint8Array {
  if (!isList(sequences)) {
    throw new InputError(
      'wrong_type',
      `Expected initialSequences to be an array of action codes, got ${describe(sequences)}. Pass n x ${NUM_STEPS} codes.`,
    );
  }
  const length = Math.ceil(sequences.length / NUM_STEPS) * NUM_STEPS;
  checkLength('actions in initialSequences', sequences.length, length, `n x ${NUM_STEPS}`);
  return Uint8Array.from(sequences, (code, k) => {
    if (!isAction(code)) throw illegalAction(`initialSequences[${k}]`, code);
    return code;
  });
}
