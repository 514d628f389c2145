/** Options and results of vector environments, and their names. */

import type { WorldSpec } from '../../world/numbers.js';
import type { OutputName } from '../backends/async-backend.js';
import type { Outputs, Trajectory } from '../backends/backend.js';
import type { ObservationOptions } from '../observe/observation-options.js';
import type { AutoresetMode } from '../validate/autoreset-modes.js';
import type { Mask } from '../validate/masks.js';
import type { GraderChoice, ProfileChoice } from '../validate/profiles.js';
import type { SeedChoice } from '../validate/seeds.js';
import type { StartStates } from '../validate/starts.js';
import type { WebGpuOptions } from './device-options.js';

// Declares the type for projects that have neither Node's types nor those of browsers. It merges with theirs.
declare global {
  interface AbortSignal {}
}

export const LAYOUTS = ['row-major', 'column-major'] as const;

/** Options of `createVecEnv`. A missing or undefined option takes its default. */
export interface VecEnvOptions {
  /**
   * The number of environments in the batch, 1 to 2^24. Each takes about 380 bytes with the native backend and 4 kB
   * with the reference, which allows at most 2^18. The trajectory of a run takes another 1,900 bytes for each.
   */
  numEnvs: number;
  /** 'auto' (default: the fastest available), 'native' or 'reference'. */
  backend?: string;
  /**
   * A native kernel: 'avx512', 'avx2', 'portable' or 'scalar'. Default: `RHYTHM_KERNEL`, else the fastest available.
   */
  kernel?: string;
  /** Threads for large batches, 1 to 256; changes no result. Default: as many as the machine offers. */
  threads?: number;
  /** The profiles of resets without `profiles`. Default 'sampled'. */
  profiles?: ProfileChoice;
  /** The graders of resets without `graders`. Default 'v2'. */
  grader?: GraderChoice;
  /** How finished episodes are reset. Default 'disabled': a finished environment waits for `reset`. */
  autoreset?: AutoresetMode;
  /** `[low, size]`: the allowed seeds. Autoreset steps through them by numEnvs. Default: every u32. */
  seedRange?: readonly [low: number, size: number];
  /** The fields of an observation, and their encoding. Default: OBSERVATION_FIELDS without encoding. */
  observation?: ObservationOptions;
  /**
   * 'row-major' (default): the numbers of an environment are adjacent. 'column-major': number k of environment i is at
   * `k * columnStride + i`. This steps faster, and suits code that computes field by field.
   */
  layout?: (typeof LAYOUTS)[number];
  /** Whether each result is a copy. Otherwise results are views, which the next call overwrites. Default false. */
  copy?: boolean;
  /** A world with other numbers; start from a copy of `RHYTHM`. Default: the published world. */
  world?: WorldSpec;
  /** Whether noise and events come from streams that no real episode uses, for planners. Default false. */
  imagination?: boolean;
}

/** Options of `createAsyncVecEnv`. */
export interface AsyncVecEnvOptions extends VecEnvOptions {
  /** 'auto' (default: the fastest available), or a name that `listAsyncBackends` lists. */
  backend?: string;
  /** How the webgpu backend chooses and uses its device; other backends ignore it. */
  webgpu?: WebGpuOptions;
}

/** Options of `reset`. */
export interface ResetOptions {
  /** A u32, to which environment i adds i, or a u32 per environment. Default: random; `env.seeds` has them. */
  seed?: SeedChoice;
  /** The environments to reset. Default: all; the first reset must be of all. */
  mask?: Mask;
  /** For all environments, or per environment. Default: the environment's own. */
  profiles?: ProfileChoice;
  /** For all environments, or per environment. Default: the environment's own. */
  graders?: GraderChoice;
  /**
   * The states in which the episodes begin: steps taken, meters and sums. No belief is given yet, and the history is
   * empty. Default: step 0.
   */
  start?: StartStates;
}

/** Options of `step`. */
export interface StepOptions {
  /**
   * [numEnvs, 3], flat: social, morning, work, clamped to [0, 1]; a row of three NaN gives no belief. A Float32Array is
   * used without a copy.
   */
  beliefs?: ArrayLike<number>;
  /**
   * The environments that step; default all. The others keep their state: their action and belief are ignored, their
   * reward is 0.
   */
  mask?: Mask;
}

/**
 * The outputs of a call. One frozen object per vector environment, reused: its arrays are views, valid until the next
 * reset, step, run, assign or restore (with `copy: true` each result is new). `layout` is the layout of arrays of
 * several numbers per environment. From `finalScores` on, environments whose episode has not ended hold 0, never NaN.
 */
export interface StepResult extends Outputs {
  /** f32 [numEnvs, width], fields as in `env.observationFields`. */
  readonly observations: Float32Array;
  /** u8 [numEnvs], always 0: an episode ends at its 28th step, where its score is defined, and nowhere else. */
  readonly truncated: Uint8Array;
}

/** Progress and abortion of a long call. */
export interface LongCallOptions {
  /**
   * Called after each slice of environments, with the number of finished environments and the total. It may abort
   * `signal`.
   */
  onProgress?: (done: number, total: number) => void;
  /**
   * If aborted, the call throws the signal's reason before the next slice. Environments of finished slices have
   * advanced, the others have not. A synchronous call notices only an abort from `onProgress`, or from before the call.
   */
  signal?: AbortSignal;
}

/** Options of a run. @typeParam Source the environment to begin from: VecEnv or AsyncVecEnv. */
export interface RunOptionsFrom<Source> extends LongCallOptions {
  /**
   * `[3]`: one belief for every step; or [numEnvs, 28, 3], flat, by absolute step: a row of three NaN gives no belief.
   */
  beliefs?: ArrayLike<number>;
  /** Whether to return all steps. Default false. */
  trajectory?: boolean;
  /**
   * Seeds of the random policy: a u32, to which environment i adds i, or a u32 per environment. Default: 0 for every
   * environment.
   */
  policySeeds?: SeedChoice;
  /** The step (0 to 28) at which each environment stops. Default 28. */
  stops?: ArrayLike<number>;
  /**
   * States to begin from: environments of another vector environment with the same backend and world. Then this one
   * need not have been reset. Default: the present states.
   */
  from?: { readonly source: Source; readonly indices: ArrayLike<number> };
}

/** Options of an asynchronous run, whose outputs are read back. */
export interface AsyncRunOptionsFrom<Source> extends RunOptionsFrom<Source> {
  /** Names of the outputs to read back; the others keep their values, as with `read`. Default: all. */
  outputs?: readonly OutputName[];
}

/** The outputs of each environment's last step, and the trajectory. */
export interface RunResult extends StepResult {
  /**
   * Newly allocated, row-major by absolute step; null without the option. Steps that this run did not take have action
   * -1.
   */
  readonly trajectory: Trajectory | null;
}

/** The options in which a fork may differ from its source. */
export interface ForkOptions {
  /** Default: as the source. */
  imagination?: boolean;
  /** Default: as the source. */
  autoreset?: AutoresetMode;
  /** Default: as the source. */
  threads?: number;
}

export const OPTIONS: readonly (keyof VecEnvOptions)[] = [
  'numEnvs',
  'backend',
  'kernel',
  'threads',
  'profiles',
  'grader',
  'autoreset',
  'seedRange',
  'observation',
  'layout',
  'copy',
  'world',
  'imagination',
];
export const ASYNC_OPTIONS: readonly (keyof AsyncVecEnvOptions)[] = [...OPTIONS, 'webgpu'];
export const RESET_OPTIONS: readonly (keyof ResetOptions)[] = [
  'seed',
  'mask',
  'profiles',
  'graders',
  'start',
];
export const STEP_OPTIONS: readonly (keyof StepOptions)[] = ['beliefs', 'mask'];
export const RUN_OPTIONS: readonly (keyof RunOptionsFrom<unknown>)[] = [
  'beliefs',
  'trajectory',
  'policySeeds',
  'stops',
  'from',
  'onProgress',
  'signal',
];
export const ASYNC_RUN_OPTIONS: readonly (keyof AsyncRunOptionsFrom<unknown>)[] = [...RUN_OPTIONS, 'outputs'];
export const FORK_OPTIONS: readonly (keyof ForkOptions)[] = ['imagination', 'autoreset', 'threads'];
export const FROM_OPTIONS = ['source', 'indices'] as const;
