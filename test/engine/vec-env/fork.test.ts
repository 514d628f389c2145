/**
 * Forks: environments whose episodes continue exactly like those of their source. Forks with imagination have the same states
 * and draw other noise, so their past cannot be replayed from the seed.
 */

import { describe, expect, it } from 'vitest';
import type { SyncBackend } from '../../../src/engine/backends/backend.js';
import { referenceBackend } from '../../../src/engine/backends/reference.js';
import type { VecEnv } from '../../../src/engine/node.js';
import { replayHistory } from '../../../src/engine/reference/saved-states.js';
import { AUTORESET_MODES } from '../../../src/engine/vec-env/autoreset.js';
import { openVecEnv } from '../../../src/engine/vec-env/vec-env.js';
import type { StepResult, VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { BackendError } from '../../../src/shared/errors.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { expectEqual, rowsOf } from '../../support/bits.js';
import {
  advanceRandomly,
  currentOutputs,
  envIndices,
  episodeColumns,
  expectSameResults,
  finishedEnvs,
  randomIndices,
  randomOptions,
  randomReset,
  randomStep,
  selectReset,
  withoutFinal,
} from '../../support/call-sequences.js';
import { openOn, TWO_ENGINES } from '../../support/engines.js';
import { forAll, type Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { expectUnchanged } from '../../support/unchanged.js';

/** Numbers of environments: less than, equal to and more than 16, the largest number that a kernel steps together. */
const SIZES = [1, 16, 17, 40];
/** Seed ranges: [low, size]. */
const RANGES: readonly (readonly [number, number])[] = [
  [0, 2 ** 32],
  [2 ** 32 - 50, 50],
  [1000, 7],
];

describe.each(TWO_ENGINES)('$name', (engine) => {
  /** Opens an environment of a random size with episodes in random states. */
  function openAdvanced(random: Random, options: Partial<VecEnvOptions>): [VecEnv, StepResult] {
    const env = openOn(engine, { numEnvs: random.pick(SIZES), ...randomOptions(random), ...options });
    return [env, advanceRandomly(random, env)];
  }

  it.each(AUTORESET_MODES)(
    'a fork has the episodes of its source and continues like its source, autoreset %s',
    (autoreset) => {
      forAll(10, (random) => {
        const [env, result] = openAdvanced(random, { autoreset });
        const { numEnvs } = env;
        // The seed of a new episode depends on numEnvs.
        const size = autoreset === 'disabled' ? random.pick([...SIZES, 100]) : numEnvs;
        const indices = randomIndices(random, numEnvs, size);
        const before = episodeColumns(env, result);
        const fork = env.fork(random.chance(0.5) ? indices : Array.from(indices));
        expectEqual(before, episodeColumns(env, result), 'the source:');
        const forkResult = currentOutputs(fork);
        expectEqual(
          withoutFinal(rowsOf(before, numEnvs, indices)),
          withoutFinal(episodeColumns(fork, forkResult)),
          'after the fork:',
        );
        expect([...forkResult.finalMask].some(Boolean)).toBe(false);
        // An episode has 28 steps. With autoreset, new episodes are compared too.
        expectSameResults(
          random,
          [env, result],
          [fork, forkResult],
          autoreset === 'disabled' ? 30 : 65,
          indices,
        );
      });
    },
  );

  it('a fork, its source and other forks are independent, also after close', () => {
    const env = openOn(engine, { numEnvs: 2 });
    env.reset({ seed: 5 });
    const forks = [env.fork([0, 1]), env.fork([0, 1])];
    const before = env.stateHash();
    env.close();
    forks[0].step([3, 4]);
    expect(forks[0].stateHash()).not.toEqual(before);
    forks[0].close();
    expect(forks[1].stateHash()).toEqual(before);
  });

  it('a fork has new counters and the episode numbers of its source', () => {
    const env = openOn(engine, { numEnvs: 3, autoreset: 'same-step' });
    env.reset({ seed: 5 });
    for (let t = 0; t < 2 * NUM_STEPS + 1; t++) env.step([0, 1, 2], { mask: [true, true, t % 2 === 0] });
    const fork = env.fork([2, 0, 2, 1]);
    expect([...fork.episodeNumbers]).toEqual([1, 2, 1, 2]);
    expect(fork.counters).toEqual({ steps: 0, episodes: 0 });
    fork.step(new Uint8Array(4));
    expect(fork.counters).toEqual({ steps: 4, episodes: 0 });
  });

  it('a fork has the options of its source, except those that are passed', () => {
    const seedRange = [10, 5] as const;
    const options: VecEnvOptions = {
      numEnvs: 3,
      threads: 2,
      autoreset: 'next-step',
      seedRange,
      observation: { fields: ['meters'], scale: true, history: true },
      layout: 'column-major',
      copy: true,
    };
    const env = openOn(engine, options);
    env.reset({ seed: 10 });
    const fork = env.fork([1, 1]);
    const optionsOf = ({ backend, kernel, threads, spec, metadata, observationFields, world }: VecEnv) => [
      [backend, kernel, threads, spec, metadata, observationFields, world.digest],
    ];
    expect(optionsOf(fork)).toEqual(optionsOf(env));
    const forkResult = currentOutputs(fork);
    expect(forkResult.columnStride).toBeGreaterThanOrEqual(2);
    expect(currentOutputs(fork)).not.toBe(forkResult);
    expect(() => fork.reset({ seed: 9 })).toThrow(/seedRange/);
    const other = env.fork([1], { autoreset: 'same-step', threads: undefined });
    expect(other.metadata.autoresetMode).toBe('same-step');
    expect(env.metadata.autoresetMode).toBe('next-step');
    expect([other.threads, env.fork([1], { threads: 1 }).threads]).toEqual([env.threads, 1]);
  });

  it.each(['same-step', 'next-step'] as const)(
    'a fork to %s starts the episodes of a restored environment',
    (autoreset) => {
      let started = 0;
      forAll(12, (random) => {
        const seedRange = random.pick(RANGES);
        const numEnvs = random.pick(SIZES);
        const env = openOn(engine, { numEnvs, seedRange, ...randomOptions(random) });
        advanceRandomly(random, env, randomReset(random, numEnvs, seedRange));
        // The seed of a new episode depends on numEnvs.
        const indices = randomIndices(random, numEnvs, random.pick(SIZES));
        const fork = env.fork(indices, { autoreset });
        const restored = openOn(engine, { numEnvs: indices.length, seedRange, autoreset });
        const before = fork.episodeNumbers.slice();
        const result = restored.restore(fork.snapshot());
        expectSameResults(random, [restored, result], [fork, currentOutputs(fork)], 70);
        started += fork.episodeNumbers.filter((number, i) => number !== before[i]).length;
      });
      expect(started).toBeGreaterThan(0);
    },
  );

  it('a fork has the default profiles and graders of its source', () => {
    forAll(10, (random) => {
      const n = random.pick(SIZES);
      const choice = randomReset(random, n);
      const env = openOn(engine, { numEnvs: n, profiles: choice.profiles, grader: choice.graders });
      // Profiles and graders of a reset do not change the defaults.
      advanceRandomly(random, env, random.chance(0.5) ? {} : randomReset(random, n));
      const indices = randomIndices(random, n, random.pick(SIZES));
      const fork = random.chance(0.5) ? env.fork(indices) : env.fork(envIndices(n)).fork(indices);
      const { seed, profiles, graders } = selectReset(choice, indices);
      const fresh = openOn(engine, { numEnvs: indices.length, profiles, grader: graders });
      const [got, expected] = [fork, fresh].map((each) => {
        each.reset({ seed });
        return episodeColumns(each, each.run('random', { beliefs: [0.2, 0.4, 0.9] }));
      });
      expectEqual(expected, got);
    });
  });
});

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
});

function withReset(env: VecEnv): VecEnv {
  env.reset({ seed: 9 });
  return env;
}

it('a fork closes its new batch if the copy of the states fails', () => {
  const failure = new BackendError('out_of_memory', 'Expected memory for the copies, got none. Fork fewer.');
  let numOpen = 0;
  /** The reference backend, without memory for copies. It counts the open batches. */
  const failing: SyncBackend = {
    ...referenceBackend,
    open: (options) => {
      const batch = referenceBackend.open(options);
      numOpen++;
      const close = () => {
        numOpen--;
      };
      const gather = () => {
        throw failure;
      };
      return Object.assign(batch, { close, gather });
    },
  };
  using env = openVecEnv({ backends: [failing], asyncBackends: [], replayHistory }, { numEnvs: 2 });
  env.reset({ seed: 5 });
  for (const imagination of [undefined, { profiles: 'prior', seed: 1 }] as const) {
    expect(() => env.fork([0, 1], { imagination })).toThrow(failure);
    expect(numOpen).toBe(1);
  }
});
