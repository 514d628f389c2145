/** Opens one environment per group in its initial state, and copies it to one environment per rollout. */
import type { Platform } from '../../engine/backends/open-batch.js';
import { type EngineCalls, resultOf } from '../../engine/engine-calls.js';
import type { HistoryStep } from '../../engine/observe/history.js';
import type { Policy, PolicyFunction, PolicyView } from '../../engine/policy/policy.js';
import { decodeSnapshot } from '../../engine/snapshot/codec.js';
import type { GraderChoice, ProfileChoice } from '../../engine/validate/profiles.js';
import { toSeeds } from '../../engine/validate/seeds.js';
import {
  AsyncVecEnv,
  assignEnv,
  type Env,
  openAsyncVecEnv,
  openEnvOn,
} from '../../engine/vec-env/async-vec-env.js';
import { VecEnv } from '../../engine/vec-env/vec-env.js';
import { type EngineOptions, FROM_OPTIONS, type StepResult } from '../../engine/vec-env/vec-env-options.js';
import { InputError } from '../../shared/errors.js';
import { checkInteger, isList, kindOf, readOptions, wrongType } from '../../shared/values.js';
import { MAX_ENVS } from '../../world/fields.js';
import type { WorldSpec } from '../../world/numbers.js';

/** What a policy sees before a step of all rollouts. Rollout i is member `i % groupSize` of group `floor(i / groupSize)`. */
export interface RolloutView extends PolicyView {
  /** The number of groups. */
  readonly groups: number;
  /** The number of rollouts in a group. */
  readonly groupSize: number;
  /** Does the same as `VecEnv.history`. Call it only before the policy returns. */
  history(i: number, last?: number): HistoryStep[];
}

/** A policy, or a function that chooses the actions of all rollouts at once. Either may return a promise. */
export type RolloutPolicy = Policy | PolicyFunction<RolloutView>;

/**
 * Initial states, one per group: some environments of a VecEnv or AsyncVecEnv, which stays unchanged, or all environments of a
 * snapshot.
 */
export type RolloutOrigin = { readonly source: Env; readonly indices: ArrayLike<number> } | Uint8Array;

/** Options of `rolloutGroups`. `backend` is not for `from.source`, which has one. */
export interface RolloutOptions extends EngineOptions {
  /** The seed of each group, u32. Pass either `seeds` or `from`. */
  readonly seeds?: ArrayLike<number>;
  /** Initial states instead of seeds: the bytes of `snapshot()`, or `{ source, indices }`. */
  readonly from?: RolloutOrigin;
  /** The number of rollouts per group, at least 1. All groups together have at most 2^24 rollouts. */
  readonly groupSize: number;
  /** 'random', 'heuristic', a Policy, or a function that is called before every step. */
  readonly policy: 'random' | 'heuristic' | RolloutPolicy;
  /**
   * Seeds of the random policy. 'member' (default): the seed of a rollout is its index within its group. One u32: the seed of
   * all rollouts, so that all rollouts of a group take the same actions.
   */
  readonly policySeeds?: 'member' | number;
  /** The discount of returns to go, in [0, 1]. Default 1. */
  readonly gamma?: number;
  /** Profiles, for all groups or per group; only with `seeds`. Default 'sampled'. */
  readonly profiles?: ProfileChoice;
  /** Graders, for all groups or per group; only with `seeds`. Default 'v2'. */
  readonly grader?: GraderChoice;
  /** A world with other numbers. Not with `from.source`, which has a world. Default: the published world. */
  readonly world?: WorldSpec;
  /** Called after every step with the steps taken and their total, over all rollouts. */
  readonly onProgress?: (done: number, total: number) => void;
  /**
   * When it is aborted, the promise rejects with the signal's reason: at once while a Policy or function runs, otherwise
   * after the engine's work in progress.
   */
  readonly signal?: AbortSignal;
}

/** The names of the options, for their validation. */
export const OPTIONS: readonly (keyof RolloutOptions)[] = [
  'seeds',
  'from',
  'groupSize',
  'policy',
  'policySeeds',
  'gamma',
  'profiles',
  'grader',
  'world',
  'backend',
  'kernel',
  'threads',
  'onProgress',
  'signal',
];

/** All rollouts, before their first step. */
export interface GroupStart {
  /** One environment per rollout, group after group. The caller closes it. */
  readonly env: Env;
  readonly groups: number;
  readonly groupSize: number;
  /** The outputs of `env`. They are views that each step overwrites. */
  readonly outputs: StepResult;
}

/** Opens the environments of all rollouts. @param options from `readOptions`. @throws as `rolloutGroups`. */
export function* startGroups(platform: Platform, options: RolloutOptions): EngineCalls<GroupStart> {
  // Not `using`, which some browsers do not support.
  const origins = yield* openOrigins(platform, options);
  try {
    return yield* copyToRollouts(platform, origins, options);
  } finally {
    yield* resultOf(origins.close());
  }
}

/** Opens one environment per rollout with a copy of its group's state. @param origins one environment per group. */
function* copyToRollouts(platform: Platform, origins: Env, options: RolloutOptions): EngineCalls<GroupStart> {
  const groups = origins.numEnvs;
  const groupSize = checkInteger('groupSize', options.groupSize, 1, Math.floor(MAX_ENVS / groups));
  const { kernel } = options;
  const { backend, imagination, threads } = origins;
  const numEnvs = groups * groupSize;
  const shape = { numEnvs, world: origins.world.spec, imagination, backend, kernel, threads };
  const env = yield* resultOf(
    origins instanceof VecEnv ? openEnvOn(platform, shape) : openAsyncVecEnv(platform, shape),
  );
  const indices = Uint32Array.from({ length: numEnvs }, (_, i) => Math.floor(i / groupSize));
  const outputs = yield* closeOnError(env, () => assignEnv(env, origins, indices));
  return { env, groups, groupSize, outputs };
}

/** Opens one environment per group in its initial state. */
function* openOrigins(platform: Platform, options: RolloutOptions): EngineCalls<Env> {
  const { seeds, from } = options;
  if (from === undefined) return yield* fromSeeds(platform, options);
  if (seeds !== undefined) throw conflictError('seeds', 'from');
  for (const name of ['profiles', 'grader'] as const) {
    if (options[name] !== undefined) throw conflictError(name, 'from');
  }
  const isSnapshot = kindOf(from) !== undefined; // a typed array
  if (isSnapshot) return yield* fromSnapshot(platform, from as Uint8Array, options);
  return yield* resultOf(fromSource(from as Exclude<RolloutOrigin, Uint8Array>, options));
}

function conflictError(name: keyof RolloutOptions, origin: 'from' | 'from.source'): InputError {
  return new InputError('unknown_option', {
    expected: `no "${name}" with "${origin}", which has its own`,
    got: 'both',
    remedy: 'Leave out one of the two options.',
  });
}

function* fromSeeds(platform: Platform, options: RolloutOptions): EngineCalls<Env> {
  const { seeds, profiles, grader, world, backend, kernel, threads } = options;
  if (!isList(seeds)) {
    throw wrongType('seeds', 'an array of u32', seeds, 'Pass one seed per group, or the option "from".');
  }
  const numEnvs = seeds.length;
  if (numEnvs === 0) {
    throw new InputError('wrong_length', {
      expected: 'at least one seed',
      got: 'none',
      remedy: 'Pass one seed per group.',
    });
  }
  checkInteger('the number of seeds', numEnvs, 1, MAX_ENVS);
  const seed = toSeeds(seeds, numEnvs, 'seeds');
  const env = yield* resultOf(
    openEnvOn(platform, { numEnvs, profiles, grader, world, backend, kernel, threads }),
  );
  yield* closeOnError(env, () => env.reset({ seed }));
  return env;
}

function* fromSnapshot(platform: Platform, bytes: Uint8Array, options: RolloutOptions): EngineCalls<Env> {
  const { world, backend, kernel, threads } = options;
  const { numEnvs, autoreset, imagination, seedRange } = decodeSnapshot(bytes);
  const env = yield* resultOf(
    openEnvOn(platform, {
      ...{ numEnvs, autoreset, imagination, seedRange },
      ...{ world, backend, kernel, threads },
    }),
  );
  yield* closeOnError(env, () => env.restore(bytes));
  return env;
}

function fromSource(from: Exclude<RolloutOrigin, Uint8Array>, options: RolloutOptions): Env | Promise<Env> {
  const { source, indices } = readOptions('from', from, FROM_OPTIONS);
  if (!(source instanceof VecEnv || source instanceof AsyncVecEnv)) {
    throw wrongType(
      'from.source',
      'a VecEnv or an AsyncVecEnv',
      source,
      'Pass one of these, or the snapshot() of any other environment as "from".',
    );
  }
  for (const name of ['world', 'backend'] as const) {
    if (options[name] !== undefined) throw conflictError(name, 'from.source');
  }
  return source.fork(indices, { autoreset: 'disabled', threads: options.threads });
}

/** Calls a function that uses an environment. Closes the environment if the function throws. */
function* closeOnError<T>(env: Env, use: () => T): EngineCalls<Awaited<T>> {
  try {
    return yield* resultOf(use());
  } catch (error) {
    yield* resultOf(env.close());
    throw error;
  }
}
