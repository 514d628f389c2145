/** Copies of episodes between batches. */
import { describe, expect, it } from 'vitest';
import type { Origin, RunRequest, StepRequest } from '../../../src/engine/backends/backend.js';
import { allocateTrajectory } from '../../../src/engine/backends/outputs.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { ASYNC_ENGINES, reportAbsentEngines, runsOn } from '../../support/async-engines.js';
import { copyColumns, expectEqual, rowsOf, withClearedFinalMask } from '../../support/bits.js';
import { forAllAsync, type OpenedAsyncBatch, openAsyncBatch } from '../../support/open-async-batch.js';
import { Random } from '../../support/random.js';

reportAbsentEngines();

/** Plays a batch to random states: a reset, a run to random steps, and a step of some environments. */
async function playRandomly(random: Random, opened: OpenedAsyncBatch): Promise<OpenedAsyncBatch> {
  const { batch, numEnvs, readOutputs } = opened;
  batch.reset(random.resetAtAnyStep(numEnvs));
  expect(await batch.run(random.run(numEnvs))).toBeNull();
  // After this step, environments that did not step have reward 0. An environment that was reset because its episode ended
  // has the grade of that episode.
  expect(batch.submit(random.step((await readOutputs()).terminated))).toBeNull();
  return opened;
}

const HEURISTIC: RunRequest = {
  policy: { kind: 'heuristic' },
  beliefs: null,
  stops: null,
  trajectory: null,
};

const NO_BELIEFS: Omit<StepRequest, 'actions' | 'stepMask'> = {
  beliefs: null,
  given: null,
  resetMask: null,
  resetSeeds: null,
};

/** Returns the origin of a run: a source batch, and the index in it of each environment's episode. */
const originOf = ({ batch }: OpenedAsyncBatch, indices: Uint32Array): Origin => ({
  source: batch,
  indices,
});

/**
 * Draws `to` indices of `from` environments, often in runs of 8 or 16 equal indices, as for groups of rollouts. Runs of 11 cross
 * from the lanes of one tile to those of the next.
 */
function anyIndices(random: Random, from: number, to: number): Uint32Array {
  const groupSize = random.pick([1, 8, 11, 16]);
  const indices = Uint32Array.from({ length: to }, () => random.integer(0, from - 1));
  return indices.map((_, i) => indices[i - (i % groupSize)]);
}

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  /** Opens a batch in a random layout and plays it to random states. */
  const anyBatch = async (random: Random, n: number, imagination = random.chance(0.3)) => {
    const layout = { columnMajor: random.chance(0.5), finalObservations: true };
    return playRandomly(random, await openAsyncBatch(engine, n, { layout, imagination }));
  };

  it('gather copies environment indices[i] of the source to environment i, with its outputs', () =>
    forAllAsync(runsOn(engine, 60), async (random) => {
      // Most sizes leave some of the 16 lanes of the widest kernel unused.
      const [from, to] = [random.pick([1, 16, 17, 40]), random.pick([1, 15, 33])];
      const source = await anyBatch(random, from);
      const target = random.chance(0.3) ? source : await anyBatch(random, to);
      const indices = anyIndices(random, from, target.numEnvs);
      const before = await source.columns();
      target.batch.gather(source.batch, indices);
      if (target !== source) expectEqual(before, await source.columns(), 'the source');
      expectEqual(withClearedFinalMask(rowsOf(before, from, indices)), await target.columns());
    }));

  it('a run from another batch equals a gather followed by the run', () =>
    forAllAsync(runsOn(engine, 30), async (random) => {
      const [size, to] = [random.pick([1, 17, 40]), random.pick([1, 15, 33])];
      const source = await anyBatch(random, size);
      const [copied, started] = [await anyBatch(random, to, false), await anyBatch(random, to, false)];
      const indices = anyIndices(random, size, to);
      const trajectories = [allocateTrajectory(to), allocateTrajectory(to)];
      const request = random.run(to);
      const before = await source.columns();
      copied.batch.gather(source.batch, indices);
      expect(await copied.batch.run({ ...request, trajectory: trajectories[0] })).toBeNull();
      const from = originOf(source, indices);
      expect(await started.batch.run({ ...request, from, trajectory: trajectories[1] })).toBeNull();
      expectEqual(before, await source.columns(), 'the source');
      expectEqual(await copied.columns(), await started.columns());
      expectEqual(copyColumns(trajectories[0]), copyColumns(trajectories[1]));
    }));

  it("a run from another batch checks its sequence from the source's step on; a refusal copies nothing", async () => {
    const [source, target] = [await openAsyncBatch(engine, 2), await openAsyncBatch(engine, 3)];
    const random = new Random('checked sequence');
    for (const { batch, numEnvs } of [source, target]) batch.reset(random.resetAtAnyStep(numEnvs));
    await source.batch.run({ ...HEURISTIC, stops: Uint8Array.of(21, 0) });
    // The action at step 20 of environment 2 is illegal.
    const actions = new Uint8Array(3 * NUM_STEPS).fill(10, 2 * NUM_STEPS + 20, 2 * NUM_STEPS + 21);
    const sequence: RunRequest = { ...HEURISTIC, policy: { kind: 'sequence', actions } };
    const before = await target.columns();
    const runFrom = (...indices: number[]) =>
      target.batch.run({ ...sequence, from: originOf(source, Uint32Array.from(indices)) });
    expect(await runFrom(0, 0, 1)).toEqual({ code: 'illegal_action', index: 2, step: 20, value: 10 });
    expectEqual(before, await target.columns());
    expect(await runFrom(1, 1, 0)).toBeNull();
    expect((await target.readOutputs()).terminated).toEqual(Uint8Array.of(1, 1, 1));
  });

  it('a loaded state of an ended episode refuses a step, even in a batch that was just reset', async () => {
    const [source, target] = [await openAsyncBatch(engine, 2), await openAsyncBatch(engine, 2)];
    const random = new Random('loaded');
    for (const { batch } of [source, target]) batch.reset(random.reset(2));
    await source.batch.run({ ...HEURISTIC, stops: Uint8Array.of(0, 28) });
    target.batch.load(await source.batch.save());
    const step = { ...NO_BELIEFS, actions: new Uint8Array(2), stepMask: null };
    expect(await target.batch.submit(step)).toEqual({ code: 'episode_over', index: 1 });
  });

  it('a copy of an ended episode refuses a step, even in a batch that was just reset', async () => {
    const [source, target] = [await openAsyncBatch(engine, 3), await openAsyncBatch(engine, 3)];
    const random = new Random('ended');
    for (const { batch } of [source, target]) batch.reset(random.resetAtAnyStep(3));
    await source.batch.run({ ...HEURISTIC, stops: Uint8Array.of(28, 0, 27) });
    const step = (stepMask: Uint8Array | null) =>
      target.batch.submit({ ...NO_BELIEFS, actions: new Uint8Array(3), stepMask });
    for (const { batch } of [source, target]) {
      target.batch.reset(random.resetAtAnyStep(3));
      target.batch.gather(source.batch, Uint32Array.of(1, 2, 0));
      // A copy of a copy refuses a step too.
      if (batch === target.batch) target.batch.gather(batch, Uint32Array.of(0, 1, 2));
      const before = await target.columns();
      expect(await step(null)).toEqual({ code: 'episode_over', index: 2 });
      expectEqual(before, await target.columns());
      // The second environment ends in the next step.
      expect(await step(Uint8Array.of(1, 1, 0))).toBeNull();
      expect(await step(null)).toEqual({ code: 'episode_over', index: 1 });
    }
  });
});
