/**
 * Parity, step by step: a state that one engine reached is loaded on every engine, each takes ONE step, and what they
 * show and hold afterwards must agree bit for bit. A difference names the column, so it points at a rule.
 */
import { describe, expect, it } from 'vitest';
import type { Batch } from '../src/backends/backend.js';
import { differences, expectEqual } from './support/bits.js';
import { ENGINES, type Engine, NATIVE } from './support/engines.js';
import { forAll, type Random } from './support/random.js';
import { openBatch } from './support/seam.js';

/** Brings a batch to a ragged state: whole runs to random stops, single steps, episodes begun anew. */
function wander(random: Random, batch: Batch, terminated: Uint8Array): void {
  const n = terminated.length;
  batch.reset(random.reset(n));
  for (let leg = random.integer(0, 4); leg > 0; leg--) {
    expect(random.chance(0.5) ? batch.run(random.run(n)) : batch.submit(random.step(terminated))).toBeNull();
  }
}

/** The states of `engine` after wandering, and one step from there on every engine. */
function compareOneStep(random: Random, engine: Engine): void {
  const n = random.pick([1, 3, 15, 16, 17, 33, 100]);
  const imagination = random.chance(0.3);
  const source = openBatch(engine, n, { imagination });
  wander(random, source.batch, source.outputs.terminated);
  const words = source.batch.save();
  const states = openBatch(ENGINES[0], n, { imagination });
  states.batch.load(words);
  const loaded = states.see();
  const request = random.step(loaded.terminated as Uint8Array);
  expect(states.batch.submit(request)).toBeNull();
  const stepped = states.see();
  for (const other of NATIVE) {
    const { batch, see } = openBatch(other, n, { imagination });
    batch.load(words);
    expectEqual(loaded, see(), `${other.name} after load:`);
    expect(batch.submit(request)).toBeNull();
    expectEqual(stepped, see(), `${other.name} after a step:`);
    batch.close();
  }
  source.batch.close();
}

describe.each(ENGINES)('from states that $name reached', (engine) => {
  it('one step is the same on every engine', () => forAll(150, (random) => compareOneStep(random, engine)));
});

it('a step in place is the step from the saved state', () => {
  forAll(40, (random) => {
    const n = random.integer(1, 40);
    const [first, ...others] = ENGINES.map((engine) => openBatch(engine, n));
    first.batch.reset(random.reset(n));
    for (const { batch } of others) batch.load(first.batch.save());
    for (let t = 0; t < 10; t++) {
      const request = random.step(first.outputs.terminated);
      for (const { batch } of [first, ...others]) expect(batch.submit(request)).toBeNull();
      for (const other of others) expectEqual(first.see(), other.see(), other.batch.kernel);
    }
  });
});

it('a difference would be seen', () => {
  forAll(5, (random) => {
    const { batch, see } = openBatch(ENGINES[0], 3);
    batch.reset(random.reset(3));
    const before = see();
    batch.submit({
      ...random.step(new Uint8Array(3), false),
      stepMask: null,
      actions: Uint8Array.of(1, 2, 3),
    });
    expect(differences(before, see()).length).toBeGreaterThan(3);
  });
});
