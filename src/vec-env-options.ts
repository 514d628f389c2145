/** What a vector environment takes and returns, and the names that are known. */
import type { Outputs, Trajectory } from './backends/backend.js';
import type { GraderChoice, ProfileChoice } from './validate/persons.js';
import type { SeedChoice } from './validate/seeds.js';
import type { WorldSpec } from './world/spec.js';

export interface VecEnvOptions {
  /**
   * How many episodes are stepped together, 1 to 2^24. The native backend takes about 300 bytes for each, the
   * reference 4 kB and at most 2^18; a run's trajectory takes 1,900 bytes for each.
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
  /** A world with other numbers; start from a copy of `RHYTHM`. Default: the published world. */
  world?: WorldSpec;
  /** Luck and events that no real episode has, for planners. Default false. */
  imagination?: boolean;
}

export interface ResetOptions {
  /** A u32, to which slot i adds i, or a u32 per slot. Default: drawn by the platform; `env.seeds` tells. */
  seed?: SeedChoice;
  /** Default: the environment's own. */
  profiles?: ProfileChoice;
  /** Default: the environment's own. */
  graders?: GraderChoice;
}

export interface StepOptions {
  /** f32 [numEnvs, 3]: social, morning, work, clamped to [0, 1]; a whole row of NaN gives none. */
  beliefs?: Float32Array;
}

/** One object per environment, reused: all arrays are views, valid until the next reset, step or run. */
export interface StepResult extends Outputs {
  /** u8 [numEnvs], always 0: an episode ends at its 28th step, where its score is defined, and nowhere else. */
  readonly truncated: Uint8Array;
}

export interface RunOptions {
  /** [3]: one belief for every step; or f32 [numEnvs, 28, 3] by absolute step, a whole row of NaN gives none. */
  beliefs?: ArrayLike<number>;
  /** Whether to return every step. Default false. */
  trajectory?: boolean;
  /** u32 per slot, for the random policy. Default 0. */
  policySeeds?: SeedChoice;
  /** The step (0 to 28) at which each slot stops. Default 28. */
  stops?: ArrayLike<number>;
}

/** The environment's views, as after the last step that each slot took, and the way there. */
export interface RunResult extends StepResult {
  /** Newly allocated, by absolute step; null unless asked for. Steps not taken by this run have action -1. */
  readonly trajectory: Trajectory | null;
}

export const OPTIONS: readonly (keyof VecEnvOptions)[] = [
  'numEnvs',
  'backend',
  'kernel',
  'threads',
  'profiles',
  'grader',
  'world',
  'imagination',
];
export const RESET_OPTIONS: readonly (keyof ResetOptions)[] = ['seed', 'profiles', 'graders'];
export const STEP_OPTIONS: readonly (keyof StepOptions)[] = ['beliefs'];
export const RUN_OPTIONS: readonly (keyof RunOptions)[] = ['beliefs', 'trajectory', 'policySeeds', 'stops'];
