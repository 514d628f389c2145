/** Adapts a synchronous backend to the asynchronous interface. Each call computes before it returns. */
import type { AsyncBackend, AsyncBatch } from './async-backend.js';
import type { Backend, Batch, Origin, ReplayRequest, RunRequest } from './backend.js';

/** Returns a synchronous backend as an asynchronous one. */
export function toAsyncBackend(backend: Backend): AsyncBackend {
  return {
    name: backend.name,
    availability: async () => backend.availability(),
    kernels: () => backend.kernels(),
    open: async (options) => new AsyncAdapter(backend.open(options)),
    placeOutputs: backend.placeOutputs,
  };
}

class AsyncAdapter implements AsyncBatch {
  readonly device = null;
  readonly #batch: Batch;

  constructor(batch: Batch) {
    this.#batch = batch;
  }

  get backend(): string {
    return this.#batch.backend;
  }
  get kernel(): string {
    return this.#batch.kernel;
  }
  get threads(): number {
    return this.#batch.threads;
  }

  reset: AsyncBatch['reset'] = (request) => this.#batch.reset(request);
  submit: AsyncBatch['submit'] = (request) => this.#batch.submit(request);
  gather: AsyncBatch['gather'] = (source, indices) => this.#batch.gather(batchOf(source), indices);
  load: AsyncBatch['load'] = (words, keepsOutputs) => this.#batch.load(words, keepsOutputs);
  close: AsyncBatch['close'] = () => this.#batch.close();

  async run(request: RunRequest<AsyncBatch>) {
    const { from } = request;
    return this.#batch.run({ ...request, from: from && toOrigin(from) });
  }
  async finished() {}
  /** Updates all outputs, whichever are requested. */
  async read() {
    this.#batch.read();
  }
  async save(indices?: Uint32Array) {
    return this.#batch.save(indices);
  }
  async stateHash() {
    return this.#batch.stateHash();
  }
  async beliefTargets() {
    return this.#batch.beliefTargets();
  }
  async replay(request: ReplayRequest) {
    return this.#batch.replay(request);
  }

  static unwrap(batch: AsyncAdapter): Batch {
    return batch.#batch;
  }
}

const batchOf = (batch: AsyncBatch): Batch => AsyncAdapter.unwrap(batch as AsyncAdapter);
const toOrigin = ({ source, indices }: Origin<AsyncBatch>) => ({
  source: batchOf(source),
  indices,
});
