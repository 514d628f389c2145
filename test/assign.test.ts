/** Assignment: slots become copies of slots of another environment of the same backend, whatever else differs. */
import { describe, expect, it } from 'vitest';
import { AUTORESET_MODES } from '../src/validate/autoreset-modes.js';
import type { StepResult, VecEnvOptions } from '../src/vec-env/options.js';
import type { VecEnv } from '../src/vec-env.js';
import { NUM_STEPS } from '../src/world/fields.js';
import { expectEqual, rowsOf } from './support/bits.js';
import { ENGINES, NATIVE, nameAbsent, openOn } from './support/engines.js';
import { forAll, type Random } from './support/random.js';
import { anyIndices, anyOptions, copied, expectAlike, look, seen, slots, wander } from './support/stories.js';

const SIZES = [1, 16, 17, 40];

/** Copies slots from one to the other, and expects them there, and the source as it was. */
function expectAssigned(
  [source, result]: readonly [VecEnv, StepResult],
  target: VecEnv,
  indices: Uint32Array,
): StepResult {
  const before = seen(source, result);
  const shown = target.assign(source, indices);
  expectEqual(before, seen(source, result), 'the source:');
  expectEqual(copied(rowsOf(before, source.numEnvs, indices)), copied(seen(target, shown)), 'the target:');
  expect([...shown.finalMask].some(Boolean)).toBe(false);
  expect(shown.finalObservations?.some(Boolean) ?? false).toBe(false);
  return shown;
}

nameAbsent();

describe.each(ENGINES)('$name', (engine) => {
  const open = (random: Random, options: Partial<VecEnvOptions> = {}) =>
    openOn(engine, { numEnvs: random.pick(SIZES), ...anyOptions(random), ...options });

  it('from any environment to any, reset or not', () => {
    forAll(25, (random) => {
      const source = open(random, { autoreset: random.pick(AUTORESET_MODES) });
      const target = open(random, { autoreset: random.pick(AUTORESET_MODES) });
      const result = wander(random, source);
      if (random.chance(0.5)) wander(random, target);
      const indices = anyIndices(random, source.numEnvs, target.numEnvs);
      expectAssigned([source, result], target, indices);
    });
  });

  it('and the slots go on as those of the source', () => {
    forAll(10, (random) => {
      const source = open(random);
      const target = open(random);
      const result = wander(random, source);
      if (random.chance(0.5)) wander(random, target);
      const indices = anyIndices(random, source.numEnvs, target.numEnvs);
      const shown = expectAssigned([source, result], target, indices);
      expectAlike(random, [source, result], [target, shown], NUM_STEPS, indices);
    });
  });

  it.each(AUTORESET_MODES)('within one environment, autoreset %s', (autoreset) => {
    forAll(10, (random) => {
      const env = open(random, { autoreset });
      const twin = openOn(engine, { numEnvs: env.numEnvs, autoreset });
      const result = wander(random, env);
      const before = seen(env, result);
      const indices = anyIndices(random, env.numEnvs, env.numEnvs);
      const expected = twin.assign(env, indices);
      const shown = env.assign(env, indices);
      expectEqual(copied(rowsOf(before, env.numEnvs, indices)), copied(seen(env, shown)));
      expectAlike(random, [twin, expected], [env, shown], 60);
    });
  });

  it('under autoreset the slots go on by the mode of the target', () => {
    forAll(10, (random) => {
      const [from, to] = [random.pick(AUTORESET_MODES), random.pick(['same-step', 'next-step'] as const)];
      const numEnvs = random.pick(SIZES);
      const source = openOn(engine, { numEnvs, autoreset: from });
      const target = open(random, { numEnvs, autoreset: to });
      const result = wander(random, source);
      wander(random, target);
      const shown = expectAssigned([source, result], target, slots(numEnvs));
      // The same, of one environment that never had another mode.
      const fork = source.fork(slots(numEnvs), { autoreset: to });
      expectAlike(random, [fork, look(fork)], [target, shown], 60);
    });
  });

  it.each([
    [3, [106, 107, 108]],
    [2 ** 32 - 4, [105, 106, 107]],
  ] as const)('a seed from outside its range leads back into it: %i', (seed, next) => {
    const source = openOn(engine, { numEnvs: 3 });
    source.reset({ seed });
    source.run('random', { stops: [27, 27, 27] });
    const target = openOn(engine, { numEnvs: 3, autoreset: 'same-step', seedRange: [100, 10] });
    target.assign(source, [0, 1, 2]);
    expect([...target.seeds]).toEqual([seed, seed + 1, seed + 2]);
    target.step([0, 0, 0]);
    // As many seeds on as there are slots, counted around the range.
    expect([...target.seeds]).toEqual(next);
  });

  it('counters are of what was done here, episode numbers of the slots', () => {
    const [source, target] = [1, 2].map((numEnvs) => openOn(engine, { numEnvs, autoreset: 'same-step' }));
    source.reset({ seed: 5 });
    for (let t = 0; t < 2 * NUM_STEPS + 3; t++) source.step([t % 10]);
    target.reset({ seed: 6 });
    target.step([1, 2]);
    target.assign(source, [0, 0]);
    expect(target.counters).toEqual({ steps: 2, episodes: 0 });
    expect([...target.episodeNumbers]).toEqual([2, 2]);
    target.run('random');
    expect(target.counters).toEqual({ steps: 2 + 2 * (NUM_STEPS - 3), episodes: 2 });
    expect(source.counters).toEqual({ steps: 2 * NUM_STEPS + 3, episodes: 2 });
  });

  it('where both have a history it is copied, where only the target has one it is lived again', () => {
    forAll(12, (random) => {
      const history = { fields: ['step', 'reward'], history: true };
      const source = open(random, { autoreset: random.pick(AUTORESET_MODES) });
      const twin = openOn(engine, { numEnvs: source.numEnvs, observation: history });
      wander(random, source);
      twin.assign(source, slots(source.numEnvs));
      const target = open(random, { observation: history });
      const indices = anyIndices(random, source.numEnvs, target.numEnvs);
      for (const from of [source, twin]) {
        if (random.chance(0.5)) target.reset();
        const { columnStride, observations } = target.assign(from, indices);
        const width = target.observationSpace.shape[0];
        indices.forEach((_, i) => {
          const row = Array.from({ length: width }, (__, k) =>
            columnStride === 0 ? observations[i * width + k] : observations[k * columnStride + i],
          );
          expect(row.slice(2)).toEqual(naiveHistory(target, i));
        });
      }
    });
  });
});

/** Actions, rewards, deltas and anomalies of the last seven steps, as the slot's history tells them. */
function naiveHistory(env: VecEnv, slot: number): number[] {
  const steps = env.history(slot);
  const missing = Array.from({ length: 7 - steps.length }, () => null);
  const seven = [...missing, ...steps];
  const five = (floats: Float32Array | undefined): number[] => (floats ? [...floats] : [0, 0, 0, 0, 0]);
  return [
    ...seven.map((step) => step?.action ?? -1),
    ...seven.map((step) => step?.reward ?? 0),
    ...seven.flatMap((step) => five(step?.deltas)),
    ...seven.flatMap((step) => five(step?.anomalies)),
  ];
}

describe.skipIf(NATIVE.length < 2)('between kernels', () => {
  it('states, and what is shown, are the same in each', () => {
    forAll(15, (random) => {
      const [from, to] = [random.pick(NATIVE), random.pick(NATIVE)];
      const [source, target] = [from, to].map((engine) =>
        openOn(engine, { numEnvs: random.pick(SIZES), ...anyOptions(random) }),
      );
      const result = wander(random, source);
      const indices = anyIndices(random, source.numEnvs, target.numEnvs);
      const shown = expectAssigned([source, result], target, indices);
      expectAlike(random, [source, result], [target, shown], 20, indices);
    });
  });
});
