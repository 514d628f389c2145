/** Restored environments continue identically on any engine. Snapshots of different environments are refused. */
import { describe, expect, it } from 'vitest';
import { AUTORESET_MODES } from '../../../src/engine/vec-env/autoreset.js';
import type { VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { expectEqual } from '../../support/bits.js';
import {
  advanceRandomly,
  currentOutputs,
  envIndices,
  episodeColumns,
  expectSameResults,
  finishedEnvs,
  randomOptions,
  randomReset,
  randomStep,
} from '../../support/call-sequences.js';
import { openOn, TWO_ENGINES } from '../../support/engines.js';
import { forAll, Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { expectUnchanged } from '../../support/unchanged.js';

/** Batch sizes around 16, the lanes of the widest kernel, and others. */
const SIZES = [1, 16, 17, 40];
const PAIRS = TWO_ENGINES.flatMap((from) =>
  TWO_ENGINES.map((to) => ({ name: `${from.name} to ${to.name}`, from, to })),
);

describe.each(PAIRS)('$name', ({ from, to }) => {
  it.each(AUTORESET_MODES)('a restored environment continues identically, autoreset %s', (autoreset) => {
    forAll(3, (random) => {
      const numEnvs = random.pick(SIZES);
      const env = openOn(from, { numEnvs, autoreset, ...randomOptions(random) });
      const other = openOn(to, { numEnvs, autoreset, ...randomOptions(random) });
      const result = advanceRandomly(random, env);
      // Before restore, `other` may have episodes of its own or none.
      if (random.chance(0.5)) advanceRandomly(random, other);
      const restored = other.restore(env.snapshot());
      const [expected, got] = [episodeColumns(env, result), episodeColumns(other, restored)].map(
        ({ observations, words, seeds, episodeNumbers }) => ({ observations, words, seeds, episodeNumbers }),
      );
      expectEqual(expected, got);
      expect([...restored.finalMask].some(Boolean)).toBe(false);
      // 60 steps: more than two episodes.
      expectSameResults(random, [env, result], [other, restored], autoreset === 'disabled' ? NUM_STEPS : 60);
      expect(other.counters).toEqual(env.counters);
    });
  });
});

describe.each(TWO_ENGINES)('$name', (engine) => {
  const open = (options: Partial<VecEnvOptions> = {}) => openOn(engine, { numEnvs: 4, ...options });

  it('restore sets the counters, and a second snapshot has the same bytes', () => {
    forAll(6, (random) => {
      const autoreset = random.pick(AUTORESET_MODES);
      const env = open({ autoreset });
      let result = advanceRandomly(random, env);
      // Steps until every episode is over, at most 40 times.
      for (let t = 0; t < 40 && finishedEnvs(result).includes(0); t++) {
        const { actions, options } = randomStep(random, env, finishedEnvs(result));
        result = env.step(actions, options);
      }
      const [bytes, { counters }] = [env.snapshot(), env];
      const numbers = env.episodeNumbers.slice();
      advanceRandomly(random, env);
      const other = open({ autoreset });
      for (const each of [env, other]) {
        each.restore(bytes);
        expect(each.counters).toEqual(counters);
        expect(each.episodeNumbers).toEqual(numbers);
        expect(each.snapshot()).toEqual(bytes);
      }
      expect(counters.steps).toBeGreaterThan(0);
    });
  });

  it('snapshot and restore copy the bytes', () => {
    const env = open();
    env.reset({ seed: 3 });
    env.step([1, 2, 3, 4]);
    const [bytes, hash] = [env.snapshot(), env.stateHash()];
    const before = bytes.slice();
    env.step([1, 2, 3, 4]);
    expect(bytes).toEqual(before);
    env.restore(bytes);
    bytes.fill(0);
    expect(env.stateHash()).toEqual(hash);
  });

  it('restore sets the profiles of episodes, but not the default profiles and grader', () => {
    const random = new Random('profiles');
    const env = open({ profiles: 'discrete', grader: 'v1' });
    const reset = randomReset(random, 4);
    advanceRandomly(random, env, reset);
    const other = open();
    other.restore(env.snapshot());
    expect(other.beliefTargets()).toEqual(env.beliefTargets());
    const fresh = open();
    const [expected, got] = [fresh, other].map((each) => episodeColumns(each, each.reset({ seed: 5 })));
    expectEqual(expected, got);
  });

  it('restore sets the history in history() and in observations', () => {
    forAll(6, (random) => {
      const observation = { fields: ['step', 'reward'], oneHot: random.chance(0.5), history: true };
      const env = open({ observation, layout: random.pick(['row-major', 'column-major'] as const) });
      const plain = open();
      env.reset(randomReset(random, 4));
      const { observations } = env.run('random', { stops: random.stops(4) });
      const before = observations.slice();
      const histories = [...envIndices(4)].map((i) => env.history(i, NUM_STEPS));
      const bytes = env.snapshot();
      env.reset();
      expect(env.restore(bytes).observations).toEqual(before);
      expect(currentOutputs(env).observations).toEqual(before);
      // An environment without histories in its observations can restore the snapshot too.
      plain.restore(bytes);
      for (const each of [env, plain]) {
        expect([...envIndices(4)].map((i) => each.history(i, NUM_STEPS))).toEqual(histories);
      }
    });
  });

  it('a snapshot of a different environment is refused with the reason, and nothing changes', () => {
    const world = structuredClone(RHYTHM);
    world.initialMeters[0] = 0.5;
    const env = open({ autoreset: 'same-step', seedRange: [0, 100] });
    const result = env.reset({ seed: 1 });
    const [bytes, digest] = [env.snapshot(), env.spec.worldDigest];
    const others: [Partial<VecEnvOptions>, ...string[]][] = [
      [{ numEnvs: 5 }, 'numEnvs 5', '{ numEnvs: 4 }'],
      [{ autoreset: 'next-step' }, 'autoreset "next-step"', '{ autoreset: "same-step" }'],
      [{ autoreset: undefined }, 'autoreset "disabled"'],
      [{ seedRange: [0, 101] }, 'seedRange [0,101]', '{ seedRange: [0,100] }'],
      [{ seedRange: undefined }, 'seedRange [0,4294967296]'],
      [{ imagination: true }, 'imagination true', '{ imagination: false }'],
      [{ world }, 'world', digest],
    ];
    for (const [options, ...mentions] of others) {
      const other = open({ autoreset: 'same-step', seedRange: [0, 100], ...options });
      expectRefusal(() => other.restore(bytes), 'bad_snapshot', ...mentions);
      expectRefusal(() => other.snapshot(), 'not_reset');
      other.reset({ seed: 2 });
      expectUnchanged(env, result, () =>
        expectRefusal(() => env.restore(other.snapshot()), 'bad_snapshot', mentions[0].split(' ')[0]),
      );
    }
    expectUnchanged(env, result, () => {
      for (const value of [undefined, null, 'bytes', [...bytes], bytes.buffer, new Uint16Array(99)]) {
        expectRefusal(() => env.restore(value as unknown as Uint8Array), 'bad_snapshot', 'Uint8Array');
      }
    });
  });
});
