/** Starts groups: opens one environment per group, and from its states one per rollout. */
import type { Platform } from '../../engine/backends/platform.js';
import { decodeSnapshot } from '../../engine/snapshot/decode.js';
import { toSeeds } from '../../engine/validate/seeds.js';
import { openVecEnv, VecEnv } from '../../engine/vec-env/vec-env.js';
import { FROM_OPTIONS, type StepResult } from '../../engine/vec-env/vec-env-options.js';
import { InputError } from '../../shared/errors.js';
import { checkInteger, isList, kindOf, readOptions, wrongType } from '../../shared/values.js';
import { MAX_ENVS } from '../../world/fields.js';
import type { RolloutOptions, RolloutOrigin } from './group-options.js';

/** Rollouts at their first step, group by group. The caller closes `env`. */
export interface GroupStart {
  readonly env: VecEnv;
  readonly groups: number;
  readonly groupSize: number;
  /** The outputs of `env`: views that every step updates. */
  readonly shown: StepResult;
}

/** Opens the environments of all rollouts. @param options as `readOptions` returns them. @throws as `rolloutGroups`. */
export function start(platform: Platform, options: RolloutOptions): GroupStart {
  // Not `using`, which some browsers do not support.
  const starts = openStarts(platform, options);
  try {
    return branch(platform, starts, options);
  } finally {
    starts.close();
  }
}

function branch(platform: Platform, starts: VecEnv, options: RolloutOptions): GroupStart {
  const groups = starts.numEnvs;
  const groupSize = checkInteger('groupSize', options.groupSize, 1, Math.floor(MAX_ENVS / groups));
  const { kernel, threads } = options;
  const { backend, imagination } = starts;
  const numEnvs = groups * groupSize;
  const shape = { numEnvs, world: starts.world.spec, imagination, backend, kernel, threads };
  const env = openVecEnv(platform, shape);
  const indices = Uint32Array.from({ length: numEnvs }, (_, i) => Math.floor(i / groupSize));
  const shown = orClosed(env, () => env.assign(starts, indices));
  return { env, groups, groupSize, shown };
}

function openStarts(platform: Platform, options: RolloutOptions): VecEnv {
  const { seeds, from } = options;
  if (from === undefined) return fromSeeds(platform, options);
  if (seeds !== undefined) throw refused('seeds', 'from, which has its own');
  for (const name of ['profiles', 'grader'] as const) {
    if (options[name] !== undefined) throw refused(name, 'from, whose episodes have theirs');
  }
  if (kindOf(from) !== undefined) return fromSnapshot(platform, from as Uint8Array, options);
  return fromSource(from as Exclude<RolloutOrigin, Uint8Array>, options);
}

function refused(name: keyof RolloutOptions, other: string): InputError {
  return new InputError(
    'unknown_option',
    `Expected no ${name} with ${other}, got some. Leave one of the two out.`,
  );
}

function fromSeeds(platform: Platform, options: RolloutOptions): VecEnv {
  const { seeds, profiles, grader, world, backend, kernel, threads } = options;
  if (!isList(seeds)) {
    throw wrongType('seeds', 'an array of u32, or from', seeds, 'Pass a seed for each group.');
  }
  const numEnvs = seeds.length;
  if (numEnvs === 0) {
    throw new InputError(
      'wrong_length',
      'Expected at least one of seeds, got none. Pass one for each group.',
    );
  }
  checkInteger('the number of seeds', numEnvs, 1, MAX_ENVS);
  const seed = toSeeds(seeds, numEnvs, 'seeds');
  const env = openVecEnv(platform, { numEnvs, profiles, grader, world, backend, kernel, threads });
  orClosed(env, () => env.reset({ seed }));
  return env;
}

function fromSnapshot(platform: Platform, bytes: Uint8Array, options: RolloutOptions): VecEnv {
  const { world, backend, kernel, threads } = options;
  const { numEnvs, autoreset, imagination, seedRange } = decodeSnapshot(bytes);
  const env = openVecEnv(platform, {
    ...{ numEnvs, autoreset, imagination, seedRange },
    ...{ world, backend, kernel, threads },
  });
  orClosed(env, () => env.restore(bytes));
  return env;
}

function fromSource(from: Exclude<RolloutOrigin, Uint8Array>, options: RolloutOptions): VecEnv {
  const { source, indices } = readOptions('from', from, FROM_OPTIONS);
  if (!(source instanceof VecEnv)) {
    throw wrongType(
      'from.source',
      'a VecEnv',
      source,
      'Pass one; of any other environment, pass what its snapshot() returns as from.',
    );
  }
  for (const name of ['world', 'backend'] as const) {
    if (options[name] !== undefined) throw refused(name, 'from.source, which has its own');
  }
  return source.fork(indices, { autoreset: 'disabled', threads: options.threads });
}

/** Runs `act` on an environment, and closes the environment if it fails. */
function orClosed<T>(env: VecEnv, act: () => T): T {
  try {
    return act();
  } catch (error) {
    env.close();
    throw error;
  }
}
