/** The native backend: passes backend requests to the C++ addon. */
import { availableParallelism } from 'node:os';
import { BackendError, type RhythmError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/names.js';
import { MAX_THREADS, NUM_BELIEFS, STATE_WORDS } from '../../world/fields.js';
import { type Addon, loadAddon, type NativeBatch, openAddon } from './addon.js';
import type {
  Availability,
  Batch,
  BatchOptions,
  Place,
  Refusal,
  ReplayRequest,
  ResetRequest,
  RunRequest,
  StepRequest,
  SyncBackend,
  SyncBatch,
} from './backend.js';
import { convertRangeError } from './open-batch.js';

/** The backend of the C++ addon. */
export const nativeBackend: SyncBackend = { name: 'native', availability, kernels, open, placeOutputs };

function availability(): Availability {
  try {
    const { path, rejected } = openAddon();
    return { name: 'native', available: true, ...(rejected !== '' && { detail: `${path}. ${rejected}` }) };
  } catch (error) {
    return { name: 'native', available: false, reason: (error as RhythmError).message };
  }
}

/** Lists the addon's kernels, fastest first; empty without the addon. */
function kernels(): Availability[] {
  if (!availability().available) return [];
  return loadAddon()
    .kernels()
    .map(({ name, supported }) =>
      supported
        ? { name, available: true }
        : { name, available: false, reason: 'This processor cannot run it.' },
    );
}

function open(options: BatchOptions): SyncBatch {
  const addon = loadAddon();
  return new NativeBackendBatch(addon, chooseKernel(options), options);
}

/** Only compiled code can read a buffer's address, so the buffer has room for one more cache line than the outputs. */
function placeOutputs(bytes: number): Place {
  const buffer = new ArrayBuffer(bytes + CACHE_LINE);
  return { buffer, offset: loadAddon().bytesToCacheLine(buffer) };
}

function chooseKernel({ kernel: requested, numEnvs }: BatchOptions): string {
  const known = kernels();
  const usable = known.filter((kernel) => kernel.available).map((kernel) => kernel.name);
  if (requested === null) return numEnvs <= MAX_SCALAR ? 'scalar' : usable[0];
  if (usable.includes(requested)) return requested;
  const names = known.map((kernel) => kernel.name);
  const why = names.includes(requested)
    ? ' It is built, but this processor cannot run it.'
    : didYouMean(requested, names);
  throw new BackendError(
    'backend_unavailable',
    `Expected a kernel that this machine has (${usable.join(', ')}), got ${JSON.stringify(requested)} (option kernel, or RHYTHM_KERNEL).${why}`,
  );
}

/** Bytes of a cache line. */
const CACHE_LINE = 64;

/** The most environments that the scalar kernel steps faster than any other. Measured on AVX2 and AVX-512. */
const MAX_SCALAR = 2;

/** Codes of the addon's policies. */
const POLICY = { random: 0, heuristic: 1, sequence: 2 } as const;

const getLength = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'length')!
  .get!;
/** Returns the length of an array, 0 if its buffer was detached, whatever properties a caller has defined on it. */
const lengthOf = (array: Uint8Array | Float32Array): number => getLength.call(array);

class NativeBackendBatch implements SyncBatch {
  readonly backend = 'native';
  readonly kernel: string;
  readonly threads: number;
  readonly #numEnvs: number;
  readonly #batch: NativeBatch;
  readonly #stepAll: NativeBatch['stepAll'];
  readonly #stepAgain: NativeBatch['stepAgain'];
  /** All outputs are in the buffer of this array. */
  readonly #output: Float32Array;
  /** The actions of the last `stepAll`. */
  #actions: Uint8Array | null = null;

  constructor(addon: Addon, kernel: string, options: BatchOptions) {
    const { world, imagination, numEnvs, threads, outputs } = options;
    this.kernel = kernel;
    this.threads = threads ?? Math.min(availableParallelism(), MAX_THREADS);
    this.#numEnvs = numEnvs;
    this.#batch = new addon.Batch(kernel, world.words, imagination, numEnvs, this.threads, outputs);
    this.#stepAll = this.#batch.stepAll;
    this.#stepAgain = this.#batch.stepAgain;
    this.#output = outputs.rewards;
  }

  reset(request: ResetRequest): void {
    this.#batch.reset(request);
  }

  submit({ actions, beliefs, given, stepMask, resetMask, resetSeeds }: StepRequest): Refusal | null {
    if (beliefs === null && stepMask === null && resetMask === null) return this.#stepEach(actions);
    return this.#batch.step(actions, beliefs, given, stepMask, resetMask, resetSeeds);
  }

  #stepEach(actions: Uint8Array): Refusal | null {
    const numEnvs = this.#numEnvs;
    if (actions === this.#actions && lengthOf(actions) === numEnvs && lengthOf(this.#output) === numEnvs) {
      const refusal = this.#stepAgain();
      if (refusal !== undefined) return refusal;
    }
    this.#actions = actions;
    return this.#stepAll(actions);
  }

  run({ policy, beliefs, stops, trajectory, slice, from }: RunRequest): Refusal | null {
    return this.#batch.run(
      POLICY[policy.kind],
      policy.kind === 'random' ? policy.policySeeds : null,
      policy.kind === 'sequence' ? policy.actions : null,
      beliefs,
      stops,
      trajectory,
      slice ?? null,
      from === undefined
        ? null
        : { source: (from.source as NativeBackendBatch).#batch, indices: from.indices },
    );
  }

  /** Does nothing: outputs are written when they are computed. */
  read(): void {}

  gather(source: Batch, indices: Uint32Array): void {
    try {
      this.#batch.gather((source as NativeBackendBatch).#batch, indices);
    } catch (cause) {
      // A batch that gathers from itself allocates memory for a copy of its states.
      throw convertRangeError(cause, this.#numEnvs);
    }
  }

  save(indices?: Uint32Array): Uint32Array {
    const words = new Uint32Array((indices?.length ?? this.#numEnvs) * STATE_WORDS);
    this.#batch.save(words, indices ?? null);
    return words;
  }

  load(words: Uint32Array, keepsOutputs = false): void {
    this.#batch.load(words, keepsOutputs);
  }

  stateHash(): BigUint64Array {
    const hashes = new BigUint64Array(this.#numEnvs);
    this.#batch.hash(hashes);
    return hashes;
  }

  beliefTargets(): Float32Array {
    const targets = new Float32Array(this.#numEnvs * NUM_BELIEFS);
    this.#batch.targets(targets);
    return targets;
  }

  replay(request: ReplayRequest): Refusal | null {
    return this.#batch.replay(request);
  }

  close(): void {
    this.#batch.close();
  }
}
