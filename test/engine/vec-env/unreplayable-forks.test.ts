/** Forks with imagination have the same states and draw other noise, so their past cannot be replayed from the seed. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { expectEqual } from '../../support/bits.js';
import {
  advanceRandomly,
  currentOutputs,
  envIndices,
  episodeColumns,
  finishedEnvs,
  randomIndices,
  randomOptions,
  randomStep,
  withoutFinal,
} from '../../support/call-sequences.js';
import { openOn, TWO_ENGINES } from '../../support/engines.js';
import { forAll } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { expectUnchanged } from '../../support/unchanged.js';

/**
 * Expects history() to refuse exactly the environments without a replayable past. If there are any, snapshot() is refused
 * too.
 */
function expectReplayable(env: VecEnv, expected: readonly boolean[]): void {
  expected.forEach((allowed, i) => {
    if (allowed) env.history(i);
    else expectRefusal(() => env.history(i), 'foreign_past', `environment ${i}`);
  });
  if (expected.every(Boolean)) env.snapshot();
  else expectRefusal(() => env.snapshot(), 'foreign_past', `environment ${expected.indexOf(false)}`);
}

describe.each(TWO_ENGINES)('$name', (engine) => {
  const real = (numEnvs: number) => openOn(engine, { numEnvs });
  const imagined = (numEnvs: number) => openOn(engine, { numEnvs, imagination: true });

  it('a fork with imagination has the same states and other noise', () => {
    forAll(10, (random) => {
      const env = openOn(engine, { numEnvs: 40, ...randomOptions(random) });
      const result = advanceRandomly(random, env);
      const fork = env.fork(envIndices(40), { imagination: true });
      let other = currentOutputs(fork);
      expectEqual(
        withoutFinal(episodeColumns(env, result, false)),
        withoutFinal(episodeColumns(fork, other, false)),
      );
      const { actions, options } = randomStep(random, env, finishedEnvs(result));
      const mask = (options.mask as Uint8Array) ?? new Uint8Array(40).fill(1);
      const realResult = env.step(actions, options);
      other = fork.step(actions, options);
      const stepped = [...mask.keys()].filter((i) => mask[i] !== 0);
      const different = stepped.filter((i) => realResult.rewards[i] !== other.rewards[i]);
      expect(stepped.length).toBeGreaterThan(0);
      expect(different).toEqual(stepped);
    });
  });

  it('a fork with imagination has the noise of an environment with imagination', () => {
    forAll(10, (random) => {
      const [env, expected] = [real(20), imagined(20)];
      for (const each of [env, expected]) each.reset({ seed: 77 });
      const fork = env.fork(envIndices(20), { imagination: true });
      for (let t = 0; t < NUM_STEPS; t++) {
        const actions = random.bytes(20, 0, 9);
        const [a, b] = [expected, fork].map((each) => episodeColumns(each, each.step(actions), false));
        expectEqual(a, b, `step ${t}:`);
      }
    });
  });

  it('history() and snapshot() refuse a past with other noise, until the environment is reset', () => {
    const env = real(3);
    env.reset({ seed: 1 });
    env.run('heuristic', { stops: [3, 5, 9] });
    const fork = env.fork([0, 1, 2, 1], { imagination: true });
    expectUnchanged(fork, currentOutputs(fork), () => expectReplayable(fork, [false, false, false, false]));
    fork.step(new Uint8Array(4));
    fork.reset({ seed: 8, mask: [false, true, false, true] });
    expectReplayable(fork, [false, true, false, true]);
    fork.run('heuristic');
    expectReplayable(fork, [false, true, false, true]);
    fork.reset({ seed: 8, mask: [true, false, true, false] });
    expectReplayable(fork, [true, true, true, true]);
    expectReplayable(env, [true, true, true]);
  });

  it.each(['same-step', 'next-step'] as const)('a past is replayable after autoreset %s', (autoreset) => {
    const env = openOn(engine, { numEnvs: 2, autoreset });
    env.reset({ seed: 1 });
    env.run('heuristic', { stops: [27, 20] });
    const fork = env.fork([0, 1], { imagination: true });
    fork.step([1, 1]);
    if (autoreset === 'next-step') {
      expectReplayable(fork, [false, false]);
      fork.step([1, 1]);
    }
    expectReplayable(fork, [true, false]);
    expect(fork.history(0)).toEqual([]);
  });

  it('a copy has a replayable past if its source has one, and both batches have the same imagination', () => {
    const env = real(2);
    env.reset({ seed: 1 });
    env.run('random', { stops: [4, 6] });
    const other = env.fork([0, 1], { imagination: true });
    other.reset({ seed: 3, mask: [true, false] });
    expectReplayable(other, [true, false]);
    expectReplayable(other.fork([1, 0, 1]), [false, true, false]);
    expectReplayable(other.fork([0, 1], { imagination: false }), [false, false]);
    expectReplayable(other.fork([0, 1], { imagination: true }), [true, false]);
    other.assign(other, [1, 0]);
    expectReplayable(other, [false, true]);
    env.assign(other, [1, 0]);
    expectReplayable(env, [false, false]);
    env.assign(withReset(real(1)), [0, 0]);
    expectReplayable(env, [true, true]);
  });

  it('an environment has a replayable past after restore', () => {
    const env = imagined(2);
    env.reset({ seed: 4 });
    env.step([1, 2]);
    const bytes = env.snapshot();
    env.assign(withReset(real(1)), [0, 0]);
    expectReplayable(env, [false, false]);
    env.restore(bytes);
    expectReplayable(env, [true, true]);
  });

  it('a fork with imagination copies the observed history', () => {
    forAll(5, (random) => {
      const env = openOn(engine, { numEnvs: 20, observation: { history: true } });
      env.reset({ seed: random.seeds(20) });
      const { observations } = env.run('random', { stops: random.stops(20) });
      const before = observations.slice();
      const indices = randomIndices(random, 20, 20);
      const width = env.observationSpace.shape[0];
      const copied = currentOutputs(env.fork(indices, { imagination: true })).observations;
      indices.forEach((index, i) => {
        expect(copied.slice(i * width, (i + 1) * width)).toEqual(
          before.slice(index * width, (index + 1) * width),
        );
      });
    });
  });
});

function withReset(env: VecEnv): VecEnv {
  env.reset({ seed: 9 });
  return env;
}
