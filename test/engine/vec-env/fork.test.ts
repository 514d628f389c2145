/** Forks: environments whose episodes continue exactly like those of their source. */
import { describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/engine/backends/backend.js';
import { referenceBackend } from '../../../src/engine/backends/reference.js';
import type { VecEnv } from '../../../src/engine/node.js';
import { AUTORESET_MODES } from '../../../src/engine/validate/autoreset-modes.js';
import { openVecEnv } from '../../../src/engine/vec-env/vec-env.js';
import type { StepResult, VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { BackendError } from '../../../src/shared/errors.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { expectEqual, rowsOf } from '../../support/bits.js';
import {
  advanceRandomly,
  currentOutputs,
  type EnvResets,
  envIndices,
  episodeColumns,
  expectSameResults,
  finishedEnvs,
  randomIndices,
  randomOptions,
  randomReset,
  randomStep,
  selectReset,
  stateWords,
  stepsTaken,
  withoutFinal,
} from '../../support/call-sequences.js';
import { ENGINES, openOn } from '../../support/engines.js';
import { forAll, type Random } from '../../support/random.js';

/** Numbers of environments: less than, equal to and more than 16, the largest number that a kernel steps together. */
const SIZES = [1, 16, 17, 40];
/** Seed ranges: [low, size]. */
const RANGES: readonly (readonly [number, number])[] = [
  [0, 2 ** 32],
  [2 ** 32 - 50, 50],
  [1000, 7],
];

describe.each(ENGINES)('$name', (engine) => {
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

  it('a fork can be forked', () => {
    forAll(10, (random) => {
      const [env, result] = openAdvanced(random, { autoreset: random.pick(AUTORESET_MODES) });
      const first = randomIndices(random, env.numEnvs, random.pick(SIZES));
      const second = randomIndices(random, first.length, env.numEnvs);
      const twice = env.fork(first).fork(second);
      expectSameResults(
        random,
        [env, result],
        [twice, currentOutputs(twice)],
        40,
        second.map((index) => first[index]),
      );
    });
  });

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

  describe.each(['same-step', 'next-step'] as const)('a fork with autoreset %s', (autoreset) => {
    /**
     * Expects the fork to equal `control`, a fork without autoreset that this function resets after every end.
     * @returns the number of started episodes of each environment.
     */
    function expectEqualToManualResets(
      random: Random,
      fork: VecEnv,
      control: VecEnv,
      resets: EnvResets,
      range: readonly [number, number],
    ) {
      const [low, size] = range;
      /** The step count at which the next step starts a new episode. */
      const stepsBeforeNext = autoreset === 'same-step' ? NUM_STEPS - 1 : NUM_STEPS;
      const started = new Uint32Array(fork.numEnvs);
      let [a, b] = [currentOutputs(fork), currentOutputs(control)];
      for (let t = 0; t < 70; t++) {
        const { actions, options } = randomStep(random, fork, finishedEnvs(a));
        const mask = (options.mask as Uint8Array) ?? new Uint8Array(fork.numEnvs).fill(1);
        const steps = stepsTaken(b);
        const ends = mask.map((selected, i) => Number(selected !== 0 && steps[i] === stepsBeforeNext));
        a = fork.step(actions, options);
        b = control.step(actions, {
          ...options,
          mask: mask.map((selected, i) => Number(selected && steps[i] < NUM_STEPS)),
        });
        // The next seed is `numEnvs` further in the range, modulo its size.
        const seed = control.seeds.map((old, i) =>
          ends[i] ? low + ((old - low + fork.numEnvs) % size) : old,
        );
        if (ends.some(Boolean)) b = control.reset({ ...resets, seed, mask: ends });
        ends.forEach((ended, i) => {
          started[i] += ended;
        });
        expectEqual(
          { words: stateWords(control), seeds: seed },
          { words: stateWords(fork), seeds: fork.seeds },
          `step ${t}:`,
        );
      }
      return started;
    }

    it('starts the same new episodes as manual resets', () => {
      forAll(6, (random) => {
        const range = random.pick(RANGES);
        const env = openOn(engine, {
          numEnvs: random.pick(SIZES),
          seedRange: range,
          ...randomOptions(random),
        });
        const reset = randomReset(random, env.numEnvs, range);
        advanceRandomly(random, env, reset);
        const indices = randomIndices(random, env.numEnvs, random.pick(SIZES));
        const [fork, control] = [env.fork(indices, { autoreset }), env.fork(indices)];
        const before = fork.episodeNumbers.slice();
        const started = expectEqualToManualResets(random, fork, control, selectReset(reset, indices), range);
        expect(started.some(Boolean)).toBe(true);
        expect(fork.episodeNumbers).toEqual(before.map((number, i) => number + started[i]));
      });
    });
  });

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

it('a fork closes its new batch if the copy of the states fails', () => {
  const failure = new BackendError('out_of_memory', 'Expected memory for the copies, got none. Fork fewer.');
  let numOpen = 0;
  /** The reference backend, without memory for copies. It counts the open batches. */
  const failing: Backend = {
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
  using env = openVecEnv({ backends: [failing], asyncBackends: [] }, { numEnvs: 2 });
  env.reset({ seed: 5 });
  for (const imagination of [undefined, { profiles: 'prior', seed: 1 }] as const) {
    expect(() => env.fork([0, 1], { imagination })).toThrow(failure);
    expect(numOpen).toBe(1);
  }
});
