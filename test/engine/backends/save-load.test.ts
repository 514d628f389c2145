/** A saved state that is loaded on any engine gives the same outputs and the same following run, apart from the final mask. */
import { describe, expect, it } from 'vitest';
import { loadAddon } from '../../../src/engine/backends/addon.js';
import { allocateOutputs } from '../../../src/engine/backends/outputs.js';
import { NUM_STEPS, STATE, STATE_FIELDS, STATE_WORDS } from '../../../src/world/fields.js';
import { ASYNC_ENGINES, enginesFor, reportAbsentEngines, runsOn } from '../../support/async-engines.js';
import { expectEqual, rowsOf, withoutFinalMask } from '../../support/bits.js';
import { NATIVE } from '../../support/engines.js';
import { forAllAsync, type OpenedAsyncBatch, openAsyncBatch } from '../../support/open-async-batch.js';
import { WORLD } from '../../support/open-batch.js';
import type { Random } from '../../support/random.js';

reportAbsentEngines();

/**
 * Resets and steps all environments. The steps have no mask, because a masked step outputs reward 0, which a saved state
 * does not restore.
 */
function play(random: Random, { batch, numEnvs }: OpenedAsyncBatch, steps: number): void {
  // Episodes that start late have at least `steps` steps left, or at least one if `steps` is 0.
  const startsLate = random.chance(0.4) && steps < NUM_STEPS;
  const start = startsLate ? random.starts(numEnvs, NUM_STEPS - Math.max(1, steps)) : undefined;
  batch.reset({ ...random.reset(numEnvs), start });
  for (let t = 0; t < steps; t++) {
    const request = random.step(new Uint8Array(numEnvs), false);
    const actions = request.actions.map((action) => action % 10);
    expect(batch.submit({ ...request, actions, stepMask: null })).toBeNull();
  }
}

describe.each(ASYNC_ENGINES)('saved by $name', (engine) => {
  it('outputs after load equal those before save, apart from the final mask', () =>
    forAllAsync(runsOn(engine, 60), async (random) => {
      // Sizes around a tile of 16 states; steps around a word of eight actions, the half and the end of the episode.
      const n = random.pick([1, 15, 16, 17, 40]);
      const source = await openAsyncBatch(engine, n);
      play(random, source, random.pick([0, 1, 7, 8, 14, 27, NUM_STEPS]));
      const before = await source.columns();
      const words = await source.batch.save();
      for (const other of enginesFor(random)) {
        const target = await openAsyncBatch(other, n);
        play(random, target, random.integer(0, NUM_STEPS));
        target.batch.load(words);
        expectEqual(withoutFinalMask(before), withoutFinalMask(await target.columns()), other.name);
      }
      source.batch.load(words);
      expectEqual(withoutFinalMask(before), withoutFinalMask(await source.columns()), 'itself');
    }));

  it('a run after load equals the run after save', () =>
    forAllAsync(runsOn(engine, 40), async (random) => {
      const n = random.pick([1, 17]);
      const source = await openAsyncBatch(engine, n);
      play(random, source, random.integer(0, NUM_STEPS - 1));
      const words = await source.batch.save();
      const { batch, columns } = await openAsyncBatch(random.pick(ASYNC_ENGINES), n);
      batch.load(words);
      const run = random.run(n);
      await source.batch.run(run);
      await batch.run(run);
      expectEqual(withoutFinalMask(await source.columns()), withoutFinalMask(await columns()));
    }));

  it('each saved word is within the bounds that STATE_FIELDS states for its field', () =>
    forAllAsync(runsOn(engine, 20), async (random) => {
      const source = await openAsyncBatch(engine, 20);
      play(random, source, random.integer(0, NUM_STEPS));
      const words = await source.batch.save();
      const floats = new Float32Array(words.buffer);
      for (const { name, offset, size, word, low, high } of STATE_FIELDS) {
        for (let at = 0; at < words.length; at += STATE_WORDS) {
          const part = (word === 'u32' ? words : floats).subarray(at + offset, at + offset + size);
          expect(
            part.every((value) => value >= low && value <= high),
            name,
          ).toBe(true);
        }
      }
    }));

  it('save with indices returns the states of these environments, in the order of the indices', () =>
    forAllAsync(runsOn(engine, 20), async (random) => {
      const source = await openAsyncBatch(engine, 20);
      play(random, source, random.integer(0, NUM_STEPS));
      const all = await source.batch.save();
      const indices = Uint32Array.from({ length: random.integer(1, 30) }, () => random.integer(0, 19));
      expectEqual(rowsOf({ all }, 20, indices), { all: await source.batch.save(indices) });
    }));

  it('save returns copies', async () => {
    const { batch } = await openAsyncBatch(engine, 2);
    batch.reset({ mask: null, seeds: Uint32Array.of(1, 2), modes: null, profiles: null, graders: null });
    const words = await batch.save();
    const before = words.slice();
    await batch.run({ policy: { kind: 'heuristic' }, beliefs: null, stops: null, trajectory: null });
    expect(words).toEqual(before);
    words.fill(0);
    expect(await batch.save()).not.toEqual(words);
  });
});

describe.each(NATIVE)('$name', ({ kernel }) => {
  /** Changes that each make a saved state invalid. Its episode has taken 9 steps. */
  const damages: [string, (words: Uint32Array) => void][] = [
    ['a step count above 28', (words) => words.fill(NUM_STEPS + 1, STATE.step, STATE.step + 1)],
    ['an invalid mode', (words) => words.fill(3, STATE.mode, STATE.mode + 1)],
    ['an invalid flag', (words) => words.fill(2, STATE.given, STATE.given + 1)],
    ['an invalid action', (words) => words.fill(0xa0, STATE.tape, STATE.tape + 1)],
    ['a start after the current step', (words) => words.fill(10, STATE.began, STATE.began + 1)],
    [
      'a start after the last step',
      (words) => {
        words[STATE.step] = words[STATE.began] = NUM_STEPS;
      },
    ],
  ];

  it.each(damages)('refuses %s, and changes nothing', (_, damage) => {
    const outputs = allocateOutputs(3);
    const batch = new (loadAddon().Batch)(kernel!, WORLD.words, false, 3, 1, outputs);
    const seeds = Uint32Array.of(7, 8, 9);
    batch.reset({ mask: null, seeds, modes: null, profiles: null, graders: null });
    // Policy 1 is the heuristic. It stops after nine steps.
    batch.run(1, null, null, null, new Uint8Array(3).fill(9), null, null, null);
    const before = new Uint32Array(3 * STATE_WORDS);
    batch.save(before, null);
    const outputsBefore = structuredClone(outputs);
    const words = before.slice();
    damage(words.subarray(2 * STATE_WORDS));
    expect(() => batch.load(words)).toThrow(TypeError);
    const after = new Uint32Array(3 * STATE_WORDS);
    batch.save(after, null);
    expect(after).toEqual(before);
    expect(outputs).toEqual(outputsBefore);
  });
});
