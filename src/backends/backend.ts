/**
 * The seam: a backend opens a batch; a batch holds the states of its episodes and steps them.
 *
 * Arguments are clean: vec-env validates them, once for every backend. What only a batch can see cheaply (an illegal
 * action among thousands, a step after the end) it reports as a `Refusal` before anything has changed. Calls on one
 * batch take effect in the order in which they are made.
 */
import type { SlotStarts } from '../validate/starts.js';
import type { World } from '../world/world.js';

/** Whether something can be used here, and why not. */
export interface Availability {
  readonly name: string;
  readonly available: boolean;
  /** Present when it is not available: the reason and the remedy. */
  readonly reason?: string;
  /** What it would run on, where that is known. */
  readonly detail?: string;
}

/** A way of computing episodes. */
export interface Backend {
  readonly name: string;
  availability(): Availability;
  /** The variants that it can run, in priority order; empty if it has only one. */
  kernels(): Availability[];
  /** @throws BackendError if it or the kernel asked for cannot be used. */
  open(options: BatchOptions): Batch;
  /** How many bytes at the start of a buffer to leave out so that what follows begins on a cache line. */
  lead?(buffer: ArrayBuffer): number;
}

/** How outputs are to be laid out. */
export interface OutputLayout {
  /** Whether arrays of several numbers a slot are column-major. */
  readonly columnMajor: boolean;
  /** Whether slots that begin anew within a step keep what their last episode showed at its end. */
  readonly finalObservations: boolean;
}

export interface BatchOptions {
  /** 1 to 2^24. */
  readonly numEnvs: number;
  readonly world: World;
  /** Luck and events from the imagination streams. */
  readonly imagination: boolean;
  /** 1 to 256, or null for as many as the machine offers. Changes no result. */
  readonly threads: number | null;
  /** A kernel's name, or null for the best that this machine has. */
  readonly kernel: string | null;
  /** Where outputs are written; owned by the caller, readable after `close`. */
  readonly outputs: Outputs;
}

/**
 * What a call shows. Arrays of several numbers a slot are row-major ([numEnvs, width]) when `columnStride` is 0, else
 * column-major: number k of slot i stands at `k * columnStride + i`, and what is between numEnvs and the stride is 0.
 * From `finalScores` on, slots whose episode has not ended hold 0.
 */
export interface Outputs {
  /** Elements from one column to the next; 0 for row-major. */
  readonly columnStride: number;
  /** f32 [numEnvs, 22], fields as in OBSERVATION_FIELDS. */
  readonly observations: Float32Array;
  /** f32 [numEnvs]: of the last step; 0 for a slot that did not take part in it. */
  readonly rewards: Float32Array;
  /** u8 [numEnvs]: 1 once the 28th step was taken. */
  readonly terminated: Uint8Array;
  /** u8 [numEnvs]: 1 where this very call took the 28th step. */
  readonly finalMask: Uint8Array;
  /** f32 [numEnvs] in [0, 1]. */
  readonly finalScores: Float32Array;
  /** f32 [numEnvs, 6], components as in COMPONENT_FIELDS. */
  readonly components: Float32Array;
  /** f32 [numEnvs] in [0, 1]. */
  readonly beliefMae: Float32Array;
  /** f32 [numEnvs] each: mean reward of each half, without luck, of which adaptation is made. */
  readonly earlyMeans: Float32Array;
  readonly lateMeans: Float32Array;
  /** f32 [numEnvs]: sum of the rewards given, in float32, in their order. */
  readonly episodeReturns: Float32Array;
  /** i32 [numEnvs]: steps of the week, those before a later start too, as sums and means are of the whole week. */
  readonly episodeLengths: Int32Array;
  /** f32 [numEnvs, 22]: the observation at the end of an episode that began anew in the same step; null if not kept. */
  readonly finalObservations: Float32Array | null;
}

export interface ResetRequest {
  /** u8 [numEnvs], the slots that begin anew; null for all. */
  readonly mask: Uint8Array | null;
  /** u32 [numEnvs]. */
  readonly seeds: Uint32Array;
  /** u8 [numEnvs], codes of PROFILE_MODES; null keeps each slot's. */
  readonly modes: Uint8Array | null;
  /** f32 [numEnvs, 16] for slots of mode `given`; null keeps the floats that they have. */
  readonly profiles: Float32Array | null;
  /** f32 [numEnvs, 6]; null keeps each slot's. */
  readonly graders: Float32Array | null;
  /** Where the episodes begin; absent for the first step of the week. */
  readonly start?: SlotStarts;
}

export interface StepRequest {
  /** u8 [numEnvs], codes 0..9. Those of slots that do not step are ignored. */
  readonly actions: Uint8Array;
  /** f32 [numEnvs, 3], finite where given; null if no slot gives a belief. */
  readonly beliefs: Float32Array | null;
  /** u8 [numEnvs], which slots give a belief; null if `beliefs` is. */
  readonly given: Uint8Array | null;
  /** u8 [numEnvs], the slots that step; null for all. */
  readonly stepMask: Uint8Array | null;
  /**
   * u8 [numEnvs], the slots that begin anew after the step; null for none. Those that took it keep its reward and
   * grade, and what they showed in `finalObservations`; the others show a reset.
   */
  readonly resetMask: Uint8Array | null;
  /** u32 [numEnvs], seeds of those; null if `resetMask` is. */
  readonly resetSeeds: Uint32Array | null;
}

/** Whole episodes in one call, each from its present state to its stop. */
export interface RunRequest {
  readonly policy: RunPolicy;
  /** One belief given at every step, or a tape of them, or none. */
  readonly beliefs: RunBeliefs | null;
  /** u8 [numEnvs], the step (0 to 28) at which each slot stops; null for 28. A slot already there stays. */
  readonly stops: Uint8Array | null;
  /**
   * The slots that run, `first` (a multiple of 16) to before `end`; absent for all. A tape played in parts is judged as a
   * whole with the first, the part from slot 0.
   */
  readonly part?: { readonly first: number; readonly end: number };
  /**
   * Another batch of this backend, and u32 [numEnvs]: each slot becomes a copy of slot indices[i] first, as by `gather`,
   * in the same pass.
   */
  readonly from?: { readonly source: Batch; readonly indices: Uint32Array };
  /**
   * Where the steps taken are written, by absolute step; null for grades alone. As `allocateTrajectory` made it for this
   * run and its parts: other entries stay as they are, and a device, which copies whole rows back, relies on what they are.
   */
  readonly trajectory: Trajectory | null;
}

export type RunPolicy =
  | { readonly kind: 'random' /** u32 [numEnvs]; null for 0. */; readonly policySeeds: Uint32Array | null }
  | { readonly kind: 'heuristic' }
  | { readonly kind: 'tape' /** u8 [numEnvs, 28], by absolute step. */; readonly actions: Uint8Array };

export type RunBeliefs =
  | { readonly kind: 'constant' /** f32 [3], finite. */; readonly belief: Float32Array }
  | {
      readonly kind: 'tape';
      /** f32 [numEnvs, 28, 3], finite where given. */
      readonly beliefs: Float32Array;
      /** u8 [numEnvs, 28]. */
      readonly given: Uint8Array;
    };

/** What happened at each step. Row-major, by absolute step. */
export interface Trajectory {
  /** i8 [numEnvs, 28]: code. */
  readonly actions: Int8Array;
  /** i8 [numEnvs, 28]: code, -1 for none. */
  readonly events: Int8Array;
  /** f32 [numEnvs, 28]. */
  readonly rewards: Float32Array;
  /** f32 [numEnvs, 28, 5] each: meters after the step, their change, the anomaly. */
  readonly meters: Float32Array;
  readonly deltas: Float32Array;
  readonly anomalies: Float32Array;
}

/** Why a batch did nothing: the first slot (and for a tape the step) that breaks a rule. */
export interface Refusal {
  readonly code: 'illegal_action' | 'episode_over';
  readonly index: number;
  /** The absolute step, for a tape. */
  readonly step?: number;
  /** The action's code. */
  readonly value?: number;
}

export interface Batch {
  readonly backend: string;
  readonly kernel: string;
  readonly threads: number;
  reset(request: ResetRequest): void;
  /** One step. @returns null, or why nothing happened. */
  submit(request: StepRequest): Refusal | null;
  /** Runs each slot to its stop. Outputs show the last step that each took. */
  run(request: RunRequest): Refusal | null;
  /** Makes `outputs` current; a batch that computes elsewhere copies back here. */
  read(): void;
  /**
   * Copies `source`'s slots, state and what it shows of them, `indices[i]` to slot i. `source` is of the same backend,
   * and may be this batch, and laid out otherwise; final observations are copied if it keeps them. Such a call ends no
   * episode: `finalMask` is 0.
   */
  gather(source: Batch, indices: Uint32Array): void;
  /** u32 [slots, STATE_WORDS], STATE_FIELDS, newly allocated: of the slots at `indices`, or of all. */
  save(indices?: Uint32Array): Uint32Array;
  /** Takes words that `save` wrote and the caller has checked. Outputs show the last step, lived again from the tape. */
  load(words: Uint32Array): void;
  /** u64 [numEnvs]. */
  stateHash(): BigUint64Array;
  /** f32 [numEnvs, 3]: what perfect beliefs would be. */
  targets(): Float32Array;
  /** Frees what it holds. Idempotent. */
  close(): void;
}
