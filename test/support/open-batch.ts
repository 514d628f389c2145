/** Opens batches at the backend interface, without validation. */
import type { OutputLayout, Outputs, SyncBackend, SyncBatch } from '../../src/engine/backends/backend.js';
import { BACKENDS } from '../../src/engine/backends/node.js';
import { allocateOutputs } from '../../src/engine/backends/outputs.js';
import { createWorld, type World } from '../../src/world/world.js';
import { batchColumns, type Columns } from './bits.js';
import type { Engine } from './engines.js';

export const WORLD = createWorld();

export interface TestBatchOptions {
  world?: World;
  imagination?: boolean;
  threads?: number;
  /** Default: row-major, without final observations. */
  layout?: OutputLayout;
}

export interface OpenedBatch {
  readonly batch: SyncBatch;
  readonly outputs: Outputs;
  /** Copies outputs, states, hashes and targets. */
  columns(): Columns;
}

/** Gives each array its own buffer, so that a write past the end of an array changes no other array. */
export const separateBuffers = (outputs: Outputs): Outputs =>
  Object.fromEntries(
    Object.entries(outputs).map(([name, value]) => [
      name,
      ArrayBuffer.isView(value) ? (value as Float32Array).slice() : value,
    ]),
  ) as unknown as Outputs;

/** Allocates the outputs of a batch: in separate buffers, except for `wasm`, which writes to its own memory. */
export const outputsFor = (
  { name, placeOutputs }: Pick<SyncBackend, 'name' | 'placeOutputs'>,
  numEnvs: number,
  layout?: OutputLayout,
): Outputs =>
  name === 'wasm'
    ? allocateOutputs(numEnvs, layout, placeOutputs)
    : separateBuffers(allocateOutputs(numEnvs, layout));

/** Opens a batch on an engine. */
export function openBatch(engine: Engine, numEnvs: number, options: TestBatchOptions = {}): OpenedBatch {
  const { world = WORLD, imagination = false, threads = 1, layout } = options;
  const kernel = engine.kernel ?? null;
  const backend = BACKENDS.find(({ name }) => name === engine.backend)!;
  const outputs = outputsFor(backend, numEnvs, layout);
  const batch = backend.open({ numEnvs, world, imagination, threads, kernel, outputs });
  return { batch, outputs, columns: () => batchColumns(batch, outputs) };
}
