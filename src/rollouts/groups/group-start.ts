/** Opens the environments of groups: one with the initial state of each group, copied to one for each rollout. */
import type { Platform } from '../../engine/backends/platform.js';
import { decodeSnapshot } from '../../engine/snapshot/decode.js';
import { toSeeds } from '../../engine/validate/seeds.js';
import { openVecEnv, VecEnv } from '../../engine/vec-env/vec-env.js';
import { FROM_OPTIONS, type StepResult } from '../../engine/vec-env/vec-env-options.js';
import { InputError } from '../../shared/errors.js';
import { checkInteger, isList, kindOf, readOptions, wrongType } from '../../shared/values.js';
import { MAX_ENVS } from '../../world/fields.js';
import type { RolloutOptions, RolloutOrigin } from './group-options.js';

/** All rollouts at their first step. */
export interface GroupStart {
  /** One environment per rollout, group after group. The caller closes it. */
  readonly env: VecEnv;
  readonly groups: number;
  readonly groupSize: number;
  /** The outputs of `env`. They are views that each step updates. */
  readonly outputs: StepResult;
}

/** Opens the environments of all rollouts. @param options from `readOptions`. @throws as `rolloutGroups`. */
export function startGroups(platform: Platform, options: RolloutOptions): GroupStart {
  // Not `using`, which some browsers do not support.
  const origins = openOrigins(platform, options);
  try {
    return copyToRollouts(platform, origins, options);
  } finally {
    origins.close();
  }
}

/** Opens one environment per rollout with a copy of its group's state. @param origins one environment per group. */
function copyToRollouts(platform: Platform, origins: VecEnv, options: RolloutOptions): GroupStart {
  const groups = origins.numEnvs;
  const groupSize = checkInteger('groupSize', options.groupSize, 1, Math.floor(MAX_ENVS / groups));
  const { kernel, threads } = options;
  const { backend, imagination } = origins;
  const numEnvs = groups * groupSize;
  const shape = { numEnvs, world: origins.world.spec, imagination, backend, kernel, threads };
  const env = openVecEnv(platform, shape);
  const indices = Uint32Array.from({ length: numEnvs }, (_, i) => Math.floor(i / groupSize));
  const outputs = closeOnError(env, () => env.assign(origins, indices));
  return { env, groups, groupSize, outputs };
}

/** Opens one environment per group in its initial state. */
function openOrigins(platform: Platform, options: RolloutOptions): VecEnv {
  const { seeds, from } = options;
  if (from === undefined) return fromSeeds(platform, options);
  if (seeds !== undefined) throw conflictError('seeds', 'from, which has its own');
  for (const name of ['profiles', 'grader'] as const) {
    if (options[name] !== undefined) throw conflictError(name, 'from, which has its own');
  }
  if (kindOf(from) !== undefined) return fromSnapshot(platform, from as Uint8Array, options);
  return fromSource(from as Exclude<RolloutOrigin, Uint8Array>, options);
}

function conflictError(name: keyof RolloutOptions, other: string): InputError {
  return new InputError(
    'unknown_option',
    `Expected no ${name} with ${other}, got both. Leave out one of them.`,
  );
}

function fromSeeds(platform: Platform, options: RolloutOptions): VecEnv {
  const { seeds, profiles, grader, world, backend, kernel, threads } = options;
  if (!isList(seeds)) {
    throw wrongType('seeds', 'an array of u32, or from', seeds, 'Pass one seed per group.');
  }
  const numEnvs = seeds.length;
  if (numEnvs === 0) {
    throw new InputError('wrong_length', 'Expected at least one seed, got none. Pass one seed per group.');
  }
  checkInteger('the number of seeds', numEnvs, 1, MAX_ENVS);
  const seed = toSeeds(seeds, numEnvs, 'seeds');
  const env = openVecEnv(platform, { numEnvs, profiles, grader, world, backend, kernel, threads });
  closeOnError(env, () => env.reset({ seed }));
  return env;
}

function fromSnapshot(platform: Platform, bytes: Uint8Array, options: RolloutOptions): VecEnv {
  const { world, backend, kernel, threads } = options;
  const { numEnvs, autoreset, imagination, seedRange } = decodeSnapshot(bytes);
  const env = openVecEnv(platform, {
    ...{ numEnvs, autoreset, imagination, seedRange },
    ...{ world, backend, kernel, threads },
  });
  closeOnError(env, () => env.restore(bytes));
  return env;
}

function fromSource(from: Exclude<RolloutOrigin, Uint8Array>, options: RolloutOptions): VecEnv {
  const { source, indices } = readOptions('from', from, FROM_OPTIONS);
  if (!(source instanceof VecEnv)) {
    throw wrongType(
      'from.source',
      'a VecEnv',
      source,
      'Pass one, or the snapshot() of any other environment as from.',
    );
  }
  for (const name of ['world', 'backend'] as const) {
    if (options[name] !== undefined) throw conflictError(name, 'from.source, which has its own');
  }
  return source.fork(indices, { autoreset: 'disabled', threads: options.threads });
}

/** Calls a function that uses an environment. Closes the environment if the function throws. */
function closeOnError<T>(env: VecEnv, use: () => T): T {
  try {
    return use();
  } catch (error) {
    env.close();
    throw error;
  }
}
