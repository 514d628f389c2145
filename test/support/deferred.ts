/**
 * An asynchronous backend as one on a device is: what it computes is seen when it is read and not before, nothing settles
 * at once, and it can be lost. The reference computes.
 */
import type {
  AsyncBackend,
  AsyncBatch,
  AsyncBatchOptions,
  DeviceOptions,
  OutputName,
} from '../../src/backends/async-backend.js';
import type { Batch, Outputs, Refusal, RunRequest } from '../../src/backends/backend.js';
import { allocateOutputs, OUTPUT_ARRAYS } from '../../src/backends/outputs.js';
import type { Platform } from '../../src/backends/platform.js';
import { queued } from '../../src/backends/queued.js';
import { referenceBackend } from '../../src/backends/reference.js';
import { BackendError } from '../../src/errors.js';

const NAMES = Object.keys(OUTPUT_ARRAYS) as OutputName[];

export class DeferredBackend implements AsyncBackend {
  readonly name = 'deferred';
  /** Why it cannot be used; null if it can. */
  reason: string | null = null;
  /** Whether batches are lost as soon as they are opened. */
  fragile = false;
  /** Those that were opened, and how. */
  readonly batches: DeferredBatch[] = [];
  readonly devices: DeviceOptions[] = [];
  /** A synchronous environment has the reference in its stead. */
  readonly platform: Platform = {
    backends: [referenceBackend],
    asyncBackends: [this, queued(referenceBackend)],
  };

  async availability() {
    const { name, reason } = this;
    return reason === null ? { name, available: true } : { name, available: false, reason };
  }

  kernels() {
    return [];
  }

  async open(options: AsyncBatchOptions): Promise<AsyncBatch> {
    if (this.reason !== null) throw new BackendError('backend_unavailable', this.reason);
    this.devices.push(options.device);
    const batch = new DeferredBatch(options);
    batch.lost = this.fragile;
    this.batches.push(batch);
    return batch;
  }

  /** Loses the device of every batch that is open. */
  lose(): void {
    for (const batch of this.batches) batch.lost = true;
  }
}

export class DeferredBatch implements AsyncBatch {
  readonly backend = 'deferred';
  readonly kernel = 'the only one';
  readonly threads = 1;
  readonly device = { adapter: 'a test double', software: false, exact: true };
  lost = false;
  closed = false;
  /** What each read has brought back. */
  readonly reads: (readonly OutputName[])[] = [];
  readonly #inner: Batch;
  readonly #computed: Outputs;
  readonly #shown: Outputs;

  constructor({ device: _, ...options }: AsyncBatchOptions) {
    const { outputs, numEnvs } = options;
    this.#shown = outputs;
    this.#computed = allocateOutputs(numEnvs, {
      columnMajor: outputs.columnStride > 0,
      finalObservations: outputs.finalObservations !== null,
    });
    this.#inner = referenceBackend.open({ ...options, outputs: this.#computed });
  }

  /** The batch that computes. @throws BackendError `device_lost`. */
  get #alive(): Batch {
    if (!this.lost) return this.#inner;
    throw new BackendError('device_lost', 'Expected the device, got none: it was lost. Call reopen().');
  }

  /** Settles later, and not at all well if the device was lost meanwhile. */
  async #later<T>(compute: (batch: Batch) => T): Promise<T> {
    const result = compute(this.#alive);
    await new Promise((resolve) => setImmediate(resolve));
    void this.#alive;
    return result;
  }

  reset: AsyncBatch['reset'] = (request) => this.#alive.reset(request);
  submit: AsyncBatch['submit'] = (request) => this.#alive.submit(request);
  load: AsyncBatch['load'] = (words) => this.#alive.load(words);
  gather: AsyncBatch['gather'] = (source, indices) => this.#alive.gather(innerOf(source), indices);
  save: AsyncBatch['save'] = (indices) => this.#later((batch) => batch.save(indices));
  stateHash: AsyncBatch['stateHash'] = () => this.#later((batch) => batch.stateHash());
  targets: AsyncBatch['targets'] = () => this.#later((batch) => batch.targets());

  run({ from, ...request }: RunRequest): Promise<Refusal | null> {
    const origin = from && { source: innerOf(from.source), indices: from.indices };
    return this.#later((batch) => batch.run({ ...request, from: origin }));
  }

  settled = () => this.#later(() => {});

  async read(which: readonly OutputName[] = NAMES): Promise<void> {
    const values = await this.#later(() => which.map((name) => this.#computed[name]?.slice()));
    this.reads.push(which);
    which.forEach((name, k) => {
      this.#shown[name]?.set(values[k] as never);
    });
  }

  close(): void {
    this.closed = true;
    this.#inner.close();
  }

  static innerOf(batch: DeferredBatch): Batch {
    return batch.#alive;
  }
}

const innerOf = (batch: unknown): Batch => DeferredBatch.innerOf(batch as DeferredBatch);
