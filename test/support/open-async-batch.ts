/** Opens batches at the asynchronous backend interface, without validation. */
import fc from 'fast-check';
import { onTestFinished, TestRunner } from 'vitest';
import type { Batch, Outputs } from '../../src/engine/backends/backend.js';
import type { DeviceOptions } from '../../src/engine/backends/device-options.js';
import { toDeviceOptions } from '../../src/engine/backends/device-options.js';
import type { AsyncEngine } from './async-engines.js';
import { asyncBatchColumns, type Columns } from './bits.js';
import { outputsFor, type TestBatchOptions, WORLD } from './open-batch.js';
import { DRAWS, drawsOf, Random } from './random.js';

export interface AsyncTestBatchOptions extends TestBatchOptions {
  readonly device?: Partial<DeviceOptions>;
}

export interface OpenedAsyncBatch {
  readonly batch: Batch;
  readonly numEnvs: number;
  /** The outputs of the last read. */
  readonly outputs: Outputs;
  /** Reads and returns the outputs. */
  readOutputs(): Promise<Outputs>;
  /** Copies outputs and states. */
  columns(): Promise<Columns>;
}

const opened = new Set<Batch>();

function closeAll(): void {
  for (const batch of opened) batch.close();
  opened.clear();
}

/** Opens a batch, which closes at the end of the test or of a run of `forAllAsync`. */
export async function openAsyncBatch(
  engine: AsyncEngine,
  numEnvs: number,
  options: AsyncTestBatchOptions = {},
): Promise<OpenedAsyncBatch> {
  const { world = WORLD, imagination = false, threads = 1, layout } = options;
  const outputs = outputsFor(engine.backend, numEnvs, layout);
  const device = { ...toDeviceOptions(), ...options.device };
  const { kernel } = engine;
  const batch = await engine.backend.open({ numEnvs, world, imagination, threads, kernel, outputs, device });
  if (opened.size === 0 && TestRunner.getCurrentTest() !== undefined) onTestFinished(closeAll);
  opened.add(batch);
  const readOutputs = async () => {
    await batch.read();
    return outputs;
  };
  return {
    batch,
    numEnvs,
    outputs,
    readOutputs,
    columns: () => asyncBatchColumns(batch, outputs),
  };
}

/** `forAll` with an asynchronous body. */
export async function forAllAsync(runs: number, body: (random: Random) => Promise<void>): Promise<void> {
  const property = fc.asyncProperty(fc.integer(), async (seed) => {
    try {
      await body(new Random(seed));
    } finally {
      closeAll();
    }
  });
  await fc.assert(property, { ...DRAWS, numRuns: drawsOf(runs) });
}
