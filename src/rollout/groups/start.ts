/** Where groups begin: an environment with a slot for each, and one with a slot for each of their rollouts. */
import type { Platform } from '../../backends/platform.js';
import { InputError } from '../../errors.js';
import { decodeSnapshot } from '../../snapshot/decode.js';
import { toSeeds } from '../../validate/seeds.js';
import { checkInteger, isList, kindOf, lengthOf, readOptions, wrongType } from '../../validate/values.js';
import { FROM_OPTIONS, type StepResult } from '../../vec-env/options.js';
import { openVecEnv, VecEnv } from '../../vec-env/vec-env.js';
import { MAX_ENVS } from '../../world/fields.js';
import type { RolloutOptions, RolloutOrigin } from './options.js';

/** Rollouts that stand where they begin, group by group. Whoever opens them closes `env`. */
export interface Started {
  readonly env: VecEnv;
  readonly groups: number;
  readonly groupSize: number;
  /** What `env` shows: views, kept up to date. */
  readonly shown: StepResult;
}

/** @param options as `readOptions` gives them. @throws as `rolloutGroups`. */
export function start(platform: Platform, options: RolloutOptions): Started {
  // Not `using`, which browsers do not all know.
  const starts = openStarts(platform, options);
  try {
    return branch(platform, starts, options);
  } finally {
    starts.close();
  }
}

function branch(platform: Platform, starts: VecEnv, options: RolloutOptions): Started {
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
  const numEnvs = lengthOf(seeds);
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

/** What is done with an environment; if that fails, it is not left open. */
function orClosed<T>(env: VecEnv, act: () => T): T {
  try {
    return act();
  } catch (error) {
    env.close();
    throw error;
  }
}
