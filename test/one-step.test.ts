/**
 * Parity, step by step: a state that one engine reached is loaded on every engine, each takes ONE step, and what they
 * show and hold afterwards must agree bit for bit. A difference names the column, so it points at a rule.
 */
import { describe, expect, it } from 'vitest';
import {
  ASYNC_ENGINES,
  type AsyncEngine,
  nameAbsent,
  OTHERS,
  partakers,
  REFERENCE,
  runsOn,
} from './support/async-engines.js';
import { type AsyncOpened, forAllAsync, openAsync } from './support/async-seam.js';
import { differences, expectEqual } from './support/bits.js';
import type { Random } from './support/random.js';

nameAbsent();

/** Brings a batch to a ragged state: whole runs to random stops, single steps, episodes begun anew. */
async function wander(random: Random, { batch, numEnvs, show }: AsyncOpened): Promise<void> {
  batch.reset(random.reset(numEnvs));
  for (let leg = random.integer(0, 4); leg > 0; leg--) {
    const { terminated } = await show();
    const runs = random.chance(0.5);
    expect(runs ? await batch.run(random.run(numEnvs)) : batch.submit(random.step(terminated))).toBeNull();
  }
}

/** The states of `engine` after wandering, and one step from there on every engine. */
async function compareOneStep(random: Random, engine: AsyncEngine): Promise<void> {
  const n = random.pick([1, 3, 15, 16, 17, 33, 100]);
  const imagination = random.chance(0.3);
  const source = await openAsync(engine, n, { imagination });
  await wander(random, source);
  const words = await source.batch.save();
  const states = await openAsync(REFERENCE, n, { imagination });
  states.batch.load(words);
  const loaded = await states.see();
  const request = random.step(loaded.terminated as Uint8Array);
  expect(states.batch.submit(request)).toBeNull();
  const stepped = await states.see();
  for (const other of partakers(random, OTHERS)) {
    const { batch, see } = await openAsync(other, n, { imagination });
    batch.load(words);
    expectEqual(loaded, await see(), `${other.name} after load:`);
    expect(batch.submit(request)).toBeNull();
    expectEqual(stepped, await see(), `${other.name} after a step:`);
  }
}

describe.each(ASYNC_ENGINES)('from states that $name reached', (engine) => {
  it('one step is the same on every engine', () =>
    forAllAsync(runsOn(engine, 150), (random) => compareOneStep(random, engine)));
});

it('a step in place is the step from the saved state', () =>
  forAllAsync(40, async (random) => {
    const n = random.integer(1, 40);
    const [first, ...others] = await Promise.all(partakers(random).map((engine) => openAsync(engine, n)));
    first.batch.reset(random.reset(n));
    const words = await first.batch.save();
    for (const { batch } of others) batch.load(words);
    for (let t = 0; t < 10; t++) {
      const request = random.step((await first.show()).terminated);
      for (const { batch } of [first, ...others]) expect(batch.submit(request)).toBeNull();
      const expected = await first.see();
      for (const { batch, see } of others) expectEqual(expected, await see(), batch.kernel);
    }
  }));

it('a difference would be seen', () =>
  forAllAsync(5, async (random) => {
    const { batch, see } = await openAsync(REFERENCE, 3);
    batch.reset(random.reset(3));
    const before = await see();
    batch.submit({
      ...random.step(new Uint8Array(3), false),
      stepMask: null,
      actions: Uint8Array.of(1, 2, 3),
    });
    expect(differences(before, await see()).length).toBeGreaterThan(3);
  }));
