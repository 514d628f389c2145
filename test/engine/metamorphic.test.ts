/** Results do not depend on the order of environments, the size of the batch or the number of threads. */
import { describe, expect, it } from 'vitest';
import type { ResetRequest, RunRequest, StepRequest } from '../../src/engine/backends/backend.js';
import { allocateTrajectory } from '../../src/engine/backends/outputs.js';
import { NUM_STEPS } from '../../src/world/fields.js';
import {
  ASYNC_ENGINES,
  type AsyncEngine,
  OTHERS,
  REFERENCE,
  reportAbsentEngines,
  runsOn,
} from '../support/async-engines.js';
import { type Columns, concatColumns, copyColumns, expectEqual, rowsOf } from '../support/bits.js';
import { type AsyncTestBatchOptions, forAllAsync, openAsyncBatch } from '../support/open-async-batch.js';
import { Random } from '../support/random.js';

reportAbsentEngines();

/** A reset, steps with masks and autoresets, and a run that stops the environments at different steps. */
interface CallSequence {
  reset: ResetRequest;
  steps: StepRequest[];
  run: RunRequest;
}

/** Draws a call sequence. @param startsLate whether episodes begin at later steps, of which at least four are left. */
function randomSequence(random: Random, n: number, startsLate = random.chance(0.4)): CallSequence {
  const noneFinished = new Uint8Array(n);
  const start = startsLate ? random.starts(n, NUM_STEPS - 4) : undefined;
  return {
    reset: { ...random.reset(n), start },
    steps: [0, 1, 2].map(() => random.step(noneFinished)),
    run: random.run(n),
  };
}

/** Plays a call sequence. @returns all columns after each call. */
async function play(
  engine: AsyncEngine,
  n: number,
  { reset, steps, run }: CallSequence,
  options: AsyncTestBatchOptions = {},
): Promise<Columns> {
  const { batch, columns } = await openAsyncBatch(engine, n, options);
  const columnsOfCalls: Columns[] = [];
  batch.reset(reset);
  columnsOfCalls.push(await columns());
  for (const step of steps) {
    expect(batch.submit(step)).toBeNull();
    columnsOfCalls.push(await columns());
  }
  const trajectory = allocateTrajectory(n);
  expect(await batch.run({ ...run, trajectory })).toBeNull();
  columnsOfCalls.push(await columns(), copyColumns(trajectory));
  batch.close();
  return Object.assign({}, ...columnsOfCalls.map((part, k) => labelled(part, k)));
}

const labelled = (columns: Columns, k: number): Columns =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [`${k} ${name}`, column]));

/** Returns the call sequence of the environments `indices`, in that order. */
function selectEnvs(sequence: CallSequence, n: number, indices: Uint32Array): CallSequence {
  return select(sequence, n, indices) as CallSequence;
}

/** Returns a value with each array of n rows replaced by its rows at `indices`. */
function select(value: unknown, n: number, indices: Uint32Array): unknown {
  if (ArrayBuffer.isView(value)) {
    const column = value as Float32Array;
    return column.length % n === 0 ? rowsOf({ column }, n, indices).column : column;
  }
  if (Array.isArray(value)) return value.map((entry) => select(entry, n, indices));
  if (typeof value !== 'object' || value === null) return value;
  if ('kind' in value && value.kind === 'constant') return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, select(entry, n, indices)]));
}

/** Options that divide the work differently and must not change results, by backend. */
const DIVISIONS: Record<string, AsyncTestBatchOptions[]> = {
  native: [{ threads: 2 }, { threads: 7 }],
  webgpu: [{ device: { workgroupSize: 256 } }, { device: { maxDispatchMs: 1 } }],
};

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  it.each([15, 16, 17, 64])('permuted environments give permuted results: %i environments', (n) =>
    forAllAsync(runsOn(engine, 8), async (random) => {
      const sequence = randomSequence(random, n);
      const order = random.permutation(n);
      const expected = rowsOf(await play(engine, n, sequence), n, order);
      expectEqual(expected, await play(engine, n, selectEnvs(sequence, n, order)));
    }),
  );

  // Native kernels have tiles of 16 environments. On a device each size takes seconds.
  it.each(engine.isDevice ? [1, 17] : [1, 15, 16, 17])(
    'a batch has the results of batches of one environment each: %i environments',
    (n) =>
      forAllAsync(runsOn(engine, 5), async (random) => {
        const sequence = randomSequence(random, n);
        const alone: Columns[] = [];
        for (let i = 0; i < n; i++)
          alone.push(await play(engine, 1, selectEnvs(sequence, n, Uint32Array.of(i))));
        expectEqual(await play(engine, n, sequence), concatColumns(alone));
      }),
  );

  it('the first environments of a batch of 200 equal a smaller batch', async () => {
    const random = new Random('prefix');
    const sequence = randomSequence(random, 200);
    const whole = await play(engine, 200, sequence);
    for (const n of [1, 15, 16, 17, 65, 199]) {
      const first = Uint32Array.from({ length: n }, (_, i) => i);
      const fewer = await play(engine, n, selectEnvs(sequence, 200, first));
      expectEqual(rowsOf(whole, 200, first), fewer, `${n}:`);
    }
  });
});

// Steps use threads from 512 tiles of 16 environments on, other calls from 32 tiles. The last tile here is not full.
const MANY = 8200;
const large = randomSequence(new Random('large'), MANY, true);
const expectedOfLarge = await play(REFERENCE, MANY, large);

describe.each(OTHERS)('$name', (engine) => {
  it('the number of threads, the workgroup size and the dispatch time do not change results', async () => {
    for (const division of DIVISIONS[engine.backend.name] ?? []) {
      expectEqual(expectedOfLarge, await play(engine, MANY, large, division), `${JSON.stringify(division)}:`);
    }
    // More threads than tiles: 600 environments are 38 tiles.
    const few = 600;
    const sequence = randomSequence(new Random('fewer'), few);
    expectEqual(await play(engine, few, sequence), await play(engine, few, sequence, { threads: 64 }));
  });

  it('results equal the reference', async () => {
    expectEqual(expectedOfLarge, await play(engine, MANY, large));
  });
});
