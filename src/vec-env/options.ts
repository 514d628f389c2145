/** What a vector environment takes and returns, and the names that are known. */
import type { OutputName } from '../backends/async-backend.js';
import type { Outputs, Trajectory } from '../backends/backend.js';
import type { ObservationOptions } from '../observe/options.js';
import type { AutoresetMode } from '../validate/autoreset-modes.js';
import type { Mask } from '../validate/masks.js';
import type { GraderChoice, ProfileChoice } from '../validate/persons.js';
import type { SeedChoice } from '../validate/seeds.js';
import type { StartStates } from '../validate/starts.js';
import type { WorldSpec } from '../world/spec.js';
import type { WebGpuOptions } from './device-options.js';

// Adds nothing to the one that Node's types and browsers' have, and lets those who have neither read these types too.
declare global {
  interface AbortSignal {}
}

export const LAYOUTS = ['row-major', 'column-major'] as const;

export interface VecEnvOptions {
  /**
   * How many episodes are stepped together, 1 to 2^24. Each takes about 380 bytes with the native backend, 4 kB with
   * the reference, which takes at most 2^18; a run's trajectory takes another 1,900 for each.
   */
  numEnvs: number;
  /** 'auto' (default: the fastest available), 'native' or 'reference'. */
  backend?: string;
  /** A native kernel: 'avx512', 'avx2', 'portable' or 'scalar'. Default: `RHYTHM_KERNEL`, else the best there is. */
  kernel?: string;
  /** Threads for large batches, 1 to 256; changes no result. Default: as many as the machine offers. */
  threads?: number;
  /** Who the persons are, unless a reset says otherwise. Default 'sampled'. */
  profiles?: ProfileChoice;
  /** How finished episodes are graded, unless a reset says otherwise. Default 'v2'. */
  grader?: GraderChoice;
  /** What follows an episode's end. Default 'disabled': a finished slot waits for `reset`. */
  autoreset?: AutoresetMode;
  /** [low, size]: the seeds that may be played. Autoreset walks through them, numEnvs apart. Default: every u32. */
  seedRange?: readonly [low: number, size: number];
  /** Which fields an agent sees, and how they are encoded. Default: OBSERVATION_FIELDS as they are. */
  observation?: ObservationOptions;
  /**
   * 'row-major' (default): the numbers of a slot follow each other. 'column-major': number k of slot i stands at
   * `k * columnStride + i`; it steps faster, and suits whoever computes field by field.
   */
  layout?: (typeof LAYOUTS)[number];
  /** Whether each result is a copy of its own rather than views that the next call overwrites. Default false. */
  copy?: boolean;
  /** A world with other numbers; start from a copy of `RHYTHM`. Default: the published world. */
  world?: WorldSpec;
  /** Luck and events that no real episode has, for planners. Default false. */
  imagination?: boolean;
}

export interface AsyncVecEnvOptions extends VecEnvOptions {
  /** 'auto' (default: the fastest available), or the name of one that `listAsyncBackends` lists. */
  backend?: string;
  /** How the webgpu backend chooses and drives its device; every other backend ignores it. */
  webgpu?: WebGpuOptions;
}

export interface ResetOptions {
  /** A u32, to which slot i adds i, or a u32 per slot. Default: drawn by the platform; `env.seeds` tells. */
  seed?: SeedChoice;
  /** The slots that begin anew. Default: all, and the first reset must be of all. */
  mask?: Mask;
  /** For all slots, or per slot. Default: the environment's own. */
  profiles?: ProfileChoice;
  /** For all slots, or per slot. Default: the environment's own. */
  graders?: GraderChoice;
  /**
   * Where the episodes begin: after so many steps, with these meters and sums, with no belief given yet. They have no
   * history before that. Default: with the week, at step 0.
   */
  start?: StartStates;
}

export interface StepOptions {
  /**
   * [numEnvs, 3], flat: social, morning, work, clamped to [0, 1]; a whole row of NaN gives none. A Float32Array is used
   * as it is, without a copy.
   */
  beliefs?: ArrayLike<number>;
  /** The slots that step. The others do not move: their action and belief are ignored, their reward is 0. Default: all. */
  mask?: Mask;
}

/**
 * What a call leaves. One frozen object per environment, reused: its arrays are views, valid until the next reset,
 * step, run, assign or restore (with `copy: true` all of it is new each time). Arrays of several numbers a slot lie as
 * `layout` says. From `finalScores` on, slots whose episode has not ended hold 0, never NaN.
 */
export interface StepResult extends Outputs {
  /** f32 [numEnvs, width]: what the agent sees, fields as in `env.observationFields`. */
  readonly observations: Float32Array;
  /** u8 [numEnvs], always 0: an episode ends at its 28th step, where its score is defined, and nowhere else. */
  readonly truncated: Uint8Array;
}

/** How a long call is watched and stopped. */
export interface LongCallOptions {
  /**
   * Called after each slice of slots, with the slots done and their total. It may abort `signal`.
   */
  onProgress?: (done: number, total: number) => void;
  /**
   * Aborting it makes the call throw the signal's reason at the next slice. Slots of slices that were done have moved,
   * the others have not. A synchronous call sees only what `onProgress` or the caller before it has aborted.
   */
  signal?: AbortSignal;
}

/** @typeParam Source what a run may begin from: a VecEnv, of which this file knows nothing. */
export interface RunOptionsFrom<Source> extends LongCallOptions {
  /** [3]: one belief for every step; or [numEnvs, 28, 3], flat, by absolute step: a whole row of NaN gives none. */
  beliefs?: ArrayLike<number>;
  /** Whether to return every step. Default false. */
  trajectory?: boolean;
  /** Of the random policy: a u32, to which slot i adds i, or a u32 per slot. Default: 0 for every slot. */
  policySeeds?: SeedChoice;
  /** The step (0 to 28) at which each slot stops. Default 28. */
  stops?: ArrayLike<number>;
  /**
   * Slots of another environment, of the same backend and world, to begin from: this one need not have been reset.
   * Default: the slots as they are.
   */
  from?: { readonly source: Source; readonly indices: ArrayLike<number> };
}

/** The same where what a run leaves is read back. */
export interface AsyncRunOptionsFrom<Source> extends RunOptionsFrom<Source> {
  /** Names of the outputs to bring back; the others keep what they show, as by `read`. Default: all. */
  outputs?: readonly OutputName[];
}

/** The environment's views, as after the last step that each slot took, and the way there. */
export interface RunResult extends StepResult {
  /** Newly allocated, row-major by absolute step; null unless asked for. Steps not taken by this run have action -1. */
  readonly trajectory: Trajectory | null;
}

/** What a fork may do otherwise than its source. */
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
/** Those of a run that is read back. */
export const ASYNC_RUN_OPTIONS: readonly (keyof AsyncRunOptionsFrom<unknown>)[] = [...RUN_OPTIONS, 'outputs'];
export const FORK_OPTIONS: readonly (keyof ForkOptions)[] = ['imagination', 'autoreset', 'threads'];
export const FROM_OPTIONS = ['source', 'indices'] as const;
