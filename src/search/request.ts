/** A search with nothing left to check. */
import type { ResetRequest } from '../backends/backend.js';
import { InputError } from '../errors.js';
import { type GraderChoice, toGraders } from '../validate/persons.js';
import { toSeeds } from '../validate/seeds.js';
import { toActions } from '../validate/steps.js';
import {
  checkBoolean,
  checkFinite,
  checkInteger,
  checkLength,
  checkOptions,
  describe,
  isList,
} from '../validate/values.js';
import { checkLongCall } from '../vec-env/slices.js';
import { MAX_ENVS, MAX_THREADS, MAX_U32, NUM_STEPS, PROFILE_SIZE } from '../world/fields.js';
import { type ResolvedProfile, resolveProfile } from '../world/resolve.js';
import { createWorld, type World } from '../world/world.js';
import { OPTIONS, PROBLEM_OPTIONS, type TapeProblem, type TapeSearchOptions } from './options.js';

const LEAST_EVALUATIONS = 1000;
const MOST_EVALUATIONS = 1e9;
const DEFAULT_EVALUATIONS = 300_000;

export interface SearchRequest {
  readonly world: World;
  readonly imagination: boolean;
  /** As the caller named them: who opens the batches checks them. */
  readonly backend: string | undefined;
  readonly kernel: string | undefined;
  /** Null for as many as the machine has. */
  readonly threads: number | null;
  readonly seed: number;
  /** How many there are, and how many starts each has. */
  readonly problems: number;
  readonly starts: number;
  /** Begins all starts, problem by problem. */
  readonly reset: ResetRequest;
  /** -Infinity for none. */
  readonly leastEarlyMean: number;
  readonly evaluations: number;
  /** u8 [n, 28]. */
  readonly initialTapes: Uint8Array;
}

/**
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range`, `unknown_option`, `unknown_name`, `bad_seed`,
 *   `bad_profile`, `bad_grader`, `bad_world` or `illegal_action`.
 */
export function toSearchRequest(problems: readonly TapeProblem[], options: TapeSearchOptions): SearchRequest {
  checkOptions('search options', options, OPTIONS);
  checkLongCall(options);
  const { threads, leastEarlyMean, grader = 'v2', evaluations = DEFAULT_EVALUATIONS } = options;
  const world = createWorld(options.world);
  const starts = startsOf(problems);
  return {
    world,
    imagination: checkBoolean('imagination', options.imagination ?? false),
    backend: options.backend,
    kernel: options.kernel,
    threads: threads === undefined ? null : checkInteger('threads', threads, 1, MAX_THREADS),
    seed: checkInteger('seed', options.seed ?? 0, 0, MAX_U32),
    problems: problems.length,
    starts,
    reset: resetOf(world, problems, starts, grader),
    leastEarlyMean: leastEarlyMean === undefined ? -Infinity : checkFinite('leastEarlyMean', leastEarlyMean),
    evaluations: checkInteger('evaluations', evaluations, LEAST_EVALUATIONS, MOST_EVALUATIONS),
    initialTapes: toTapes(options.initialTapes ?? []),
  };
}

/** How many starts each problem has: all have as many, so that they can be played in step. */
function startsOf(problems: readonly TapeProblem[]): number {
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
  const starts = problems[0].seeds.length;
  checkInteger('seeds of all problems together', starts * problems.length, 1, MAX_ENVS);
  return starts;
}

function checkSeedList({ seeds }: TapeProblem, k: number): void {
  if (isList(seeds)) return;
  throw new InputError(
    'wrong_type',
    `Expected seeds in problems[${k}] to be an array, got ${describe(seeds)}. Pass one for each week of training.`,
  );
}

/** Begins every start: problem k's are the slots from `k * starts` on. */
function resetOf(
  world: World,
  problems: readonly TapeProblem[],
  starts: number,
  grader: GraderChoice,
): ResetRequest {
  const slots = starts * problems.length;
  const seeds = new Uint32Array(slots);
  const modes = new Uint8Array(slots);
  const profiles = new Float32Array(slots * PROFILE_SIZE);
  problems.forEach((problem, k) => {
    const first = k * starts;
    seeds.set(toSeeds(problem.seeds, starts, `seeds in problems[${k}]`), first);
    const { mode, floats } = profileOf(world, problem, k);
    modes.fill(mode, first, first + starts);
    for (let slot = first; slot < first + starts; slot++) profiles.set(floats ?? [], slot * PROFILE_SIZE);
  });
  return { mask: null, seeds, modes, profiles, graders: toGraders(world, grader, slots) };
}

function profileOf(world: World, { profile = 'sampled' }: TapeProblem, k: number): ResolvedProfile {
  if (typeof profile === 'string' || isList(profile)) return resolveProfile(world, profile);
  throw new InputError(
    'wrong_type',
    `Expected profile in problems[${k}] to be a name or 16 floats, got ${describe(profile)}. Pass one of these.`,
  );
}

/** Whole rows of legal codes, copied. */
function toTapes(tapes: ArrayLike<number>): Uint8Array {
  const length = isList(tapes) ? Math.ceil(tapes.length / NUM_STEPS) * NUM_STEPS : 0;
  // An array's codes are looked at one by one.
  const codes = isList(tapes) ? Array.from(tapes) : tapes;
  return toActions(codes, length, `n x ${NUM_STEPS} in initialTapes`, null);
}
