/** Call sequences of the backend interface as plain data. Any backend plays them, in Node and in a page. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import type { AsyncBackend, AsyncBatch, DeviceOptions } from '../../../src/engine/backends/async-backend.js';
import type {
  OutputLayout,
  Outputs,
  ResetRequest,
  RunRequest,
  StepRequest,
  Trajectory,
} from '../../../src/engine/backends/backend.js';
import {
  allocateOutputs,
  allocateTrajectory,
  TRAJECTORY_FIELDS,
} from '../../../src/engine/backends/outputs.js';
import { createWorld } from '../../../src/world/world.js';

/** A run request as plain data. If `records` is true, the player allocates a trajectory. */
export type PlainRunRequest = Omit<RunRequest, 'trajectory' | 'from'> & { readonly records: boolean };

export type BatchCall =
  | { readonly kind: 'reset'; readonly request: ResetRequest }
  | { readonly kind: 'step'; readonly request: StepRequest }
  | { readonly kind: 'run'; readonly request: PlainRunRequest }
  /** Copies episodes within the batch. */
  | { readonly kind: 'gather'; readonly indices: Uint32Array }
  /** Saves the states of some environments as words. */
  | { readonly kind: 'save'; readonly indices: Uint32Array }
  /** Continues in a new batch, from words that any backend saved. */
  | { readonly kind: 'load'; readonly words: Uint32Array }
  /** Continues in a new batch of another size. One call of `run` copies the episodes into it and runs them. */
  | { readonly kind: 'fork'; readonly indices: Uint32Array; readonly request: PlainRunRequest };

/** How to open the batch of a call sequence. */
export interface BatchSetup {
  readonly name: string;
  readonly numEnvs: number;
  readonly imagination: boolean;
  readonly layout: OutputLayout;
}

export interface CallSequence {
  readonly setup: BatchSetup;
  readonly calls: readonly BatchCall[];
}

/** Copies after a call: outputs in their memory layout, states, hashes, targets, and the call's trajectory or saved words. */
export type CallColumns = Readonly<Record<string, Column>>;
export type Column = Float32Array | Int32Array | Uint32Array | Uint8Array | Int8Array | BigUint64Array;

/** The SHA-256 of each column, in hexadecimal. */
export type Digests = Readonly<Record<string, string>>;

const WORLD = createWorld();

/** Opens a batch and executes the calls of a sequence. */
export class SequencePlayer {
  readonly #backend: AsyncBackend;
  readonly #setup: BatchSetup;
  readonly #device: DeviceOptions;
  #batch!: AsyncBatch;
  #outputs!: Outputs;

  private constructor(backend: AsyncBackend, setup: BatchSetup, allowInexact: boolean) {
    this.#backend = backend;
    this.#setup = setup;
    // The numbers are the defaults of `toDeviceOptions`.
    this.#device = { allowInexact, maxDispatchMs: 100, workgroupSize: 64 };
  }

  static async open(backend: AsyncBackend, setup: BatchSetup, allowInexact = false): Promise<SequencePlayer> {
    const player = new SequencePlayer(backend, setup, allowInexact);
    await player.#open(setup.numEnvs);
    return player;
  }

  get batch(): AsyncBatch {
    return this.#batch;
  }

  /** The outputs of the current batch: valid until a call that continues in a new batch. */
  get outputs(): Outputs {
    return this.#outputs;
  }

  async #open(numEnvs: number): Promise<void> {
    const { imagination, layout } = this.#setup;
    this.#outputs = allocateOutputs(numEnvs, layout);
    this.#batch = await this.#backend.open({
      numEnvs,
      imagination,
      world: WORLD,
      threads: 1,
      kernel: null,
      outputs: this.#outputs,
      device: this.#device,
    });
  }

  async apply(call: BatchCall): Promise<CallColumns> {
    return { ...(await this.#execute(call)), ...(await this.#columns()) };
  }

  /** Executes a call. @returns its trajectory or saved words. */
  async #execute(call: BatchCall): Promise<CallColumns> {
    if (call.kind === 'reset') this.#batch.reset(call.request);
    else if (call.kind === 'step') throwIfRefused(this.#batch.submit(call.request));
    else if (call.kind === 'gather') this.#batch.gather(this.#batch, call.indices);
    else if (call.kind === 'save') return { saved: await this.#batch.save(call.indices) };
    else if (call.kind === 'run') return this.#run(call.request);
    else return this.#continueInNewBatch(call);
    return {};
  }

  async #run(
    request: PlainRunRequest,
    from?: { source: AsyncBatch; indices: Uint32Array },
  ): Promise<CallColumns> {
    const { records, ...rest } = request;
    const trajectory = records ? allocateTrajectory(this.#outputs.rewards.length) : null;
    // The source is a batch of the same backend; its type does not say so.
    const origin = from && { source: from.source as never, indices: from.indices };
    throwIfRefused(await this.#batch.run({ ...rest, trajectory, ...(origin && { from: origin }) }));
    return trajectory === null ? {} : columnsOf(trajectory);
  }

  /** Opens a new batch, loads or copies the episodes into it, and closes the old one. */
  async #continueInNewBatch(call: Extract<BatchCall, { kind: 'load' | 'fork' }>): Promise<CallColumns> {
    const source = this.#batch;
    await this.#open(call.kind === 'fork' ? call.indices.length : this.#outputs.rewards.length);
    try {
      if (call.kind === 'fork') return await this.#run(call.request, { source, indices: call.indices });
      this.#batch.load(call.words);
      return {};
    } finally {
      source.close();
    }
  }

  async #columns(): Promise<CallColumns> {
    await this.#batch.read();
    const arrays = Object.entries(this.#outputs).filter(([, array]) => ArrayBuffer.isView(array));
    return {
      ...Object.fromEntries(arrays.map(([name, array]) => [name, array.slice()])),
      state: await this.#batch.save(),
      hash: await this.#batch.stateHash(),
      targets: await this.#batch.beliefTargets(),
    };
  }

  close(): void {
    this.#batch.close();
  }
}

/** Plays a sequence. @returns the columns after each call. */
export async function playSequence(
  backend: AsyncBackend,
  sequence: CallSequence,
  allowInexact = false,
): Promise<CallColumns[]> {
  const player = await SequencePlayer.open(backend, sequence.setup, allowInexact);
  const columns: CallColumns[] = [];
  for (const call of sequence.calls) columns.push(await player.apply(call));
  player.close();
  return columns;
}

export const digestsOf = (columns: CallColumns): Digests =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, digestOf(column)]));

/** Returns the SHA-256 of a column's bytes, in hexadecimal. */
export const digestOf = ({ buffer, byteOffset, byteLength }: Column): string =>
  bytesToHex(sha256(new Uint8Array(buffer, byteOffset, byteLength)));

function columnsOf(trajectory: Trajectory): CallColumns {
  return Object.fromEntries(TRAJECTORY_FIELDS.map((name) => [`trajectory.${name}`, trajectory[name]]));
}

function throwIfRefused(refusal: object | null): void {
  if (refusal !== null) throw new Error(`Expected a legal call, got a refusal: ${JSON.stringify(refusal)}.`);
}
