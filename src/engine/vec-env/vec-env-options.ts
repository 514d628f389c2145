/** Options and results of vector environments, and their names. */

import type { WorldSpec } from '../../world/numbers.js';
import type {
  BackendName,
  KernelName,
  OutputName,
  Outputs,
  SyncBackendName,
  TrajectoryField,
  TrajectoryOf,
} from '../backends/backend.js';
import type { WebGpuOptions } from '../backends/device-options.js';
import type { ObservationOptions } from '../observe/encoding.js';
import type { GraderChoice, ProfileChoice } from '../validate/profiles.js';
import type { SeedChoice } from '../validate/seeds.js';
import type { StartStates } from '../validate/starts.js';
import type { Mask } from '../validate/steps.js';
import type { AutoresetMode } from './autoreset.js';

// Declares AbortSignal for projects without the types of Node or browsers. Elsewhere the declarations merge.
declare global {
  interface AbortSignal {}
}

/** The layouts of outputs and trajectories. */
export const LAYOUTS = ['row-major', 'column-major'] as const;

/** Options of `createVecEnv`. A missing or undefined option takes its default. */
export interface VecEnvOptions {
  /**
   * The number of environments in the batch, 1 to 2^24. Each takes about 415 bytes with the native backend, 600 with `wasm`,
   * whose memory has at most 4 GiB, and 4 kB with the reference, which allows at most 2^18. A whole trajectory of a run takes
   * another 1,850 bytes for each. On `wasm` each open batch also reserves about 10 GiB of addresses (not of memory).
   */
  numEnvs: number;
  /** 'auto' (default: the fastest available), 'native', 'wasm' or 'reference'. */
  backend?: SyncBackendName;
  /**
   * A native kernel: 'avx512', 'avx2', 'portable' or 'scalar'. Default: the environment variable `RHYTHM_KERNEL`, else the
   * fastest available, which is 'scalar' for one or two environments.
   */
  kernel?: KernelName;
  /**
   * Threads of the native backend for large batches, 1 to 256. Changes no result. Default: the number of processors, at most
   * 256. `wasm` has one thread, and requested by its name refuses more: open an environment in each of several workers instead.
   */
  threads?: number;
  /** The profiles for resets that do not pass `profiles`. Default 'sampled'. */
  profiles?: ProfileChoice;
  /** The graders for resets that do not pass `graders`. Default 'v2'. */
  grader?: GraderChoice;
  /** How environments are reset after their episodes end. Default 'disabled': a finished environment waits for `reset`. */
  autoreset?: AutoresetMode;
  /**
   * `[low, size]`: the allowed seeds, from low to low + size - 1. Autoreset adds numEnvs to a seed and wraps at the end.
   * Default: every u32.
   */
  seedRange?: readonly [low: number, size: number];
  /** The fields of an observation, and their encoding. Default: OBSERVATION_FIELDS without encoding. */
  observation?: ObservationOptions;
  /**
   * 'row-major' (default): the numbers of an environment are adjacent. 'column-major': number k of environment i is at
   * `k * columnStride + i`. 'column-major' steps faster, and suits code that computes field by field.
   */
  layout?: (typeof LAYOUTS)[number];
  /** Whether each result is a copy. With false, results are views, which the next call overwrites. Default false. */
  copy?: boolean;
  /** A world with other numbers; start from a copy of `RHYTHM`. Default: the published world. */
  world?: WorldSpec;
  /**
   * Whether noise and events come from the imagination streams, which no real episode uses. For planners. Default false.
   */
  imagination?: boolean;
}

/** Options of `createAsyncVecEnv`. */
export interface AsyncVecEnvOptions extends VecEnvOptions {
  /** 'auto' (default: the fastest available), or a name that `listAsyncBackends` lists. */
  backend?: BackendName;
  /** How the webgpu backend chooses and uses its device; other backends ignore it. */
  webgpu?: WebGpuOptions;
}

/** Where environments, or other computations, run. It changes no result. */
export type EngineOptions = Readonly<Pick<AsyncVecEnvOptions, 'backend' | 'kernel' | 'threads'>>;

/** Options of `reset`. */
export interface ResetOptions {
  /** A u32 s: environment i plays seed s + i. Or a u32 per environment. Default: random. `env.seeds` has the seeds. */
  seed?: SeedChoice;
  /** The environments to reset. Default: all; the first reset must be of all. */
  mask?: Mask;
  /** The profiles, for all environments or per environment. Default: as in the options of the vector environment. */
  profiles?: ProfileChoice;
  /** The graders, for all environments or per environment. Default: as in the options of the vector environment. */
  graders?: GraderChoice;
  /**
   * The states in which the episodes begin: steps taken, meters, sums and beliefs. The episodes begin without history.
   * Default: step 0.
   */
  start?: StartStates;
}

/** Options of `step`. */
export interface StepOptions {
  /**
   * [numEnvs, 3], flat: social, morning, work, clamped to [0, 1]; a row of three NaN is no belief. Or `[3]`: one belief for all
   * environments.
   */
  beliefs?: ArrayLike<number>;
  /**
   * The environments that step. Default: all. The others keep their state; their actions and beliefs are ignored, and their
   * rewards are 0.
   */
  mask?: Mask;
}

/**
 * The outputs of a call. Each vector environment reuses one frozen object, whose arrays are views, valid until the next
 * reset, step, run, assign or restore. With `copy: true` each result is a new object. The option `layout` applies to arrays
 * of several numbers per environment. `finalScores`, `components`, `beliefMae`, `firstHalfMeans`, `secondHalfMeans`,
 * `episodeReturns` and `episodeLengths` hold the results of an episode that has ended, even if its last step also reset the
 * environment. For other environments they are 0, never NaN.
 */
export interface StepResult extends Outputs {
  /** f32 [numEnvs, width], fields as in `env.observationFields`. */
  readonly observations: Float32Array;
  /** u8 [numEnvs], always 0: an episode ends at its 28th step, and never earlier. */
  readonly truncated: Uint8Array;
}

/** Options to observe and to abort a long call. */
export interface LongCallOptions {
  /**
   * Called after each slice of at most 16,384 environments (2^20 on a GPU), with the number of finished environments and the
   * total. The function may abort `signal`.
   */
  onProgress?: (done: number, total: number) => void;
  /**
   * If the signal is aborted, the call throws its reason before the next slice. Environments of finished slices have
   * advanced, the others have not. Only `onProgress` can abort a synchronous call that has begun.
   */
  signal?: AbortSignal;
}

/** Options of a run. @typeParam Source the type of `from.source`: VecEnv or AsyncVecEnv. */
export interface RunOptionsFrom<Source, Field extends TrajectoryField = TrajectoryField>
  extends LongCallOptions {
  /**
   * `[3]`: one finite belief for every step; or [numEnvs, 28, 3], flat, by the episode's step, where a row of three NaN
   * is no belief. Default: no beliefs.
   */
  beliefs?: ArrayLike<number>;
  /** Whether to return all steps, or a list of the fields to return, such as `['actions', 'rewards']`. Default false. */
  trajectory?: boolean | readonly Field[];
  /**
   * The layout of the trajectory. 'row-major' (default): the numbers of an environment are adjacent. 'column-major': number k
   * of environment i's row is at `k * columnStride + i`. 'column-major' is written faster.
   */
  layout?: (typeof LAYOUTS)[number];
  /**
   * Seeds of the random policy: a u32 s for seed s + i of environment i, or a u32 per environment. Default: 0 for every
   * environment.
   */
  policySeeds?: SeedChoice;
  /** The step (0 to 28) at which each environment stops. Default 28. */
  stops?: ArrayLike<number>;
  /**
   * Environments to copy first, from another vector environment with the same backend, device and world. With this option,
   * the vector environment need not have been reset. Default: none.
   */
  from?: { readonly source: Source; readonly indices: ArrayLike<number> };
}

/** Options of an asynchronous run, whose outputs are read back. */
export interface AsyncRunOptionsFrom<Source, Field extends TrajectoryField = TrajectoryField>
  extends RunOptionsFrom<Source, Field> {
  /** Names of the outputs to read back. The others keep their values, as with `read`. Default: all. */
  outputs?: readonly OutputName[];
}

/** The outputs of each environment's last step, and the trajectory. */
export interface RunResult<Field extends TrajectoryField = TrajectoryField> extends StepResult {
  /**
   * The requested fields of the steps, newly allocated, by the episode's step; null without the option `trajectory`. Steps
   * that this run did not take have action and event -1, and 0 in all other fields.
   */
  readonly trajectory: TrajectoryOf<Field> | null;
}

/** The profiles and seeds of an imagined fork. */
export interface ImaginedProfiles {
  /**
   * The profiles that replace the hidden ones: f32 [indices.length, 16], such as posterior samples; or 'prior' to draw
   * them like sampled profiles, on a stream that no real episode uses.
   */
  profiles: 'prior' | Float32Array;
  /**
   * The seeds of the imagined noise and events, and of the profiles of 'prior': a u32 s for seed s + i of copy i, or a
   * u32 per copy. Copies with equal seeds have equal noise and events. The seeds must be in the source's seedRange.
   * Default: random.
   */
  seed?: SeedChoice;
}

/** The options of a fork that may differ from its source's. */
export interface ForkOptions {
  /**
   * As in `VecEnvOptions`. Default: the source's value. Even with true, a fork keeps the hidden profile, so a policy that
   * uses the fork is an oracle (`Policy.usesHiddenState`). `{ profiles }` also replaces the profile and the seed; then
   * the fork reveals nothing about the hidden profile that the agent has not observed.
   */
  imagination?: boolean | ImaginedProfiles;
  /** As in `VecEnvOptions`. Default: the source's value. */
  autoreset?: AutoresetMode;
  /** As in `VecEnvOptions`. Default: the source's value. */
  threads?: number;
}

/** The names of the options of each call, against which options are checked. */
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
  'layout',
  'policySeeds',
  'stops',
  'from',
  'onProgress',
  'signal',
];
export const ASYNC_RUN_OPTIONS: readonly (keyof AsyncRunOptionsFrom<unknown>)[] = [...RUN_OPTIONS, 'outputs'];
export const IMAGINED_OPTIONS: readonly (keyof ImaginedProfiles)[] = ['profiles', 'seed'];
export const FORK_OPTIONS: readonly (keyof ForkOptions)[] = ['imagination', 'autoreset', 'threads'];
export const FROM_OPTIONS = ['source', 'indices'] as const;
