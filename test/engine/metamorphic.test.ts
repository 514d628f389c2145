/** Results do not depend on the order of environments, the size of the batch or the number of threads. */
import { describe, expect, it } from 'vitest';
import type { ResetRequest, RunRequest, StepRequest } from '../../src/engine/backends/backend.js';
import { allocateTrajectory } from '../../src/engine/backends/outputs.js';
import {
  ASYNC_ENGINES,
  type AsyncEngine,
  nameAbsent,
  OTHERS,
  REFERENCE,
  runsOn,
} from '../support/async-engines.js';
import { type Columns, concatColumns, copyColumns, expectEqual, rowsOf } from '../support/bits.js';
import { type AsyncTestBatchOptions, forAllAsync, openAsyncBatch } from '../support/open-async-batch.js';
import { Random } from '../support/random.js';

nameAbsent();

/** A call sequence: a reset, steps with masks and autoresets, and a fused run to different stops. */
interface Story {
  reset: ResetRequest;
  steps: StepRequest[];
  run: RunRequest;
}

function tell(random: Random, n: number): Story {
  const none = new Uint8Array(n);
  return { reset: random.reset(n), steps: [0, 1, 2].map(() => random.step(none)), run: random.run(n) };
}

/** Plays a call sequence. @returns all columns after each part of it. */
async function live(
  engine: AsyncEngine,
  n: number,
  { reset, steps, run }: Story,
  options: AsyncTestBatchOptions = {},
): Promise<Columns> {
  const { batch, columns: see } = await openAsyncBatch(engine, n, options);
  const seen: Columns[] = [];
  batch.reset(reset);
  seen.push(await see());
  for (const step of steps) {
    expect(batch.submit(step)).toBeNull();
    seen.push(await see());
  }
  const trajectory = allocateTrajectory(n);
  expect(await batch.run({ ...run, trajectory })).toBeNull();
  seen.push(await see(), copyColumns(trajectory));
  batch.close();
  return Object.assign({}, ...seen.map((part, k) => labelled(part, k)));
}

const labelled = (columns: Columns, k: number): Columns =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [`${k} ${name}`, column]));

/** Returns the call sequence of the environments `indices`, in that order. */
function retell(story: Story, n: number, indices: Uint32Array): Story {
  return select(story, n, indices) as Story;
}

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

/** Options that divide the work and must not change results, for each engine that has them. */
const SHARES: Record<string, AsyncTestBatchOptions[]> = {
  native: [{ threads: 2 }, { threads: 3 }, { threads: 7 }],
  webgpu: [
    { device: { workgroupSize: 32 } },
    { device: { workgroupSize: 128 } },
    { device: { maxDispatchMs: 1 } },
  ],
};

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  it.each([15, 16, 17, 64])('permuted environments give permuted results: %i', (n) =>
    forAllAsync(runsOn(engine, 8), async (random) => {
      const story = tell(random, n);
      const order = random.permutation(n);
      const expected = rowsOf(await live(engine, n, story), n, order);
      expectEqual(expected, await live(engine, n, retell(story, n, order)));
    }),
  );

  it.each([1, 15, 16, 17])('a batch of n equals n batches of one: %i', (n) =>
    forAllAsync(runsOn(engine, 5), async (random) => {
      const story = tell(random, n);
      const alone: Columns[] = [];
      for (let i = 0; i < n; i++) alone.push(await live(engine, 1, retell(story, n, Uint32Array.of(i))));
      expectEqual(await live(engine, n, story), concatColumns(alone));
    }),
  );

  it('the first environments of a batch of 1000 equal a smaller batch', async () => {
    const random = new Random('prefix');
    const story = tell(random, 1000);
    const whole = await live(engine, 1000, story);
    for (const n of [1, 15, 16, 17, 65, 999]) {
      const first = Uint32Array.from({ length: n }, (_, i) => i);
      const fewer = await live(engine, n, retell(story, 1000, first));
      expectEqual(rowsOf(whole, 1000, first), fewer, `${n}:`);
    }
  });
});

describe.each(OTHERS)('$name', (engine) => {
  // A step uses threads from 512 tiles of 16 on, other calls from 32. The last tile here is not full.
  const n = 9000;

  it('any number of threads, and any workgroup size, gives the same results', async () => {
    const story = tell(new Random('threads'), n);
    const alone = await live(engine, n, story);
    for (const share of SHARES[engine.backend.name] ?? []) {
      expectEqual(alone, await live(engine, n, story, share), `${JSON.stringify(share)}:`);
    }
    const fewer = 600;
    const part = tell(new Random('fewer'), fewer);
    expectEqual(await live(engine, fewer, part), await live(engine, fewer, part, { threads: 64 }));
  });

  it('results equal the reference', async () => {
    const story = tell(new Random('large'), n);
    expectEqual(await live(REFERENCE, n, story), await live(engine, n, story, { threads: 4 }));
  });
});
