/** A batch at the seam, below validation, with the outputs that it writes. */
import type { Batch, OutputLayout, Outputs } from '../../src/backends/backend.js';
import { BACKENDS } from '../../src/backends/node.js';
import { allocateOutputs } from '../../src/backends/outputs.js';
import { createWorld, type World } from '../../src/world/world.js';
import { type Columns, everything } from './bits.js';
import type { Engine } from './engines.js';

export const WORLD = createWorld();

export interface SeamOptions {
  world?: World;
  imagination?: boolean;
  threads?: number;
  /** Default: row-major, without final observations. */
  layout?: OutputLayout;
}

export interface Opened {
  readonly batch: Batch;
  readonly outputs: Outputs;
  /** Copies of all that it shows and holds. */
  see(): Columns;
}

/** Each array in a buffer of its own, so that a write past its end is past the end of memory. */
export const apart = (outputs: Outputs): Outputs =>
  Object.fromEntries(
    Object.entries(outputs).map(([name, value]) => [
      name,
      ArrayBuffer.isView(value) ? (value as Float32Array).slice() : value,
    ]),
  ) as unknown as Outputs;

export function openBatch(engine: Engine, numEnvs: number, options: SeamOptions = {}): Opened {
  const { world = WORLD, imagination = false, threads = 1, layout } = options;
  const outputs = apart(allocateOutputs(numEnvs, layout));
  const kernel = engine.kernel ?? null;
  const backend = BACKENDS.find(({ name }) => name === engine.backend)!;
  const batch = backend.open({ numEnvs, world, imagination, threads, kernel, outputs });
  return { batch, outputs, see: () => everything(batch, outputs) };
}
