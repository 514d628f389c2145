/** Environments of one seed have the same noise and events, which kernels draw once. The results must not differ. */
import { describe, it } from 'vitest';
import { type AsyncEngine, nameAbsent, OTHERS, REFERENCE, runsOn } from '../support/async-engines.js';
import { expectEqual } from '../support/bits.js';
import { forAllAsync, openAsyncBatch } from '../support/open-async-batch.js';

nameAbsent();

describe.each(OTHERS)('$name', (engine) => {
  it('runs of one seed, of few and of many equal the reference', () =>
    forAllAsync(runsOn(engine, 60), async (random) => {
      const n = random.pick([1, 4, 8, 16, 33, 40]);
      const group = random.pick([n, 16, 8, 4]);
      const first = random.resetAtAnyStep(n);
      const seeds = first.seeds.map((_, i) => first.seeds[i - (i % group)]);
      const begun = {
        ...random.run(n),
        stops: new Uint8Array(n).fill(random.integer(0, 27)),
        trajectory: null,
      };
      const run = { ...random.run(n), stops: null, trajectory: null };
      const imagination = random.chance(0.3);
      const playedOn = async (each: AsyncEngine) => {
        const { batch, columns } = await openAsyncBatch(each, n, { imagination });
        batch.reset({ ...first, seeds });
        await batch.run(begun);
        await batch.run(run);
        return columns();
      };
      expectEqual(await playedOn(REFERENCE), await playedOn(engine));
    }));
});
