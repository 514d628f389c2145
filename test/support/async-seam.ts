/** A batch at the asynchronous seam, below validation, and properties of such batches. */
import fc from 'fast-check';
import { afterEach } from 'vitest';
import type { AsyncBatch, DeviceOptions } from '../../src/backends/async-backend.js';
import type { Outputs } from '../../src/backends/backend.js';
import { allocateOutputs } from '../../src/backends/outputs.js';
import { toDeviceOptions } from '../../src/vec-env/device-options.js';
import type { AsyncEngine } from './async-engines.js';
import { type Columns, everythingOf } from './bits.js';
import { DRAWS, Random } from './random.js';
import { apart, type SeamOptions, WORLD } from './seam.js';

export interface AsyncSeamOptions extends SeamOptions {
  readonly device?: Partial<DeviceOptions>;
}

export interface AsyncOpened {
  readonly batch: AsyncBatch;
  readonly numEnvs: number;
  /** As they were last read. */
  readonly outputs: Outputs;
  /** The outputs, made current. */
  show(): Promise<Outputs>;
  /** Copies of all that it shows and holds. */
  see(): Promise<Columns>;
}

const opened = new Set<AsyncBatch>();

function closeAll(): void {
  for (const batch of opened) batch.close();
  opened.clear();
}

afterEach(closeAll);

/** Closed with the test, or with the run of a property, that opened it. */
export async function openAsync(
  engine: AsyncEngine,
  numEnvs: number,
  options: AsyncSeamOptions = {},
): Promise<AsyncOpened> {
  const { world = WORLD, imagination = false, threads = 1, layout } = options;
  const outputs = apart(allocateOutputs(numEnvs, layout));
  const device = { ...toDeviceOptions(), ...options.device };
  const { kernel } = engine;
  const batch = await engine.backend.open({ numEnvs, world, imagination, threads, kernel, outputs, device });
  opened.add(batch);
  const show = async () => {
    await batch.read();
    return outputs;
  };
  return { batch, numEnvs, outputs, show, see: () => everythingOf(batch, outputs) };
}

/** `forAll` of a body that waits. */
export async function forAllAsync(runs: number, body: (random: Random) => Promise<void>): Promise<void> {
  const property = fc.asyncProperty(fc.integer(), async (seed) => {
    try {
      await body(new Random(seed));
    } finally {
      closeAll();
    }
  });
  await fc.assert(property, { ...DRAWS, numRuns: runs });
}
