/**
 * The backend interface. A backend opens batches. A batch holds the states of its episodes and steps them.
 *
 * Arguments are valid: vec-env validates them for every backend. The batch itself detects only two errors, because it
 * finds them faster: an illegal action, and a step after the episode's end. For these a call returns a `Refusal` and
 * changes nothing. Calls on one batch take effect in the order in which they are made.
 *
 * A backend that computes asynchronously, such as on a GPU, queues work and returns promises of its results. The caller awaits
 * each promise before the next call that changes a state. Calls that only read may overlap. `run`, `replay` and `save` read
 * their array arguments before their promises settle, other calls before they return.
 */

import type { NameAmong } from '../../shared/values.js';
import type { World } from '../../world/world.js';
import type { EnvStarts } from '../validate/starts.js';
import type { Device, DeviceOptions } from './device-options.js';

/** A result, or a promise of one from a backend that computes asynchronously. */
export type Awaitable<T> = T | Promise<T>;

/** A backend of `createVecEnv`. */
export type SyncBackendName = NameAmong<'auto' | 'native' | 'wasm' | 'reference'>;
/** A backend of `createAsyncVecEnv`. */
export type BackendName = NameAmong<'auto' | 'webgpu' | 'native' | 'wasm' | 'reference'>;
/** A kernel of the backend `native`. */
export type KernelName = NameAmong<'avx512' | 'avx2' | 'portable' | 'scalar'>;

/** Whether a backend or kernel can be used here, and why not. */
export interface Availability {
  /** The name of the backend or kernel. Lists of backends name a kernel with its backend: "native/avx2". */
  readonly name: string;
  /** Whether the backend or kernel can run here. */
  readonly available: boolean;
  /** If it is not available: the reason, and the remedy if there is one. */
  readonly reason?: string;
  /** The name of the device that the backend uses; or the addon's file, with the reasons why files before it did not load. */
  readonly detail?: string;
  /** Whether the processor emulates this device. 'auto' prefers the backend `wasm` to such a device. */
  readonly software?: boolean;
}

/** An implementation of the environment. */
export interface Backend {
  readonly name: string;
  /** Checks whether the backend can be used. @param device the options of the device that a batch would use. */
  availability(device?: DeviceOptions): Awaitable<Availability>;
  /** Lists the backend's kernels, in priority order; empty if it has none. */
  kernels(): Availability[];
  /** Opens a batch. @throws BackendError if the backend or the requested kernel cannot be used. */
  open(options: BatchOptions): Awaitable<Batch>;
  /**
   * Returns memory for the outputs of a batch of `numEnvs` environments. Without it they are in an ArrayBuffer of their own.
   * @param bytes a multiple of 64. @throws RangeError if there is not enough memory.
   */
  placeOutputs?(bytes: number, numEnvs: number): Place;
}

/** A backend whose calls return results, not promises. */
export interface SyncBackend extends Backend {
  availability(): Availability;
  open(options: BatchOptions): SyncBatch;
}

/** Zeroed memory in a buffer, from `offset` on, where a cache line begins. */
export interface Place {
  readonly buffer: ArrayBuffer;
  readonly offset: number;
}

/** The layout of outputs. */
export interface OutputLayout {
  /** Whether arrays of several numbers per environment are column-major. */
  readonly columnMajor: boolean;
  /** Whether environments that are reset within a step keep the last observation of the episode that ended. */
  readonly finalObservations: boolean;
}

/** The options of a batch. */
export interface BatchOptions {
  /** 1 to 2^24. */
  readonly numEnvs: number;
  readonly world: World;
  /** Whether noise and events come from the imagination streams. */
  readonly imagination: boolean;
  /** 1 to 256, or null for the number of processors, at most 256. Changes no result. */
  readonly threads: number | null;
  /** A kernel's name, or null for the fastest that this machine can run for the number of environments. */
  readonly kernel: string | null;
  /** The arrays to which the batch writes outputs. The caller owns them, and they are readable after `close`. */
  readonly outputs: Outputs;
  /** How to choose and use a device. Default: as `toDeviceOptions`. Backends without a device ignore it. */
  readonly device?: DeviceOptions;
}

/**
 * The outputs of a call. Arrays of several numbers per environment are row-major ([numEnvs, width]) if `columnStride`
 * is 0, else column-major: number k of environment i is at `k * columnStride + i`, and entries between numEnvs and
 * the stride are 0. `finalScores`, `components`, `beliefMae`, `firstHalfMeans`, `secondHalfMeans`, `episodeReturns` and
 * `episodeLengths` hold the results of an episode that has ended, even if the same step reset the environment. For other
 * environments they are 0.
 */
export interface Outputs {
  /** Elements from one column to the next; 0 for row-major. */
  readonly columnStride: number;
  /** f32 [numEnvs, 22], fields as in OBSERVATION_FIELDS. */
  readonly observations: Float32Array;
  /** f32 [numEnvs]: rewards of the last step; 0 for an environment that did not step. */
  readonly rewards: Float32Array;
  /** u8 [numEnvs]: 1 if the 28th step was taken. */
  readonly terminated: Uint8Array;
  /** u8 [numEnvs]: 1 if this call took the 28th step. */
  readonly finalMask: Uint8Array;
  /** f32 [numEnvs] in [0, 1]. */
  readonly finalScores: Float32Array;
  /** f32 [numEnvs, 8], components as in COMPONENT_FIELDS. */
  readonly components: Float32Array;
  /** f32 [numEnvs] in [0, 1]. */
  readonly beliefMae: Float32Array;
  /** f32 [numEnvs]: mean reward of the first half, without noise. */
  readonly firstHalfMeans: Float32Array;
  /** f32 [numEnvs]: mean reward of the second half, without noise. */
  readonly secondHalfMeans: Float32Array;
  /** f32 [numEnvs]: sum of the rewards, added in float32 in the order of the steps. */
  readonly episodeReturns: Float32Array;
  /** i32 [numEnvs]: steps of the episode, 28. If it began at a later step, sums, means and lengths include the steps before. */
  readonly episodeLengths: Int32Array;
  /**
   * f32 [numEnvs, 22]: the last observation of an episode whose environment was reset in the same step; null if not
   * kept.
   */
  readonly finalObservations: Float32Array | null;
}
/** The name of an array of `Outputs`. */
export type OutputName = Exclude<keyof Outputs, 'columnStride'>;

/** A reset: which environments begin an episode, and how. */
export interface ResetRequest {
  /** u8 [numEnvs], the environments to reset; null for all. */
  readonly mask: Uint8Array | null;
  /** u32 [numEnvs]. */
  readonly seeds: Uint32Array;
  /** u8 [numEnvs], codes of PROFILE_MODES; null keeps the modes. */
  readonly modes: Uint8Array | null;
  /** f32 [numEnvs, 16], used for environments of mode `given`; null keeps their profiles. */
  readonly profiles: Float32Array | null;
  /** f32 [numEnvs, 8]; null keeps the graders. */
  readonly graders: Float32Array | null;
  /** The states in which the episodes begin; absent for step 0. */
  readonly start?: EnvStarts;
}

/** A step of the environments of a mask, and the resets after it. */
export interface StepRequest {
  /** u8 [numEnvs], codes 0..9. Codes of environments that do not step are ignored. */
  readonly actions: Uint8Array;
  /** f32 [numEnvs, 3], finite where given; null if no environment gives a belief. */
  readonly beliefs: Float32Array | null;
  /** u8 [numEnvs], which environments give a belief; null if `beliefs` is null. */
  readonly given: Uint8Array | null;
  /** u8 [numEnvs], the environments that step; null for all. */
  readonly stepMask: Uint8Array | null;
  /**
   * u8 [numEnvs], the environments to reset after the step; null for none. If such an environment took the step, its
   * outputs keep the step's reward and grade, and `finalObservations` has the step's observation. If it did not, it gets
   * the outputs of a reset.
   */
  readonly resetMask: Uint8Array | null;
  /** u32 [numEnvs], the seeds of these resets; null if `resetMask` is null. */
  readonly resetSeeds: Uint32Array | null;
}

/** The environments of another batch that a run copies before it begins. */
export interface Origin {
  /** Another batch of this backend. */
  readonly source: Batch;
  /** u32 [numEnvs]: environment i becomes a copy of environment indices[i]. */
  readonly indices: Uint32Array;
}

/** A run plays episodes in one call, each from its current step to the step at which it stops. */
export interface RunRequest {
  readonly policy: RunPolicy;
  /** One belief given at every step, a belief for each step, or none. */
  readonly beliefs: RunBeliefs | null;
  /**
   * u8 [numEnvs], the step (0 to 28) at which each environment stops; null for 28. An environment at or after this step
   * takes no step.
   */
  readonly stops: Uint8Array | null;
  /**
   * The environments that run, `first` to `end - 1`; absent for all. `first` is a multiple of 16, because the native backend
   * stores 16 states together. The slice from environment 0 checks the action sequences of all environments.
   */
  readonly slice?: { readonly first: number; readonly end: number };
  /** Environments to copy before the run, like `gather`. A backend may do both in one pass over the memory. */
  readonly from?: Origin;
  /**
   * Receives the steps; null to record none. It must be newly allocated by `allocateTrajectory` for this run; the slices of
   * a run share it. The entries of steps that the run does not take keep their initial values.
   */
  readonly trajectory: RecordedTrajectory | null;
}

/** The policy of a run: random, the heuristic, or an action sequence for each environment. */
export type RunPolicy =
  | {
      readonly kind: 'random';
      /** u32 [numEnvs]; null for seeds of 0. */
      readonly policySeeds: Uint32Array | null;
    }
  | { readonly kind: 'heuristic' }
  | {
      readonly kind: 'sequence';
      /** u8 [numEnvs, 28], by the episode's step. */
      readonly actions: Uint8Array;
    };

/** The beliefs of a run: one for all steps and environments, or one for each step of each environment. */
export type RunBeliefs =
  | {
      readonly kind: 'constant';
      /** f32 [3], finite. */
      readonly belief: Float32Array;
    }
  | {
      readonly kind: 'sequence';
      /** f32 [numEnvs, 28, 3], finite where given. */
      readonly beliefs: Float32Array;
      /** u8 [numEnvs, 28]. */
      readonly given: Uint8Array;
    };

/**
 * A replay of rows. Each row is a separate episode, which begins, plays its history, and takes one more step. Entry i of
 * every column belongs to row i.
 */
export interface ReplayRequest {
  /**
   * u32 [at most n]: the rows to replay. A state that several rows continue is computed once if these rows are neighbours
   * here.
   */
  readonly order: Uint32Array;
  /** u32 [n]. */
  readonly seeds: Uint32Array;
  /** u8 [n], codes of PROFILE_MODES. */
  readonly modes: Uint8Array;
  /** f32 [n, 16] for rows of mode `given`; null if there are none. */
  readonly profiles: Float32Array | null;
  /** f32 [8]: the grader's weights, for all rows. */
  readonly grader: Float32Array;
  /** u8 [n], 0 to 27: the length of each history, which is the step at which it stops. */
  readonly stops: Uint8Array;
  /** u8 [n, 28]: codes; entries after a history's end are ignored. */
  readonly histories: Uint8Array;
  /** f32 [n, 28, 3], the beliefs given in the histories, finite where given; null if none was given. */
  readonly beliefHistories: Float32Array | null;
  /** u8 [n, 28], at which steps a history gives a belief; null if `beliefHistories` is null. */
  readonly historyGiven: Uint8Array | null;
  /** i8 [n]: the action after the history; -1 for no step. */
  readonly actions: Int8Array;
  /** f32 [n, 3], the beliefs with that action, finite where given; null if no row gives a belief. */
  readonly beliefs: Float32Array | null;
  /** u8 [n], which rows give a belief; null if `beliefs` is null. */
  readonly given: Uint8Array | null;
  /** Output, f32 [n]: the reward of the step; NaN if there is no step. */
  readonly rewards: Float32Array;
  /** Output, f32 [n]: the error (MAE) of the belief with that action, or of [0.5, 0.5, 0.5] if none is given. */
  readonly beliefMae: Float32Array;
  /** Output, f32 [n] in [-1, 1]: the clamped `belief_skill` term of the belief with that action; -1 if none is given. */
  readonly beliefSkill: Float32Array;
  /** Output, u64 [n]: the hash of the state before the step. */
  readonly hashes: BigUint64Array;
}

/**
 * The steps of a run, by the episode's step. The shapes are those of the row-major layout. In the column-major layout, number
 * k of an environment's row is at `k * columnStride + i` for environment i.
 */
export interface Trajectory {
  /** i8 [numEnvs, 28]: code; -1 for a step that the run did not take. */
  readonly actions: Int8Array;
  /** i8 [numEnvs, 28]: code; -1 for no event. */
  readonly events: Int8Array;
  /** f32 [numEnvs, 28]. */
  readonly rewards: Float32Array;
  /** f32 [numEnvs, 28, 5] each: meters after the step, their change, the anomaly. */
  readonly meters: Float32Array;
  readonly deltas: Float32Array;
  readonly anomalies: Float32Array;
  /** The distance between columns, in elements; 0 if the arrays are row-major. */
  readonly columnStride: number;
}
/** The fields of a trajectory. */
export type TrajectoryField = Exclude<keyof Trajectory, 'columnStride'>;
/** A trajectory with some of its fields. */
export type TrajectoryOf<Field extends TrajectoryField> = Pick<Trajectory, Field | 'columnStride'>;
/** The trajectory of a request: the fields that it has are recorded. */
export type RecordedTrajectory = Partial<Trajectory> & Pick<Trajectory, 'columnStride'>;

/** The reason why a batch refused a call. */
export interface Refusal {
  readonly code: 'illegal_action' | 'episode_over';
  /** The first environment with the error; for a replay, the first such row in `ReplayRequest.order`. */
  readonly index: number;
  /** The episode's step, for an action sequence or a history. */
  readonly step?: number;
  /** The invalid action code; absent for `episode_over`. */
  readonly value?: number;
}

/** An open batch of episodes. */
export interface Batch {
  readonly backend: string;
  readonly kernel: string;
  readonly threads: number;
  /** The device that computes; absent for a batch on the processor. */
  readonly device?: Device;
  reset(request: ResetRequest): void;
  /** Takes one step. @returns null; or a refusal, and nothing has changed. */
  submit(request: StepRequest): Refusal | null;
  /**
   * Runs each environment to the step at which it stops, and writes the outputs of its last step. A promise resolves when all
   * work is queued. @returns as `submit`.
   */
  run(request: RunRequest): Awaitable<Refusal | null>;
  /**
   * Updates `outputs`, or at least the named arrays; the others keep their values. A batch that writes outputs when it computes
   * them does nothing.
   */
  read(which?: readonly OutputName[]): Awaitable<void>;
  /** Waits for all queued work. */
  finished?(): Promise<void>;
  /**
   * Copies state and outputs of environment `indices[i]` of `source` to environment i. `source` has the same backend. It
   * may be this batch, and may have another layout. Final observations are copied if the source keeps them. `finalMask`
   * is 0, because the call ends no episode.
   */
  gather(source: Batch, indices: Uint32Array): void;
  /**
   * Returns the states of the environments at `indices`, or of all: u32 [n, STATE_WORDS], by STATE_FIELDS, newly allocated.
   */
  save(indices?: Uint32Array): Awaitable<Uint32Array>;
  /**
   * Loads states as `save` returns them. The caller has validated them. Replays the episodes to get the outputs of their
   * last steps.
   * @param keepsOutputs whether the outputs stay as they are instead. Only for episodes that have not ended. Default false.
   */
  load(words: Uint32Array, keepsOutputs?: boolean): void;
  /** Returns the states' hashes, u64 [numEnvs]. */
  stateHash(): Awaitable<BigUint64Array>;
  /** Returns the belief targets, f32 [numEnvs, 3]. */
  beliefTargets(): Awaitable<Float32Array>;
  /**
   * Replays rows. Uses no environments of this batch. @returns null; or a refusal of the first row of `order` with an invalid
   * history, and nothing is written.
   */
  replay(request: ReplayRequest): Awaitable<Refusal | null>;
  /** Frees the batch's resources; pending promises settle. Idempotent. */
  close(): void;
}

/** A batch whose calls return results, not promises, and write outputs when they compute them. */
export interface SyncBatch extends Batch {
  run(request: RunRequest): Refusal | null;
  read(): void;
  save(indices?: Uint32Array): Uint32Array;
  stateHash(): BigUint64Array;
  beliefTargets(): Float32Array;
  replay(request: ReplayRequest): Refusal | null;
}
