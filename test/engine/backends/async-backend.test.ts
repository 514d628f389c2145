/** The asynchronous backend interface: order of calls, reuse of request arrays, and reads of outputs. */
import { describe, expect, it } from 'vitest';
import type { Batch, RunRequest } from '../../../src/engine/backends/backend.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { ASYNC_ENGINES, reportAbsentEngines, runsOn } from '../../support/async-engines.js';
import { copyColumns, copyOutputs, expectEqual } from '../../support/bits.js';
import { forAllAsync, openAsyncBatch } from '../../support/open-async-batch.js';
import { Random } from '../../support/random.js';

reportAbsentEngines();

const N = 20;
const HALF_RUN: RunRequest = {
  policy: { kind: 'random', policySeeds: null },
  beliefs: null,
  stops: new Uint8Array(N).fill(NUM_STEPS / 2),
  trajectory: null,
};

/** Draws a step of every environment. */
function anyStep(random: Random) {
  const request = random.step(new Uint8Array(N), true);
  return { ...request, actions: request.actions.map((action) => action % 10), stepMask: null };
}

/** Overwrites every array of a request. */
function overwrite(request: object): void {
  for (const value of Object.values(request)) {
    if (ArrayBuffer.isView(value)) (value as Uint8Array).fill(99);
    else if (typeof value === 'object' && value !== null) overwrite(value);
  }
}

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  it('calls take effect in order, awaited or not', () =>
    forAllAsync(runsOn(engine, 20), async (random) => {
      const [reset, steps] = [random.resetAtAnyStep(N), [anyStep(random), anyStep(random)]];
      const calls: ((batch: Batch) => unknown)[] = [
        (batch) => batch.reset(reset),
        (batch) => batch.submit(steps[0]),
        (batch) => batch.gather(batch, new Uint32Array(N).fill(3)),
        (batch) => batch.submit(steps[1]),
        (batch) => batch.run(HALF_RUN),
      ];
      const [awaited, queued] = [await openAsyncBatch(engine, N), await openAsyncBatch(engine, N)];
      for (const call of calls) {
        expect((await call(awaited.batch)) ?? null).toBeNull();
        await awaited.batch.save();
      }
      const refusals = await Promise.all(calls.map((call) => call(queued.batch)));
      expect(refusals.filter((refusal) => refusal)).toEqual([]);
      expectEqual(await awaited.columns(), await queued.columns());
    }));

  it('concurrent calls that only read have the results of sequential calls', async () => {
    const { batch } = await openAsyncBatch(engine, N);
    batch.reset(new Random('reads').reset(N));
    const alone = [await batch.save(), await batch.stateHash(), await batch.beliefTargets()];
    expect(await Promise.all([batch.save(), batch.stateHash(), batch.beliefTargets()])).toEqual(alone);
  });

  it('the arrays of a request may be overwritten after the call, those of a run when its promise settles', async () => {
    const [unchanged, overwritten] = [await openAsyncBatch(engine, N), await openAsyncBatch(engine, N)];
    const random = new Random('arrays');
    const [reset, step, run] = [random.resetAtAnyStep(N), anyStep(random), { ...random.run(N), stops: null }];
    unchanged.batch.reset(random.resetAtAnyStep(N));
    const words = await unchanged.batch.save();
    for (const { batch } of [unchanged, overwritten]) {
      const requests = structuredClone({
        reset,
        step,
        run,
        words,
        indices: Uint32Array.from({ length: N }, () => 7),
      });
      const afterCall = batch === overwritten.batch ? overwrite : () => {};
      batch.load(requests.words);
      afterCall({ words: requests.words });
      batch.reset(requests.reset);
      afterCall(requests.reset);
      expect(batch.submit(requests.step)).toBeNull();
      afterCall(requests.step);
      batch.gather(batch, requests.indices);
      afterCall({ indices: requests.indices });
      expect(await batch.run(requests.run)).toBeNull();
      afterCall(requests.run);
    }
    expectEqual(await unchanged.columns(), await overwritten.columns());
  });

  it('read updates the named outputs', async () => {
    const [all, some] = [await openAsyncBatch(engine, N), await openAsyncBatch(engine, N)];
    const random = new Random('names');
    const [reset, step] = [random.resetAtAnyStep(N), anyStep(random)];
    const before = await some.readOutputs().then(copyOutputs);
    for (const { batch } of [all, some]) {
      batch.reset(reset);
      expect(batch.submit(step)).toBeNull();
    }
    const { rewards, components } = await all.readOutputs();
    await some.batch.read(['rewards', 'components']);
    expectEqual(copyColumns({ rewards, components } as never), {
      rewards: some.outputs.rewards,
      components: some.outputs.components,
    });
    // On a device, the other outputs keep their values. A batch without a device writes outputs as it computes them.
    if (engine.isDevice) expect(some.outputs.observations).toEqual(before.observations);
  });

  it('pending calls settle when the batch closes, and a second close does nothing', async () => {
    const { batch } = await openAsyncBatch(engine, N);
    batch.reset(new Random('close').reset(N));
    const pending = [
      batch.run(HALF_RUN),
      batch.read(),
      batch.save(),
      batch.stateHash(),
      batch.beliefTargets(),
    ];
    batch.close();
    batch.close();
    expect(await Promise.allSettled(pending)).toHaveLength(pending.length);
  });
});
