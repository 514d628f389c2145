/** Copying episodes between batches: what a fork and an assignment are made of. */
import { describe, expect, it } from 'vitest';
import type { RunRequest } from '../src/backends/backend.js';
import { allocateTrajectory } from '../src/backends/outputs.js';
import { NUM_STEPS } from '../src/world/fields.js';
import { ASYNC_ENGINES, type AsyncEngine, nameAbsent, REFERENCE, runsOn } from './support/async-engines.js';
import { type AsyncOpened, forAllAsync, openAsync } from './support/async-seam.js';
import { asCopied, copies, expectEqual, rowsOf } from './support/bits.js';
import { Random } from './support/random.js';

nameAbsent();

async function ragged(random: Random, opened: AsyncOpened): Promise<AsyncOpened> {
  const { batch, numEnvs, show } = opened;
  batch.reset(random.anyReset(numEnvs));
  expect(await batch.run(random.run(numEnvs))).toBeNull();
  // Slots that did not step show no reward, slots that began anew still show the grade before.
  expect(batch.submit(random.step((await show()).terminated))).toBeNull();
  return opened;
}

const HEURISTIC: RunRequest = {
  policy: { kind: 'heuristic' },
  beliefs: null,
  stops: null,
  trajectory: null,
};

/** Where a run is to begin. The source of an asynchronous batch's is another such batch. */
const originOf = ({ batch }: AsyncOpened, indices: Uint32Array): RunRequest['from'] => ({
  source: batch as never,
  indices,
});

/** Often many slots in a row from the same one, as in a group of rollouts. */
function anyIndices(random: Random, from: number, to: number): Uint32Array {
  const group = random.pick([1, 16]);
  const indices = Uint32Array.from({ length: to }, () => random.integer(0, from - 1));
  return indices.map((_, i) => indices[i - (i % group)]);
}

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  /** Laid out and played in any way. */
  const anyBatch = async (random: Random, n: number) => {
    const layout = { columnMajor: random.chance(0.5), finalObservations: true };
    return ragged(random, await openAsync(engine, n, { layout }));
  };

  it('slot i becomes slot indices[i] of the source, and shows what it showed', () =>
    forAllAsync(runsOn(engine, 60), async (random) => {
      const [from, to] = [random.pick([1, 16, 17, 40]), random.pick([1, 15, 33])];
      const source = await anyBatch(random, from);
      const target = await anyBatch(random, to);
      const indices = anyIndices(random, from, to);
      const before = await source.see();
      target.batch.gather(source.batch, indices);
      expectEqual(before, await source.see(), 'the source');
      expectEqual(asCopied(rowsOf(before, from, indices)), await target.see());
    }));

  it('a run from another batch is a copy of its slots, then the run', () =>
    forAllAsync(runsOn(engine, 30), async (random) => {
      const [size, to] = [random.pick([1, 17, 40]), random.pick([1, 15, 33])];
      const source = await anyBatch(random, size);
      const [copied, started] = [await anyBatch(random, to), await anyBatch(random, to)];
      const indices = anyIndices(random, size, to);
      const trajectories = [allocateTrajectory(to), allocateTrajectory(to)];
      const request = random.run(to);
      const before = await source.see();
      copied.batch.gather(source.batch, indices);
      expect(await copied.batch.run({ ...request, trajectory: trajectories[0] })).toBeNull();
      const from = originOf(source, indices);
      expect(await started.batch.run({ ...request, from, trajectory: trajectories[1] })).toBeNull();
      expectEqual(before, await source.see(), 'the source');
      expectEqual(await copied.see(), await started.see());
      expectEqual(copies(trajectories[0]), copies(trajectories[1]));
    }));

  it('a tape is judged from where its source stands; refused, nothing is copied', async () => {
    const [source, target] = [await openAsync(engine, 2), await openAsync(engine, 3)];
    const random = new Random('judged');
    for (const { batch, numEnvs } of [source, target]) batch.reset(random.anyReset(numEnvs));
    await source.batch.run({ ...HEURISTIC, stops: Uint8Array.of(21, 0) });
    const actions = new Uint8Array(3 * NUM_STEPS).fill(10, 2 * NUM_STEPS + 20, 2 * NUM_STEPS + 21);
    const tape: RunRequest = { ...HEURISTIC, policy: { kind: 'tape', actions } };
    const before = await target.see();
    const runFrom = (...indices: number[]) =>
      target.batch.run({ ...tape, from: originOf(source, Uint32Array.from(indices)) });
    expect(await runFrom(0, 0, 1)).toEqual({ code: 'illegal_action', index: 2, step: 20, value: 10 });
    expectEqual(before, await target.see());
    expect(await runFrom(1, 1, 0)).toBeNull();
    expect((await target.show()).terminated).toEqual(Uint8Array.of(1, 1, 1));
  });

  it('within one batch, from the states as they were', () =>
    forAllAsync(runsOn(engine, 30), async (random) => {
      const n = 33;
      const { batch, see } = await ragged(random, await openAsync(engine, n));
      const before = await see();
      const order = random.permutation(n);
      batch.gather(batch, order);
      expectEqual(asCopied(rowsOf(before, n, order)), await see());
    }));

  it('a step after a copy is that of the reference', () =>
    forAllAsync(runsOn(engine, 40), async (random) => {
      const [seed, n] = [random.integer(0, 1e6), 33];
      const steppedOn = async (each: AsyncEngine) => {
        const same = new Random(seed);
        const source = await ragged(same, await openAsync(each, n));
        const { batch, show, see } = await openAsync(each, n);
        batch.gather(source.batch, same.permutation(n));
        expect(batch.submit(same.step((await show()).terminated))).toBeNull();
        return see();
      };
      expectEqual(await steppedOn(REFERENCE), await steppedOn(engine));
    }));

  it('a copy and its original part ways', async () => {
    const { batch } = await openAsync(engine, 2);
    batch.reset({ mask: null, seeds: Uint32Array.of(5, 6), modes: null, profiles: null, graders: null });
    batch.gather(batch, Uint32Array.of(0, 0));
    const step = async (first: number, second: number) => {
      batch.submit({
        actions: Uint8Array.of(first, second),
        beliefs: null,
        given: null,
        stepMask: null,
        resetMask: null,
        resetSeeds: null,
      });
      return batch.stateHash();
    };
    const alike = await step(3, 3);
    expect(alike[0]).toBe(alike[1]);
    const apart = await step(3, 0);
    expect(apart[0]).not.toBe(apart[1]);
  });
});
