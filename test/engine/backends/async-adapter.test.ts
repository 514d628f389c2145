/** Synchronous backends behind the asynchronous interface have the same results and refusals. */
import { describe, expect, it } from 'vitest';
import { toAsyncBackend } from '../../../src/engine/backends/async-adapter.js';
import type { Batch, BatchOptions } from '../../../src/engine/backends/backend.js';
import { BACKENDS } from '../../../src/engine/backends/node.js';
import { allocateOutputs, allocateTrajectory } from '../../../src/engine/backends/outputs.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { ASYNC_ENGINES } from '../../support/async-engines.js';
import { copyColumns, expectEqual } from '../../support/bits.js';
import { ENGINES, reportAbsentEngines } from '../../support/engines.js';
import { forAllAsync, type OpenedAsyncBatch, openAsyncBatch } from '../../support/open-async-batch.js';
import { type OpenedBatch, openBatch, WORLD } from '../../support/open-batch.js';
import { Random } from '../../support/random.js';

reportAbsentEngines();

describe.each(ENGINES)('$name', (engine) => {
  const wrapped = ASYNC_ENGINES.find(({ name }) => name === engine.name)!;
  const backend = BACKENDS.find(({ name }) => name === engine.backend)!;

  const both = async (n: number): Promise<[OpenedBatch, OpenedAsyncBatch]> => [
    openBatch(engine, n),
    await openAsyncBatch(wrapped, n),
  ];

  it('has the name, the kernels and the availability of its backend, and no device', async () => {
    const wrapper = toAsyncBackend(backend);
    expect(wrapper.name).toBe(backend.name);
    expect(wrapper.kernels()).toEqual(backend.kernels());
    expect(wrapper.bytesToCacheLine).toBe(backend.bytesToCacheLine);
    expect(await wrapper.availability()).toEqual(backend.availability());
    const [{ batch }, { batch: one }] = await both(1);
    const { kernel, threads } = batch;
    expect([one.backend, one.kernel, one.threads, one.device]).toEqual([backend.name, kernel, threads, null]);
  });

  it('reset, run, step, save and load have the results of the synchronous backend', () =>
    forAllAsync(40, async (random) => {
      const n = random.pick([1, 16, 33]);
      const [sync, async] = await both(n);
      const expectSame = async (where: string) => expectEqual(sync.columns(), await async.columns(), where);
      const [reset, run] = [random.resetAtAnyStep(n), random.run(n)];
      for (const { batch } of [sync, async]) batch.reset(reset);
      await expectSame('reset');
      const trajectories = [allocateTrajectory(n), allocateTrajectory(n)];
      expect(sync.batch.run({ ...run, trajectory: trajectories[0] })).toBeNull();
      expect(await async.batch.run({ ...run, trajectory: trajectories[1] })).toBeNull();
      expectEqual(copyColumns(trajectories[0]), copyColumns(trajectories[1]));
      await expectSame('run');
      const step = random.step(sync.outputs.terminated);
      for (const { batch } of [sync, async]) expect(batch.submit(step)).toBeNull();
      await expectSame('step');
      const words = sync.batch.save();
      const indices = Uint32Array.from({ length: 5 }, () => random.integer(0, n - 1));
      expect(await async.batch.save(indices)).toEqual(sync.batch.save(indices));
      for (const { batch } of [sync, async]) batch.reset(random.resetAtAnyStep(n));
      for (const { batch } of [sync, async]) batch.load(words);
      await expectSame('load');
    }));

  it('a refusal is returned directly or as a promise, and changes nothing', async () => {
    const [sync, async] = await both(3);
    const reset = new Random('refusals').reset(3);
    for (const { batch } of [sync, async]) batch.reset(reset);
    const before = await async.columns();
    const step = {
      actions: Uint8Array.of(1, 10, 2),
      beliefs: null,
      given: null,
      stepMask: null,
      resetMask: null,
      resetSeeds: null,
    };
    const sequence = new Uint8Array(3 * NUM_STEPS);
    sequence[2 * NUM_STEPS + 5] = 12;
    const run = {
      policy: { kind: 'sequence', actions: sequence },
      beliefs: null,
      stops: null,
      trajectory: null,
    } as const;
    const refusals = [async.batch.submit(step), await async.batch.run(run)];
    expect(refusals).toEqual([sync.batch.submit(step), sync.batch.run(run)]);
    expect(refusals).toEqual([
      { code: 'illegal_action', index: 1, value: 10 },
      { code: 'illegal_action', index: 2, step: 5, value: 12 },
    ]);
    expectEqual(before, await async.columns());
  });

  it('gather and run can copy from another wrapped batch', () =>
    forAllAsync(20, async (random) => {
      const [from, to] = [random.pick([1, 17]), random.pick([1, 16, 20])];
      const [sources, targets] = [await both(from), await both(to)];
      const [reset, start, run] = [random.resetAtAnyStep(from), random.run(from), random.run(to)];
      const indices = Uint32Array.from({ length: to }, () => random.integer(0, from - 1));
      for (const { batch } of sources) {
        batch.reset(reset);
        await batch.run(start);
      }
      sources.forEach(({ batch }, k) => {
        targets[k].batch.gather(batch as never, indices);
      });
      expectEqual(targets[0].columns(), await targets[1].columns(), 'copied:');
      for (const { batch } of targets) batch.reset(random.resetAtAnyStep(to));
      for (const [k, { batch }] of targets.entries()) {
        const source = sources[k].batch as never;
        expect(await batch.run({ ...run, from: { source, indices } })).toBeNull();
      }
      expectEqual(targets[0].columns(), await targets[1].columns(), 'run:');
    }));

  it('an error of the synchronous open rejects the promise', async () => {
    const options = { numEnvs: 1, world: WORLD, imagination: false, threads: 1, kernel: null };
    const outputs = allocateOutputs(1);
    const failing = toAsyncBackend({
      ...backend,
      open: (_: BatchOptions): Batch => {
        throw new RangeError('too many');
      },
    });
    const device = { allowInexact: false, maxDispatchMs: 100, workgroupSize: 64 };
    await expect(failing.open({ ...options, outputs, device })).rejects.toThrow('too many');
  });
});
