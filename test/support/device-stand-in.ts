/**
 * A processor's backend that behaves like a device: outputs are current only after a read, promises settle later, and a run
 * writes all 28 steps of its trajectory, even those that it does not take. With this stand-in, tests for devices run on
 * machines without a device.
 */
import { setImmediate as later } from 'node:timers/promises';
import type { AsyncBackend, AsyncBatch, OutputName } from '../../src/engine/backends/async-backend.js';
import type {
  Backend,
  Batch,
  BatchOptions,
  Outputs,
  RecordedTrajectory,
  RunRequest,
} from '../../src/engine/backends/backend.js';
import { nativeBackend } from '../../src/engine/backends/native.js';
import { allocateTrajectory, TRAJECTORY_FIELDS } from '../../src/engine/backends/outputs.js';
import { referenceBackend } from '../../src/engine/backends/reference.js';
import { RunReplay } from '../../src/engine/backends/run-replay.js';
import { separateBuffers } from './open-batch.js';

/** The backend and kernel that compute. */
export interface RealBackend {
  readonly backend: { readonly name: string };
  readonly kernel: string | null;
}

/** Returns a backend that behaves like a device and computes with a processor's backend. */
export function standInFor({ backend, kernel }: RealBackend): AsyncBackend {
  const real: Backend = backend.name === 'native' ? nativeBackend : referenceBackend;
  return {
    name: 'stand-in',
    availability: async () => real.availability(),
    kernels: () => [],
    open: ({ device: _, ...options }) => openStandIn(real, { ...options, kernel }),
  };
}

async function openStandIn(real: Backend, options: BatchOptions): Promise<StandIn> {
  const outputs = separateBuffers(options.outputs);
  await later();
  const replay = new RunReplay(options.world, (numEnvs, rows) =>
    openStandIn(real, { ...options, numEnvs, outputs: rows }),
  );
  return new StandIn(real.open({ ...options, outputs }), outputs, options.outputs, replay);
}

class StandIn implements AsyncBatch {
  readonly backend = 'stand-in';
  readonly kernel = 'stand-in';
  readonly threads = 1;
  readonly device = { adapter: 'stand-in', software: true, exact: true };
  readonly #batch: Batch;
  readonly #deviceOutputs: Outputs;
  readonly #hostOutputs: Outputs;

  readonly #replay: RunReplay;

  constructor(batch: Batch, deviceOutputs: Outputs, hostOutputs: Outputs, replay: RunReplay) {
    this.#batch = batch;
    this.#deviceOutputs = deviceOutputs;
    this.#hostOutputs = hostOutputs;
    this.#replay = replay;
  }

  reset: AsyncBatch['reset'] = (request) => this.#batch.reset(request);
  submit: AsyncBatch['submit'] = (request) => this.#batch.submit(request);
  gather: AsyncBatch['gather'] = (source, indices) => this.#batch.gather(StandIn.of(source), indices);
  load: AsyncBatch['load'] = (words) => this.#batch.load(words);
  close: AsyncBatch['close'] = () => this.#batch.close();

  replay: AsyncBatch['replay'] = (request) => this.#replay.replay(request);
  save = (indices?: Uint32Array) => resolveLater(this.#batch.save(indices));
  stateHash = () => resolveLater(this.#batch.stateHash());
  beliefTargets = () => resolveLater(this.#batch.beliefTargets());

  async run({ from, trajectory, ...request }: RunRequest<AsyncBatch>) {
    const numEnvs = this.#deviceOutputs.rewards.length;
    const fields = trajectory && TRAJECTORY_FIELDS.filter((name) => trajectory[name] !== undefined);
    const isColumnMajor = trajectory !== null && trajectory.columnStride !== 0;
    const rows = fields && allocateTrajectory(numEnvs, fields, isColumnMajor);
    const origin = from && { ...from, source: StandIn.of(from.source) };
    const refusal = this.#batch.run({ ...request, from: origin, trajectory: rows });
    await later();
    if (refusal === null && trajectory !== null) {
      write(rows!, trajectory, numEnvs, request.part ?? { first: 0, end: numEnvs });
    }
    return refusal;
  }

  async finished() {
    await later();
  }

  async read(which: readonly OutputName[] = namesOf(this.#deviceOutputs)) {
    const copies = which.map((name) => [name, this.#deviceOutputs[name]!.slice()] as const);
    await later();
    for (const [name, array] of copies) this.#hostOutputs[name]!.set(array);
  }

  static of(batch: unknown): Batch {
    return (batch as StandIn).#batch;
  }
}

async function resolveLater<T>(value: T): Promise<T> {
  await later();
  return value;
}

const namesOf = (outputs: Outputs): OutputName[] =>
  (Object.keys(outputs) as (keyof Outputs)[]).filter(
    (name): name is OutputName => name !== 'columnStride' && outputs[name] !== null,
  );

/** Copies all steps of the environments that ran. */
function write(
  from: RecordedTrajectory,
  to: RecordedTrajectory,
  numEnvs: number,
  { first, end }: { first: number; end: number },
): void {
  for (const name of TRAJECTORY_FIELDS) {
    const [source, target] = [from[name], to[name]];
    if (source === undefined || target === undefined) continue;
    // A stride of 0 stands for the row-major layout.
    if (from.columnStride === 0) {
      const width = source.length / numEnvs;
      target.set(source.subarray(first * width, end * width), first * width);
      continue;
    }
    for (let at = 0; at < source.length; at += from.columnStride) {
      target.set(source.subarray(at + first, at + end), at + first);
    }
  }
}
