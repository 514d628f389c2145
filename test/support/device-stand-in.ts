/**
 * A processor's backend that behaves like a device: outputs are current only after a read, promises settle later, and a run
 * writes all 28 steps of its trajectory, even those that it does not take. With this stand-in, tests for devices run on
 * machines without a device.
 */
import { setImmediate as later } from 'node:timers/promises';
import type {
  Backend,
  Batch,
  BatchOptions,
  OutputName,
  Outputs,
  RecordedTrajectory,
  RunRequest,
  SyncBackend,
  SyncBatch,
} from '../../src/engine/backends/backend.js';
import { nativeBackend } from '../../src/engine/backends/native.js';
import { allocateTrajectory, TRAJECTORY_FIELDS } from '../../src/engine/backends/outputs.js';
import { referenceBackend } from '../../src/engine/backends/reference.js';
import { RunReplay } from '../../src/engine/backends/run-replay.js';
import { BackendError } from '../../src/shared/errors.js';
import { separateBuffers } from './open-batch.js';

/** The backend and kernel that compute. */
export interface RealBackend {
  readonly backend: { readonly name: string };
  readonly kernel: string | null;
}

/** The properties of stand-ins that tests may see. */
export interface StandInProperties {
  readonly backend: string;
  readonly kernel: string;
  readonly device: Batch['device'];
}

const PROPERTIES: StandInProperties = {
  backend: 'stand-in',
  kernel: 'stand-in',
  device: { adapter: 'stand-in', software: true, exact: true },
};

/** Returns a backend that behaves like a device and computes with a processor's backend. */
export function standInFor({ backend, kernel }: RealBackend): Backend {
  const real: SyncBackend = backend.name === 'native' ? nativeBackend : referenceBackend;
  return {
    name: PROPERTIES.backend,
    availability: async () => real.availability(),
    kernels: () => [],
    open: ({ device: _, ...options }) => openStandIn(real, { ...options, kernel }),
  };
}

/** Opens a batch that computes with a processor's backend. */
export async function openStandIn(
  real: SyncBackend,
  options: BatchOptions,
  properties = PROPERTIES,
): Promise<StandIn> {
  const outputs = separateBuffers(options.outputs);
  await later();
  const replay = new RunReplay(options.world, (numEnvs, rows) =>
    openStandIn(real, { ...options, numEnvs, outputs: rows }),
  );
  return new StandIn(real.open({ ...options, outputs }), outputs, options.outputs, replay, properties);
}

export class StandIn implements Batch {
  readonly backend: string;
  readonly kernel: string;
  readonly threads = 1;
  readonly device: Batch['device'];
  /** Whether the device is lost, so that all calls fail. */
  lost = false;
  closed = false;
  /** The names of the outputs that each read copied. */
  readonly reads: (readonly OutputName[])[] = [];
  readonly #batch: SyncBatch;
  readonly #deviceOutputs: Outputs;
  readonly #hostOutputs: Outputs;
  readonly #replay: RunReplay;

  constructor(
    batch: SyncBatch,
    deviceOutputs: Outputs,
    hostOutputs: Outputs,
    replay: RunReplay,
    { backend, kernel, device }: StandInProperties,
  ) {
    this.#batch = batch;
    this.#deviceOutputs = deviceOutputs;
    this.#hostOutputs = hostOutputs;
    this.#replay = replay;
    this.backend = backend;
    this.kernel = kernel;
    this.device = device;
  }

  /** The batch that computes. @throws BackendError `device_lost`. */
  get #reachable(): SyncBatch {
    if (!this.lost) return this.#batch;
    throw new BackendError('device_lost', 'Expected the device, got none: it was lost. Call reopen().');
  }

  /** Computes at once and settles later. Rejects if the device is lost by then. */
  async #later<T>(compute: (batch: SyncBatch) => T): Promise<T> {
    const result = compute(this.#reachable);
    await later();
    void this.#reachable;
    return result;
  }

  reset: Batch['reset'] = (request) => this.#reachable.reset(request);
  submit: Batch['submit'] = (request) => this.#reachable.submit(request);
  gather: Batch['gather'] = (source, indices) => this.#reachable.gather(StandIn.of(source), indices);
  load: Batch['load'] = (words, keepsOutputs) => this.#reachable.load(words, keepsOutputs);
  replay: Batch['replay'] = (request) => this.#replay.replay(request);
  save = (indices?: Uint32Array) => this.#later((batch) => batch.save(indices));
  stateHash = () => this.#later((batch) => batch.stateHash());
  beliefTargets = () => this.#later((batch) => batch.beliefTargets());
  finished = () => this.#later(() => {});

  async run({ from, trajectory, ...request }: RunRequest) {
    const numEnvs = this.#deviceOutputs.rewards.length;
    const fields = trajectory && TRAJECTORY_FIELDS.filter((name) => trajectory[name] !== undefined);
    const isColumnMajor = trajectory !== null && trajectory.columnStride !== 0;
    const rows = fields && allocateTrajectory(numEnvs, fields, isColumnMajor);
    const origin = from && { ...from, source: StandIn.of(from.source) };
    const refusal = await this.#later((batch) => batch.run({ ...request, from: origin, trajectory: rows }));
    if (refusal === null && trajectory !== null) {
      write(rows!, trajectory, numEnvs, request.slice ?? { first: 0, end: numEnvs });
    }
    return refusal;
  }

  async read(which: readonly OutputName[] = namesOf(this.#deviceOutputs)) {
    this.reads.push(which);
    const copies = await this.#later(() => which.map((name) => this.#deviceOutputs[name]!.slice()));
    which.forEach((name, k) => {
      this.#hostOutputs[name]!.set(copies[k] as never);
    });
  }

  close(): void {
    this.closed = true;
    this.#batch.close();
  }

  static of(batch: unknown): SyncBatch {
    return (batch as StandIn).#reachable;
  }
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
