/** Validates the options of an environment. */

import { checkInteger, checkName, readOptions, toFlag } from '../../shared/values.js';
import { MAX_ENVS, MAX_THREADS } from '../../world/fields.js';
import { createWorld, type World } from '../../world/world.js';
import type { OutputLayout } from '../backends/backend.js';
import { type ObservationOptions, toObservationOptions } from '../observe/encoding.js';
import { type EnvProfiles, toGraders, toProfiles } from '../validate/profiles.js';
import { type SeedSpan, toSeedSpan } from '../validate/seeds.js';
import { AUTORESET_MODES, type AutoresetMode } from './autoreset.js';
import { LAYOUTS, OPTIONS, type VecEnvOptions } from './vec-env-options.js';

/** The profiles and graders of resets that do not specify them. */
export interface Defaults {
  readonly profiles: EnvProfiles;
  /** f32 [numEnvs, 8]. */
  readonly graders: Float32Array;
}

/** The validated options of an environment. */
export interface Settings extends Defaults {
  /** `backend` and `kernel` are validated later, when the batch is opened. */
  readonly backend: string | undefined;
  readonly kernel: string | undefined;
  readonly numEnvs: number;
  readonly world: World;
  readonly imagination: boolean;
  /** 1 to 256; null for the backend's default. */
  readonly threads: number | null;
  readonly autoreset: AutoresetMode;
  /** The allowed seeds: `seedRange`, by default every u32. */
  readonly span: SeedSpan;
  readonly layout: OutputLayout;
  readonly observation: ObservationOptions;
  readonly copy: boolean;
  /** Copies of the options that a fork inherits. */
  readonly inheritedOptions: VecEnvOptions;
}

/**
 * Validates options and fills in the defaults. Null, which JSON may contain, is not a valid option.
 * @param defaults profiles and graders to use in place of the options' own.
 */
export function toSettings(given: VecEnvOptions, defaults?: Defaults): Settings {
  const options = readOptions('options', given, OPTIONS);
  const { backend, kernel } = options;
  const { autoreset: mode = 'disabled', layout: order = 'row-major' } = options;
  const numEnvs = checkInteger('numEnvs', options.numEnvs, 1, MAX_ENVS);
  const threads =
    options.threads === undefined ? null : checkInteger('threads', options.threads, 1, MAX_THREADS);
  const autoreset = checkName('autoreset', mode, AUTORESET_MODES);
  const columnMajor = checkName('layout', order, LAYOUTS) === 'column-major';
  const copy = toFlag('copy', options.copy);
  const observation = toObservationOptions(options.observation);
  const world = createWorld(options.world);
  const imagination = toFlag('imagination', options.imagination);
  const span = toSeedSpan(options.seedRange);
  return {
    ...{ backend, kernel, numEnvs, world, imagination, threads, autoreset, span, observation, copy },
    layout: { columnMajor, finalObservations: autoreset === 'same-step' },
    ...(defaults ?? toDefaults(options, world, numEnvs)),
    inheritedOptions: Object.freeze({
      ...{ numEnvs, imagination, threads: threads ?? undefined, autoreset, observation, copy },
      ...{ layout: order, seedRange: [span.low, span.size] as const, world: world.spec },
    }),
  };
}

function toDefaults(
  { profiles = 'sampled', grader = 'v2' }: VecEnvOptions,
  world: World,
  numEnvs: number,
): Defaults {
  return { profiles: toProfiles(world, profiles, numEnvs), graders: toGraders(world, grader, numEnvs) };
}
