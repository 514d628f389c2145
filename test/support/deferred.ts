/**
 * A backend that behaves like a device and computes with the reference: outputs change only when they are read, promises
 * settle later, and a test can lose the device.
 */

import { toAsyncBackend } from '../../src/engine/backends/async-adapter.js';
import type {
  AsyncBackend,
  AsyncBatch,
  AsyncBatchOptions,
  DeviceOptions,
  OutputName,
} from '../../src/engine/backends/async-backend.js';
import type { Batch, Outputs, Refusal, RunRequest } from '../../src/engine/backends/backend.js';
import { allocateOutputs, OUTPUT_ARRAYS } from '../../src/engine/backends/outputs.js';
import type { Platform } from '../../src/engine/backends/platform.js';
import { referenceBackend } from '../../src/engine/backends/reference.js';
import { BackendError } from '../../src/shared/errors.js';

const NAMES = Object.keys(OUTPUT_ARRAYS) as OutputName[];

export class DeferredBackend implements AsyncBackend {
  readonly name = 'deferred';
  /** The reason why the backend is unavailable; null if it is available. */
  reason: string | null = null;
  /** Whether each new batch loses its device at once. */
  fragile = false;
  /** The opened batches, and their device options. */
  readonly batches: DeferredBatch[] = [];
  readonly devices: DeviceOptions[] = [];
  /** A platform whose synchronous environments use the reference. */
  readonly platform: Platform = {
    backends: [referenceBackend],
    asyncBackends: [this, toAsyncBackend(referenceBackend)],
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

  /** Loses the device of every batch. */
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
  /** The names of the outputs that each read copied. */
  readonly reads: (readonly OutputName[])[] = [];
  readonly #inner: Batch;
  readonly #deviceOutputs: Outputs;
  readonly #hostOutputs: Outputs;

  constructor({ device: _, ...options }: AsyncBatchOptions) {
    const { outputs, numEnvs } = options;
    this.#hostOutputs = outputs;
    this.#deviceOutputs = allocateOutputs(numEnvs, {
      columnMajor: outputs.columnStride > 0,
      finalObservations: outputs.finalObservations !== null,
    });
    this.#inner = referenceBackend.open({ ...options, outputs: this.#deviceOutputs });
  }

  /** The batch that computes. @throws BackendError `device_lost`. */
  get #reachable(): Batch {
    if (!this.lost) return this.#inner;
    throw new BackendError('device_lost', 'Expected the device, got none: it was lost. Call reopen().');
  }

  /** Computes at once and settles later. Rejects if the device is lost by then. */
  async #later<T>(compute: (batch: Batch) => T): Promise<T> {
    const result = compute(this.#reachable);
    await new Promise((resolve) => setImmediate(resolve));
    void this.#reachable;
    return result;
  }

  reset: AsyncBatch['reset'] = (request) => this.#reachable.reset(request);
  submit: AsyncBatch['submit'] = (request) => this.#reachable.submit(request);
  load: AsyncBatch['load'] = (words) => this.#reachable.load(words);
  gather: AsyncBatch['gather'] = (source, indices) => this.#reachable.gather(innerOf(source), indices);
  save: AsyncBatch['save'] = (indices) => this.#later((batch) => batch.save(indices));
  stateHash: AsyncBatch['stateHash'] = () => this.#later((batch) => batch.stateHash());
  beliefTargets: AsyncBatch['beliefTargets'] = () => this.#later((batch) => batch.beliefTargets());

  replay: AsyncBatch['replay'] = (request) => this.#later((batch) => batch.replay(request));

  run({ from, ...request }: RunRequest<AsyncBatch>): Promise<Refusal | null> {
    const origin = from && { source: innerOf(from.source), indices: from.indices };
    return this.#later((batch) => batch.run({ ...request, from: origin }));
  }

  finished = () => this.#later(() => {});

  async read(which: readonly OutputName[] = NAMES): Promise<void> {
    const values = await this.#later(() => which.map((name) => this.#deviceOutputs[name]?.slice()));
    this.reads.push(which);
    which.forEach((name, k) => {
      this.#hostOutputs[name]?.set(values[k] as never);
    });
  }

  close(): void {
    this.closed = true;
    this.#inner.close();
  }

  static innerOf(batch: DeferredBatch): Batch {
    return batch.#reachable;
  }
}

const innerOf = (batch: unknown): Batch => DeferredBatch.innerOf(batch as DeferredBatch);
