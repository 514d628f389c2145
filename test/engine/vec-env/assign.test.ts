/** `assign` copies episodes from an environment with the same backend and any other options. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { AUTORESET_MODES } from '../../../src/engine/validate/autoreset-modes.js';
import type { StepResult, VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { expectEqual, rowsOf } from '../../support/bits.js';
import {
  advanceRandomly,
  currentOutputs,
  envIndices,
  episodeColumns,
  expectSameResults,
  randomIndices,
  randomOptions,
  withoutFinal,
} from '../../support/call-sequences.js';
import { ENGINES, NATIVE, openOn, reportAbsentEngines } from '../../support/engines.js';
import { forAll, type Random } from '../../support/random.js';

/** Numbers of environments around 16, a tile: kernels store the states of a tile together. */
const SIZES = [1, 16, 17, 40];

/** Assigns, and expects equal episodes in the target, an unchanged source and no final outputs. */
function expectAssigned(
  [source, result]: readonly [VecEnv, StepResult],
  target: VecEnv,
  indices: Uint32Array,
): StepResult {
  const before = episodeColumns(source, result);
  const assigned = target.assign(source, indices);
  expectEqual(before, episodeColumns(source, result), 'the source:');
  expectEqual(
    withoutFinal(rowsOf(before, source.numEnvs, indices)),
    withoutFinal(episodeColumns(target, assigned)),
    'the target:',
  );
  expect([...assigned.finalMask].some(Boolean)).toBe(false);
  expect(assigned.finalObservations?.some(Boolean) ?? false).toBe(false);
  return assigned;
}

reportAbsentEngines();

describe.each(ENGINES)('$name', (engine) => {
  const open = (random: Random, options: Partial<VecEnvOptions> = {}) =>
    openOn(engine, { numEnvs: random.pick(SIZES), ...randomOptions(random), ...options });

  it('assign copies from any environment to any other, even before the first reset of the target', () => {
    forAll(25, (random) => {
      const source = open(random, { autoreset: random.pick(AUTORESET_MODES) });
      const target = open(random, { autoreset: random.pick(AUTORESET_MODES) });
      const result = advanceRandomly(random, source);
      if (random.chance(0.5)) advanceRandomly(random, target);
      const indices = randomIndices(random, source.numEnvs, target.numEnvs);
      expectAssigned([source, result], target, indices);
    });
  });

  it('copies continue like their originals', () => {
    forAll(10, (random) => {
      const source = open(random);
      const target = open(random);
      const result = advanceRandomly(random, source);
      if (random.chance(0.5)) advanceRandomly(random, target);
      const indices = randomIndices(random, source.numEnvs, target.numEnvs);
      const assigned = expectAssigned([source, result], target, indices);
      expectSameResults(random, [source, result], [target, assigned], NUM_STEPS, indices);
    });
  });

  it.each(AUTORESET_MODES)('assign copies within one environment, autoreset %s', (autoreset) => {
    forAll(10, (random) => {
      const env = open(random, { autoreset });
      const control = openOn(engine, { numEnvs: env.numEnvs, autoreset });
      const result = advanceRandomly(random, env);
      const before = episodeColumns(env, result);
      const indices = randomIndices(random, env.numEnvs, env.numEnvs);
      const expected = control.assign(env, indices);
      const assigned = env.assign(env, indices);
      expectEqual(
        withoutFinal(rowsOf(before, env.numEnvs, indices)),
        withoutFinal(episodeColumns(env, assigned)),
      );
      expectSameResults(random, [control, expected], [env, assigned], 60);
    });
  });

  it('copies follow the autoreset mode of the target', () => {
    forAll(10, (random) => {
      const [from, to] = [random.pick(AUTORESET_MODES), random.pick(['same-step', 'next-step'] as const)];
      const numEnvs = random.pick(SIZES);
      const source = openOn(engine, { numEnvs, autoreset: from });
      const target = open(random, { numEnvs, autoreset: to });
      const result = advanceRandomly(random, source);
      advanceRandomly(random, target);
      const assigned = expectAssigned([source, result], target, envIndices(numEnvs));
      // Compares with an environment that always had this mode.
      const fork = source.fork(envIndices(numEnvs), { autoreset: to });
      expectSameResults(random, [fork, currentOutputs(fork)], [target, assigned], 60);
    });
  });

  it('assign keeps the counters of the target, and copies episode numbers', () => {
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

  it('assign copies histories to the target, whether or not the observations of the source have them', () => {
    forAll(12, (random) => {
      const history = { fields: ['step', 'reward'], history: true };
      const source = open(random, { autoreset: random.pick(AUTORESET_MODES) });
      const control = openOn(engine, { numEnvs: source.numEnvs, observation: history });
      advanceRandomly(random, source);
      control.assign(source, envIndices(source.numEnvs));
      const target = open(random, { observation: history });
      const indices = randomIndices(random, source.numEnvs, target.numEnvs);
      for (const from of [source, control]) {
        if (random.chance(0.5)) target.reset();
        const { columnStride, observations } = target.assign(from, indices);
        const width = target.observationSpace.shape[0];
        indices.forEach((_, i) => {
          // columnStride 0 means row-major.
          const row = Array.from({ length: width }, (__, k) =>
            columnStride === 0 ? observations[i * width + k] : observations[k * columnStride + i],
          );
          // Before the history come the two fields step and reward.
          expect(row.slice(2)).toEqual(naiveHistory(target, i));
        });
      }
    });
  });
});

/** Returns actions, rewards, deltas and anomalies of the last seven steps, from history(). */
function naiveHistory(env: VecEnv, i: number): number[] {
  const steps = env.history(i);
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

describe.skipIf(NATIVE.length < 2)('assign between kernels', () => {
  it('copies states and outputs, and the copies continue identically', () => {
    forAll(15, (random) => {
      const [from, to] = [random.pick(NATIVE), random.pick(NATIVE)];
      const [source, target] = [from, to].map((engine) =>
        openOn(engine, { numEnvs: random.pick(SIZES), ...randomOptions(random) }),
      );
      const result = advanceRandomly(random, source);
      const indices = randomIndices(random, source.numEnvs, target.numEnvs);
      const assigned = expectAssigned([source, result], target, indices);
      expectSameResults(random, [source, result], [target, assigned], 20, indices);
    });
  });
});
