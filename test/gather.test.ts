/** Copying episodes between batches: what a fork and an assignment are made of. */
import { describe, expect, it } from 'vitest';
import { expectEqual, rowsOf } from './support/bits.js';
import { ENGINES } from './support/engines.js';
import { forAll, Random } from './support/random.js';
import { type Opened, openBatch } from './support/seam.js';

function ragged(random: Random, opened: Opened): Opened {
  const n = opened.outputs.rewards.length;
  opened.batch.reset(random.reset(n));
  expect(opened.batch.run(random.run(n))).toBeNull();
  // Slots that did not step show no reward, slots that began anew still show the grade before.
  expect(opened.batch.submit(random.step(opened.outputs.terminated))).toBeNull();
  return opened;
}

describe.each(ENGINES)('$name', (engine) => {
  it('slot i becomes slot indices[i] of the source, and shows what it showed', () => {
    forAll(60, (random) => {
      const [from, to] = [random.pick([1, 16, 17, 40]), random.pick([1, 15, 33])];
      const layout = () => ({ columnMajor: random.chance(0.5), finalObservations: true });
      const source = ragged(random, openBatch(engine, from, { layout: layout() }));
      const target = ragged(random, openBatch(engine, to, { layout: layout() }));
      // Often many slots in a row from the same one, as in a group of rollouts.
      const group = random.pick([1, 16]);
      const indices = Uint32Array.from({ length: to }, () => random.integer(0, from - 1));
      indices.forEach((_, i) => {
        indices[i] = indices[i - (i % group)];
      });
      const before = source.see();
      target.batch.gather(source.batch, indices);
      expectEqual(before, source.see(), 'the source');
      expectEqual(rowsOf(before, from, indices), target.see());
    });
  });

  it('within one batch, from the states as they were', () => {
    forAll(30, (random) => {
      const n = 33;
      const { batch, see } = ragged(random, openBatch(engine, n));
      const before = see();
      const order = random.permutation(n);
      batch.gather(batch, order);
      expectEqual(rowsOf(before, n, order), see());
    });
  });

  it('a step after a copy is that of the reference', () => {
    forAll(40, (random) => {
      const [seed, n] = [random.integer(0, 1e6), 33];
      const [reference, tested] = [ENGINES[0], engine].map((each) => {
        const same = new Random(seed);
        const source = ragged(same, openBatch(each, n));
        const target = openBatch(each, n);
        target.batch.gather(source.batch, same.permutation(n));
        expect(target.batch.submit(same.step(target.outputs.terminated))).toBeNull();
        return target.see();
      });
      expectEqual(reference, tested);
    });
  });

  it('a copy and its original part ways', () => {
    const { batch } = openBatch(engine, 2);
    batch.reset({ mask: null, seeds: Uint32Array.of(5, 6), modes: null, profiles: null, graders: null });
    batch.gather(batch, Uint32Array.of(0, 0));
    const step = (first: number, second: number) =>
      batch.submit({
        actions: Uint8Array.of(first, second),
        beliefs: null,
        given: null,
        stepMask: null,
        resetMask: null,
        resetSeeds: null,
      });
    step(3, 3);
    expect(batch.stateHash()[0]).toBe(batch.stateHash()[1]);
    step(3, 0);
    expect(batch.stateHash()[0]).not.toBe(batch.stateHash()[1]);
  });
});
