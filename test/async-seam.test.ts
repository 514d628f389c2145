/** What the asynchronous seam promises beside results: order, whose the arrays are, and what is current when. */
import { describe, expect, it } from 'vitest';
import type { AsyncBatch } from '../src/backends/async-backend.js';
import type { RunRequest } from '../src/backends/backend.js';
import { NUM_STEPS } from '../src/world/fields.js';
import { ASYNC_ENGINES, nameAbsent, runsOn } from './support/async-engines.js';
import { forAllAsync, openAsync } from './support/async-seam.js';
import { copies, expectEqual, shown } from './support/bits.js';
import { Random } from './support/random.js';

nameAbsent();

const N = 20;
const HALF: RunRequest = {
  policy: { kind: 'random', policySeeds: null },
  beliefs: null,
  stops: new Uint8Array(N).fill(NUM_STEPS / 2),
  trajectory: null,
};

/** A step of every slot. */
function anyStep(random: Random) {
  const request = random.step(new Uint8Array(N), true);
  return { ...request, actions: request.actions.map((action) => action % 10), stepMask: null };
}

/** Fills every array of a request. */
function spoil(request: object): void {
  for (const value of Object.values(request)) {
    if (ArrayBuffer.isView(value)) (value as Uint8Array).fill(99);
    else if (typeof value === 'object' && value !== null) spoil(value);
  }
}

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  it('calls take effect in the order in which they are made, whether or not each is looked at', () =>
    forAllAsync(runsOn(engine, 20), async (random) => {
      const [reset, steps] = [random.anyReset(N), [anyStep(random), anyStep(random)]];
      const calls: ((batch: AsyncBatch) => unknown)[] = [
        (batch) => batch.reset(reset),
        (batch) => batch.submit(steps[0]),
        (batch) => batch.gather(batch, new Uint32Array(N).fill(3)),
        (batch) => batch.submit(steps[1]),
        (batch) => batch.run(HALF),
      ];
      const [patient, hasty] = [await openAsync(engine, N), await openAsync(engine, N)];
      for (const call of calls) {
        expect((await call(patient.batch)) ?? null).toBeNull();
        await patient.batch.save();
      }
      const refusals = await Promise.all(calls.map((call) => call(hasty.batch)));
      expect(refusals.filter((refusal) => refusal)).toEqual([]);
      expectEqual(await patient.see(), await hasty.see());
    }));

  it('looks may be awaited together', async () => {
    const { batch } = await openAsync(engine, N);
    batch.reset(new Random('looks').reset(N));
    const alone = [await batch.save(), await batch.stateHash(), await batch.targets()];
    expect(await Promise.all([batch.save(), batch.stateHash(), batch.targets()])).toEqual(alone);
  });

  it("the arrays of a request are the caller's again", async () => {
    const [kept, spoilt] = [await openAsync(engine, N), await openAsync(engine, N)];
    const random = new Random('arrays');
    const [reset, step, run] = [random.anyReset(N), anyStep(random), { ...random.run(N), stops: null }];
    kept.batch.reset(random.anyReset(N));
    const words = await kept.batch.save();
    for (const { batch } of [kept, spoilt]) {
      const its = structuredClone({
        reset,
        step,
        run,
        words,
        indices: Uint32Array.from({ length: N }, () => 7),
      });
      const done = batch === spoilt.batch ? spoil : () => {};
      batch.load(its.words);
      done({ words: its.words });
      batch.reset(its.reset);
      done(its.reset);
      expect(batch.submit(its.step)).toBeNull();
      done(its.step);
      batch.gather(batch, its.indices);
      done({ indices: its.indices });
      expect(await batch.run(its.run)).toBeNull();
      done(its.run);
    }
    expectEqual(await kept.see(), await spoilt.see());
  });

  it('outputs that are named are made current', async () => {
    const [all, some] = [await openAsync(engine, N), await openAsync(engine, N)];
    const random = new Random('names');
    const [reset, step] = [random.anyReset(N), anyStep(random)];
    const before = await some.show().then(shown);
    for (const { batch } of [all, some]) {
      batch.reset(reset);
      expect(batch.submit(step)).toBeNull();
    }
    const { rewards, components } = await all.show();
    await some.batch.read(['rewards', 'components']);
    expectEqual(copies({ rewards, components } as never), {
      rewards: some.outputs.rewards,
      components: some.outputs.components,
    });
    // Elsewhere the others keep what they showed; here they are written as they are computed.
    if (engine.isDevice) expect(some.outputs.observations).toEqual(before.observations);
  });

  it('what is under way settles when its batch is closed, and closing twice is closing once', async () => {
    const { batch } = await openAsync(engine, N);
    batch.reset(new Random('close').reset(N));
    const underWay = [batch.run(HALF), batch.read(), batch.save(), batch.stateHash(), batch.targets()];
    batch.close();
    batch.close();
    expect(await Promise.allSettled(underWay)).toHaveLength(underWay.length);
  });
});
