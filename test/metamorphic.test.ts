/** What must change no result: the order of slots, how many share a batch, how many threads step them. */
import { describe, expect, it } from 'vitest';
import type { ResetRequest, RunRequest, StepRequest } from '../src/backends/backend.js';
import { allocateTrajectory } from '../src/backends/outputs.js';
import { type Columns, copies, expectEqual, joined, rowsOf } from './support/bits.js';
import { ENGINES, type Engine, NATIVE } from './support/engines.js';
import { forAll, Random } from './support/random.js';
import { openBatch, type SeamOptions } from './support/seam.js';

/** Everything that happens to a batch: a reset, steps with masks and autoresets, a fused run to ragged stops. */
interface Story {
  reset: ResetRequest;
  steps: StepRequest[];
  run: RunRequest;
}

function tell(random: Random, n: number): Story {
  const none = new Uint8Array(n);
  return { reset: random.reset(n), steps: [0, 1, 2].map(() => random.step(none)), run: random.run(n) };
}

/** All that can be seen after each part of the story. */
function live(engine: Engine, n: number, { reset, steps, run }: Story, options: SeamOptions = {}): Columns {
  const { batch, see } = openBatch(engine, n, options);
  const seen: Columns[] = [];
  batch.reset(reset);
  seen.push(see());
  for (const step of steps) {
    expect(batch.submit(step)).toBeNull();
    seen.push(see());
  }
  const trajectory = allocateTrajectory(n);
  expect(batch.run({ ...run, trajectory })).toBeNull();
  seen.push(see(), copies(trajectory));
  batch.close();
  return Object.assign({}, ...seen.map((part, k) => labelled(part, k)));
}

const labelled = (columns: Columns, k: number): Columns =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [`${k} ${name}`, column]));

/** The same story for the slots `indices`, in that order. */
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

describe.each(ENGINES)('$name', (engine) => {
  it.each([15, 16, 17, 64])('permuted slots give permuted results: %i', (n) => {
    forAll(8, (random) => {
      const story = tell(random, n);
      const order = random.permutation(n);
      const expected = rowsOf(live(engine, n, story), n, order);
      expectEqual(expected, live(engine, n, retell(story, n, order)));
    });
  });

  it.each([1, 15, 16, 17])('a batch of n is n batches of one: %i', (n) => {
    forAll(5, (random) => {
      const story = tell(random, n);
      const alone = Array.from({ length: n }, (_, i) => live(engine, 1, retell(story, n, Uint32Array.of(i))));
      expectEqual(live(engine, n, story), joined(alone));
    });
  });

  it('the first of a batch of 1000 are a batch of fewer', () => {
    const random = new Random('prefix');
    const story = tell(random, 1000);
    const whole = live(engine, 1000, story);
    for (const n of [1, 15, 16, 17, 999]) {
      const first = Uint32Array.from({ length: n }, (_, i) => i);
      expectEqual(rowsOf(whole, 1000, first), live(engine, n, retell(story, 1000, first)), `${n}:`);
    }
  });
});

describe.each(NATIVE)('$name', (engine) => {
  // A step is shared out from 512 tiles of 16 on, everything else from 32; the last tile here is not full.
  const n = 9000;

  it('any number of threads gives the same', () => {
    const story = tell(new Random('threads'), n);
    const alone = live(engine, n, story, { threads: 1 });
    for (const threads of [2, 3, 7])
      expectEqual(alone, live(engine, n, story, { threads }), `${threads} threads:`);
    const fewer = 600;
    const part = tell(new Random('fewer'), fewer);
    expectEqual(live(engine, fewer, part, { threads: 1 }), live(engine, fewer, part, { threads: 64 }));
  });

  it('and the same as the reference', () => {
    const story = tell(new Random('large'), n);
    expectEqual(live(ENGINES[0], n, story), live(engine, n, story, { threads: 4 }));
  });
});
