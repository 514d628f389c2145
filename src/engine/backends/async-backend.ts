/**
 * The backend interface for backends that compute asynchronously, such as on a GPU. Calls queue work and return at once.
 * The results of this work are promises.
 *
 * The requests and rules of the synchronous interface (backend.ts) apply: arguments are valid, calls on one batch take
 * effect in the order in which they are made, and a `Refusal` means that nothing has changed. The caller awaits each
 * promise before the next call that changes a state. Calls that only read may overlap. `run`, `replay` and `save` read
 * their array arguments before their promises settle, other calls before they return.
 */
import type {
  Availability,
  Backend,
  BatchOptions,
  Outputs,
  Refusal,
  ReplayRequest,
  ResetRequest,
  RunRequest,
  StepRequest,
} from './backend.js';

/** The name of an array of `Outputs`. */
export type OutputName = Exclude<keyof Outputs, 'columnStride'>;

/** How a backend chooses and uses a device. Backends without a device ignore these options. */
export interface DeviceOptions {
  /** Default: the platform's choice. */
  readonly powerPreference?: 'low-power' | 'high-performance';
  /** Whether to open a device whose arithmetic is not the reference's. Its episodes differ from those of docs/world.md. */
  readonly allowInexact: boolean;
  /**
   * The longest time of one submission, in milliseconds. Longer work is split, so that the driver's watchdog does not end it.
   */
  readonly maxDispatchMs: number;
  /** Invocations of a workgroup, a power of two. Changes no result. */
  readonly workgroupSize: number;
}

/** The device of a batch. */
export interface Device {
  /** The adapter's name, as the platform describes it. */
  readonly adapter: string;
  /** Whether the processor emulates the device. */
  readonly software: boolean;
  /** Whether its episodes equal the reference's bit for bit, as checked when the device was opened. */
  readonly exact: boolean;
}

/** The options of an asynchronous batch. */
export interface AsyncBatchOptions extends BatchOptions {
  readonly device: DeviceOptions;
}

/** An asynchronous implementation of the environment. */
export interface AsyncBackend {
  readonly name: string;
  /** Checks whether the backend can be used. @param device the options of the device that a batch would use. */
  availability(device?: DeviceOptions): Promise<Availability>;
  /** Lists the backend's kernels, in priority order; empty if it has none. */
  kernels(): Availability[];
  /** Opens a batch. @throws BackendError if the backend or the requested kernel cannot be used. */
  open(options: AsyncBatchOptions): Promise<AsyncBatch>;
  /** Does the same as `Backend.placeOutputs`. */
  placeOutputs?: Backend['placeOutputs'];
}

/** A batch of an asynchronous backend. A method without a comment does the same as the method of `Batch` with its name. */
export interface AsyncBatch {
  readonly backend: string;
  readonly kernel: string;
  readonly threads: number;
  /** Null for a batch on the processor. */
  readonly device: Device | null;
  reset(request: ResetRequest): void;
  submit(request: StepRequest): Refusal | null;
  /** Resolves when all work of the run is queued. A long run queues its later work when its earlier work is done. */
  run(request: RunRequest<AsyncBatch>): Promise<Refusal | null>;
  /** Resolves when all queued work is done. */
  finished(): Promise<void>;
  /** Updates `outputs`, or the named arrays only; the others keep their values. */
  read(which?: readonly OutputName[]): Promise<void>;
  gather(source: AsyncBatch, indices: Uint32Array): void;
  save(indices?: Uint32Array): Promise<Uint32Array>;
  load(words: Uint32Array, keepsOutputs?: boolean): void;
  stateHash(): Promise<BigUint64Array>;
  beliefTargets(): Promise<Float32Array>;
  replay(request: ReplayRequest): Promise<Refusal | null>;
  /** Frees the batch's resources; pending promises settle. Idempotent. */
  close(): void;
}
