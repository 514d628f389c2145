/** Slots of one seed share luck and events, which kernels draw once for all of them: nobody may see a difference. */
import { describe, it } from 'vitest';
import { expectEqual } from './support/bits.js';
import { ENGINES, NATIVE, nameAbsent } from './support/engines.js';
import { forAll } from './support/random.js';
import { openBatch } from './support/seam.js';

nameAbsent();

describe.each(NATIVE)('$name', (engine) => {
  it('runs of one seed, of few and of many equal the reference', () => {
    forAll(60, (random) => {
      const n = random.pick([1, 4, 8, 16, 33, 40]);
      const group = random.pick([n, 16, 8, 4]);
      const first = random.reset(n);
      const seeds = first.seeds.map((_, i) => first.seeds[i - (i % group)]);
      const begun = {
        ...random.run(n),
        stops: new Uint8Array(n).fill(random.integer(0, 27)),
        trajectory: null,
      };
      const run = { ...random.run(n), stops: null, trajectory: null };
      const imagination = random.chance(0.3);
      const [expected, got] = [ENGINES[0], engine].map((each) => {
        const opened = openBatch(each, n, { imagination });
        opened.batch.reset({ ...first, seeds });
        opened.batch.run(begun);
        opened.batch.run(run);
        return opened.see();
      });
      expectEqual(expected, got);
    });
  });
});
