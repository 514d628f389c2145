/**
 * Runs of groups of neighbouring environments that share a seed. A kernel may draw the noise and events of such a group once.
 * The results must equal those of the reference.
 */
import { describe, it } from 'vitest';
import {
  type AsyncEngine,
  OTHERS,
  REFERENCE,
  reportAbsentEngines,
  runsOn,
} from '../support/async-engines.js';
import { expectEqual } from '../support/bits.js';
import { forAllAsync, openAsyncBatch } from '../support/open-async-batch.js';

reportAbsentEngines();

describe.each(OTHERS)('$name', (engine) => {
  it('runs of groups that share a seed have the results of the reference', () =>
    forAllAsync(runsOn(engine, 60), async (random) => {
      // Sizes that fill the 4, 8 or 16 lanes of a kernel, and sizes that do not.
      const n = random.pick([1, 4, 8, 16, 33, 40]);
      const groupSize = random.pick([n, 16, 8, 4]);
      const first = random.resetAtAnyStep(n);
      const seeds = first.seeds.map((_, i) => first.seeds[i - (i % groupSize)]);
      const firstRun = {
        ...random.run(n),
        stops: new Uint8Array(n).fill(random.integer(0, 27)),
        trajectory: null,
      };
      const run = { ...random.run(n), stops: null, trajectory: null };
      const imagination = random.chance(0.3);
      const playedOn = async (each: AsyncEngine) => {
        const { batch, columns } = await openAsyncBatch(each, n, { imagination });
        batch.reset({ ...first, seeds });
        await batch.run(firstRun);
        await batch.run(run);
        return columns();
      };
      expectEqual(await playedOn(REFERENCE), await playedOn(engine));
    }));
});
