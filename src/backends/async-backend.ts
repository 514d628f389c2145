/**
 * The seam of backends that compute elsewhere: calls queue work and return at once, and what comes back is a promise.
 *
 * As at the synchronous seam (backend.ts, whose requests these are), arguments are clean, calls on one batch take effect
 * in the order in which they are made, and a `Refusal` says that nothing has changed. Promises must have settled before
 * the next call that changes anything: the face queues them. Calls that only look may be awaited together. Arrays of a
 * request are read before the call returns; a run's, before its promise settles.
 */
import type {
  Availability,
  BatchOptions,
  Outputs,
  Refusal,
  ResetRequest,
  RunRequest,
  StepRequest,
} from './backend.js';

/** An array of `Outputs`. */
export type OutputName = Exclude<keyof Outputs, 'columnStride'>;

/** How a device is chosen and driven. Whoever has none ignores it. */
export interface DeviceOptions {
  /** Default: whatever the platform prefers. */
  readonly powerPreference?: 'low-power' | 'high-performance';
  /** Opens although the device's arithmetic differs from the reference's: results are then not this environment's. */
  readonly allowInexact: boolean;
  /** How long one submission may take, in milliseconds: longer work is cut, so that no watchdog ends it. */
  readonly maxDispatchMs: number;
  /** Invocations of a workgroup, a power of two. Changes no result. */
  readonly workgroupSize: number;
}

/** The device that a batch lives on. */
export interface Device {
  /** As the platform describes it. */
  readonly adapter: string;
  /** Whether a processor pretends to be one: its speed says nothing about devices. */
  readonly software: boolean;
  /** Whether it has shown, when it was opened, that its episodes are the reference's bit for bit. */
  readonly exact: boolean;
}

export interface AsyncBatchOptions extends BatchOptions {
  readonly device: DeviceOptions;
}

export interface AsyncBackend {
  readonly name: string;
  availability(): Promise<Availability>;
  /** The variants that it can run, in priority order; empty if it has only one. */
  kernels(): Availability[];
  /** @throws BackendError if it or the kernel asked for cannot be used. */
  open(options: AsyncBatchOptions): Promise<AsyncBatch>;
  /** As `Backend.lead`. */
  lead?(buffer: ArrayBuffer): number;
}

export interface AsyncBatch {
  readonly backend: string;
  readonly kernel: string;
  readonly threads: number;
  /** Null if it computes on the processor. */
  readonly device: Device | null;
  reset(request: ResetRequest): void;
  submit(request: StepRequest): Refusal | null;
  /** Settles when all of it is under way; a long run, when most of it is done. */
  run(request: RunRequest): Promise<Refusal | null>;
  /** Settles when all that was asked for is done. */
  settled(): Promise<void>;
  /** Makes `outputs` current, or those of them that are named; the others keep what they showed. */
  read(which?: readonly OutputName[]): Promise<void>;
  gather(source: AsyncBatch, indices: Uint32Array): void;
  save(indices?: Uint32Array): Promise<Uint32Array>;
  load(words: Uint32Array): void;
  stateHash(): Promise<BigUint64Array>;
  targets(): Promise<Float32Array>;
  /** Frees what it holds; promises under way settle. Idempotent. */
  close(): void;
}
