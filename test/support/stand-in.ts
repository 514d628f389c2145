/**
 * A processor's backend with the manners of a device: outputs are current only once they were read, promises settle
 * late, and a run writes whole rows of its trajectory. What forgets any of it is seen where there is no device.
 */
import { setImmediate as later } from 'node:timers/promises';
import type { AsyncBackend, AsyncBatch, OutputName } from '../../src/backends/async-backend.js';
import type { Backend, Batch, Outputs, RunRequest, Trajectory } from '../../src/backends/backend.js';
import { nativeBackend } from '../../src/backends/native.js';
import { allocateTrajectory } from '../../src/backends/outputs.js';
import { referenceBackend } from '../../src/backends/reference.js';
import { NUM_STEPS } from '../../src/world/fields.js';
import { apart } from './seam.js';

/** What it really computes on. */
export interface Substance {
  readonly backend: { readonly name: string };
  readonly kernel: string | null;
}

export function standInFor({ backend, kernel }: Substance): AsyncBackend {
  const real: Backend = backend.name === 'native' ? nativeBackend : referenceBackend;
  return {
    name: 'stand-in',
    availability: async () => real.availability(),
    kernels: () => [],
    open: async ({ device: _, ...options }) => {
      const outputs = apart(options.outputs);
      await later();
      return new StandIn(real.open({ ...options, kernel, outputs }), outputs, options.outputs);
    },
  };
}

class StandIn implements AsyncBatch {
  readonly backend = 'stand-in';
  readonly kernel = 'stand-in';
  readonly threads = 1;
  readonly device = { adapter: 'stand-in', software: true, exact: true };
  readonly #batch: Batch;
  readonly #there: Outputs;
  readonly #here: Outputs;

  constructor(batch: Batch, there: Outputs, here: Outputs) {
    this.#batch = batch;
    this.#there = there;
    this.#here = here;
  }

  reset: AsyncBatch['reset'] = (request) => this.#batch.reset(request);
  submit: AsyncBatch['submit'] = (request) => this.#batch.submit(request);
  gather: AsyncBatch['gather'] = (source, indices) => this.#batch.gather(StandIn.of(source), indices);
  load: AsyncBatch['load'] = (words) => this.#batch.load(words);
  close: AsyncBatch['close'] = () => this.#batch.close();

  save = (indices?: Uint32Array) => settled(this.#batch.save(indices));
  stateHash = () => settled(this.#batch.stateHash());
  targets = () => settled(this.#batch.targets());

  async run({ from, trajectory, ...request }: RunRequest) {
    const numEnvs = this.#there.rewards.length;
    const rows = trajectory && allocateTrajectory(numEnvs);
    const origin = from && { ...from, source: StandIn.of(from.source) };
    const refusal = this.#batch.run({ ...request, from: origin, trajectory: rows });
    await later();
    if (refusal === null && trajectory !== null) {
      write(rows!, trajectory, request.part ?? { first: 0, end: numEnvs });
    }
    return refusal;
  }

  async settled() {
    await later();
  }

  async read(which: readonly OutputName[] = namesOf(this.#there)) {
    const now = which.map((name) => [name, this.#there[name]!.slice()] as const);
    await later();
    for (const [name, array] of now) this.#here[name]!.set(array);
  }

  static of(batch: unknown): Batch {
    return (batch as StandIn).#batch;
  }
}

async function settled<T>(value: T): Promise<T> {
  await later();
  return value;
}

const namesOf = (outputs: Outputs): OutputName[] =>
  (Object.keys(outputs) as (keyof Outputs)[]).filter(
    (name): name is OutputName => name !== 'columnStride' && outputs[name] !== null,
  );

/** The rows of all slots that ran, whichever steps they took. */
function write(rows: Trajectory, to: Trajectory, { first, end }: { first: number; end: number }): void {
  for (const name of Object.keys(rows) as (keyof Trajectory)[]) {
    const width = (rows[name].length / rows.actions.length) * NUM_STEPS;
    to[name].set(rows[name].subarray(first * width, end * width), first * width);
  }
}
