/** Imagined forks: other profiles replace the hidden profiles. Hidden profiles affect the copies only through observations. */
import { describe, expect, it } from 'vitest';
import { createAsyncVecEnv, type VecEnv } from '../../../src/engine/node.js';
import { sampleProfile } from '../../../src/engine/reference/profile.js';
import type { ImaginedProfiles, VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { NUM_STEPS, PROFILE_SIZE, STATE, STATE_WORDS, TRAIT_NAMES } from '../../../src/world/fields.js';
import { createWorld } from '../../../src/world/world.js';
import { asyncEnvColumns } from '../../support/async-envs.js';
import { type Columns, expectEqual, rowsOf } from '../../support/bits.js';
import {
  advanceRandomly,
  currentOutputs,
  envIndices,
  episodeColumns,
  expectSameResults,
  randomIndices,
  randomOptions,
  randomReset,
  stateWords,
  withoutFinal,
} from '../../support/call-sequences.js';
import { ENGINES, openOn, TWO_ENGINES } from '../../support/engines.js';
import { forAll, Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { envColumns, expectUnchanged } from '../../support/unchanged.js';

const N = 24;
const REFERENCE = ENGINES[0];
const { params } = createWorld();

/** Returns the profiles in the states of a batch, f32 [n, 16]. */
function profilesIn(env: VecEnv): Float32Array {
  const floats = new Float32Array(stateWords(env).buffer);
  const rows = Array.from({ length: env.numEnvs }, (_, i) =>
    floats.slice(i * STATE_WORDS + STATE.profile, i * STATE_WORDS + STATE.profile + PROFILE_SIZE),
  );
  return Float32Array.from(rows.flatMap((row) => Array.from(row)));
}

/** Opens a batch whose episodes began at step 0, are at different steps and have not ended. */
function openPlaying(engine: (typeof ENGINES)[number], random: Random, options: Partial<VecEnvOptions> = {}) {
  const env = openOn(engine, { numEnvs: N, ...options });
  const { start: _, ...reset } = randomReset(random, N);
  env.reset(reset);
  env.run('random', { stops: random.bytes(N, 0, NUM_STEPS - 1) });
  return env;
}

/** Draws imagined profiles for n copies. */
const drawImagined = (random: Random, n: number): ImaginedProfiles => ({
  profiles: random.chance(0.3) ? 'prior' : random.profiles(n),
  seed: random.seeds(n),
});

describe.each(ENGINES)('$name', (engine) => {
  it('the copies have the current outputs of the source', () => {
    forAll(10, (random) => {
      const env = openPlaying(engine, random, randomOptions(random));
      const before = withoutFinal(envColumns(env, currentOutputs(env)));
      const indices = randomIndices(random, N, 40);
      const fork = env.fork(indices, { imagination: drawImagined(random, 40) });
      const after = withoutFinal(envColumns(fork, currentOutputs(fork)));
      for (const each of [before, after] as Record<string, unknown>[])
        for (const name of ['seeds', 'counters', 'hash', 'targets']) delete each[name];
      expectEqual(rowsOf(before, N, indices), after);
    });
  });

  it('with the true profiles and seeds, the copies continue like a fork with imagination', () => {
    forAll(10, (random) => {
      const env = openPlaying(engine, random, randomOptions(random));
      const seed = env.seeds.slice();
      const imagined = env.fork(envIndices(N), { imagination: { profiles: profilesIn(env), seed } });
      const expected = env.fork(envIndices(N), { imagination: true });
      const sequences = random.bytes(N * NUM_STEPS, 0, 9);
      const [a, b] = [expected, imagined].map((each) => envColumns(each, each.run(sequences)));
      expectEqual(a, b);
    });
  });

  it('copies equal those of the reference in every call', () => {
    forAll(8, (random) => {
      const [options, seed] = [randomOptions(random), random.integer(0, 1e9)];
      const indices = randomIndices(random, N, 40);
      const imagination = drawImagined(random, 40);
      const [a, b] = [REFERENCE, engine].map((each) =>
        openPlaying(each, new Random(seed), options).fork(indices, { imagination }),
      );
      const [first, second] = [a, b].map(currentOutputs);
      expectEqual(episodeColumns(a, first), episodeColumns(b, second));
      expectSameResults(random, [a, first], [b, second], 8);
    });
  });

  it('copies do not depend on traits that no observation depends on', () => {
    const SOCIAL = TRAIT_NAMES.indexOf('social_vitality_multiplier');
    forAll(10, (random) => {
      const hidden = Float32Array.from({ length: 2 * PROFILE_SIZE }, () => 0.2);
      hidden[PROFILE_SIZE + SOCIAL] = random.real(2, 3);
      const env = openOn(engine, { numEnvs: 2, profiles: hidden });
      env.reset({ seed: [5, 5] });
      // Sleep does not depend on this trait. belief_skill does, because the belief target does.
      const belief = [0.1, 0.5, 0.9];
      for (let t = random.integer(9, 27); t > 0; t--) env.step([3, 3], { beliefs: [...belief, ...belief] });
      const words = stateWords(env);
      expect(words[STATE.skill]).not.toBe(words[STATE_WORDS + STATE.skill]);
      const profile = random.profiles(1);
      const imagination = { profiles: Float32Array.of(...profile, ...profile), seed: [8, 8] };
      const fork = env.fork([0, 1], { imagination });
      const expectEqualRows = (columns: Columns) =>
        expectEqual(rowsOf(columns, 2, [0]), rowsOf(columns, 2, [1]));
      expectEqualRows(episodeColumns(fork, currentOutputs(fork)));
      expectEqualRows(episodeColumns(fork, fork.run('heuristic', { beliefs: belief })));
      expectEqualRows(episodeColumns(fork, fork.reset({ seed: [1, 1] })));
    });
  });

  it('the sums over past steps are computed from the observations and the imagined weights', () => {
    forAll(10, (random) => {
      // Weights do not affect meters, so both environments have the same meters.
      const traits = random.profiles(1).subarray(0, TRAIT_NAMES.length);
      const drawWeights = () => Array.from({ length: PROFILE_SIZE - traits.length }, () => random.real());
      const profiles = Float32Array.of(...traits, ...drawWeights(), ...traits, ...drawWeights());
      const env = openOn(engine, { numEnvs: 2, profiles, grader: 'v3' });
      const seed = random.integer(0, 1000);
      env.reset({ seed: [seed, seed] });
      const sequence = random.bytes(NUM_STEPS, 0, 9);
      const actions = Uint8Array.of(...sequence, ...sequence);
      const stop = random.integer(1, NUM_STEPS - 1);
      env.run(actions, { stops: [stop, stop] });
      const second = profiles.subarray(PROFILE_SIZE);
      const imagination = { profiles: Float32Array.of(...second, ...second), seed: [8, 8] };
      const fork = env.fork([0, 1], { imagination });
      const words = stateWords(fork);
      // The real state of environment 1, whose profile both copies imagine.
      const own = stateWords(env).subarray(STATE_WORDS);
      for (const sum of [STATE.early, STATE.late, STATE.well])
        expect([words[sum], words[STATE_WORDS + sum]]).toEqual([own[sum], own[sum]]);
      // The return keeps the received rewards.
      const returns = [0, 1].map((i) => words[i * STATE_WORDS + STATE.return]);
      expect(returns[0]).not.toBe(returns[1]);
      const { episodeReturns: _, ...grade } = episodeColumns(fork, fork.run(actions), false);
      expectEqual(rowsOf(grade, 2, [0]), rowsOf(grade, 2, [1]));
    });
  });
});

describe.each(TWO_ENGINES)('$name', (engine) => {
  const playing = (options: Partial<VecEnvOptions> = {}) => {
    const env = openOn(engine, { numEnvs: 3, ...options });
    env.reset({ seed: 7 });
    env.run('heuristic', { stops: [2, 9, 20] });
    return env;
  };

  it("'prior' draws one profile from each seed, but not the profile of the real episode with that seed", () => {
    const env = playing();
    const fork = env.fork([0, 0, 2], { imagination: { profiles: 'prior', seed: [7, 8, 7] } });
    const profiles = profilesIn(fork);
    const expected = new Float32Array(PROFILE_SIZE);
    const stream = (params.streamProfile ^ params.streamImagination) >>> 0;
    [7, 8, 7].forEach((seed, i) => {
      sampleProfile(params, seed, expected, stream);
      expect(profiles.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE)).toEqual(expected);
    });
    expect(profiles.subarray(0, PROFILE_SIZE)).not.toEqual(profilesIn(env).subarray(0, PROFILE_SIZE));
    expect(Array.from(fork.seeds)).toEqual([7, 8, 7]);
    expect(env.fork([0, 0], { imagination: { profiles: 'prior' } }).seeds).not.toEqual(
      env.fork([0, 0], { imagination: { profiles: 'prior' } }).seeds,
    );
  });

  it('history() and snapshots have only the imagined steps, and observations have the real history', () => {
    const env = playing({ observation: { history: true } });
    const before = currentOutputs(env).observations.slice();
    const fork = env.fork([0, 1, 2], { imagination: { profiles: 'prior', seed: 1 } });
    expect(currentOutputs(fork).observations).toEqual(before);
    expect(fork.history(1)).toEqual([]);
    fork.step([1, 2, 3]);
    expect(fork.history(1).map(({ step, action }) => [step, action])).toEqual([[9, 2]]);
    const other = openOn(REFERENCE, { numEnvs: 3, imagination: true });
    other.restore(fork.snapshot());
    const [a, b] = [fork, other].map((each) => each.run('heuristic').finalScores.slice());
    expect(a).toEqual(b);
  });

  it('later episodes of a copy have its profile', () => {
    const env = playing({ autoreset: 'same-step' });
    const fork = env.fork([2, 1], { imagination: { profiles: 'prior', seed: 1 } });
    const profiles = profilesIn(fork);
    for (let t = 0; t < 10; t++) fork.step([3, 3]);
    expect(Array.from(fork.episodeNumbers)).toEqual([1, 0]);
    expect(profilesIn(fork)).toEqual(profiles);
    fork.reset({ seed: 5 });
    expect(profilesIn(fork)).toEqual(profiles);
    expect(fork.usesHiddenState).toBe(false);
  });

  it('usesHiddenState is false only if the caller passed or imagined every profile', () => {
    const env = playing();
    const imagined = env.fork([0, 1, 2], { imagination: { profiles: 'prior' } });
    const oracle = env.fork([0, 1, 2], { imagination: true });
    for (const each of [env, oracle, env.fork([0])]) expect(each.usesHiddenState).toBe(true);
    for (const each of [imagined, imagined.fork([1])]) expect(each.usesHiddenState).toBe(false);
    expect(imagined.fork([0], { imagination: false }).usesHiddenState).toBe(true);
    const bytes = imagined.snapshot();
    imagined.assign(oracle, [0, 1, 2]);
    expect(imagined.usesHiddenState).toBe(true);
    imagined.reset({ seed: 1, mask: [true, false, false] });
    expect(imagined.usesHiddenState).toBe(true);
    imagined.reset({ seed: 1 });
    expect(imagined.usesHiddenState).toBe(false);
    imagined.reset({ seed: 1, profiles: 'sampled', mask: [true, false, false] });
    expect(imagined.usesHiddenState).toBe(true);
    imagined.run('random', {
      from: { source: env.fork([0], { imagination: { profiles: 'prior' } }), indices: [0, 0, 0] },
    });
    expect(imagined.usesHiddenState).toBe(false);
    imagined.restore(bytes);
    expect(imagined.usesHiddenState).toBe(true);
    const own = openOn(engine, { numEnvs: 1, imagination: true });
    own.reset({ profiles: 'introvert_morning' });
    expect(own.usesHiddenState).toBe(false);
  });

  it('fork of the asynchronous API makes the same copies, even if its arguments change during the call', async () => {
    const env = playing();
    await using device = await createAsyncVecEnv({
      numEnvs: 3,
      backend: engine.backend,
      kernel: engine.kernel,
    });
    await device.reset({ seed: 7 });
    await device.run('heuristic', { stops: [2, 9, 20] });
    const profiles = Float32Array.from({ length: 4 * PROFILE_SIZE }, (_, at) => at / 100);
    const seed = Uint32Array.of(4, 5, 6, 7);
    const fork = env.fork([2, 0, 1, 1], { imagination: { profiles, seed } });
    const forking = device.fork([2, 0, 1, 1], { imagination: { profiles, seed } });
    for (const array of [profiles, seed]) array.fill(9);
    await using other = await forking;
    expect(other.usesHiddenState).toBe(false);
    expectEqual(envColumns(fork, currentOutputs(fork)), await asyncEnvColumns(other, await other.read()));
    const expected = envColumns(fork, fork.run('heuristic'));
    expectEqual(expected, await asyncEnvColumns(other, await other.run('heuristic')));
  });

  // biome-ignore lint/suspicious/noExplicitAny: cases pass values of wrong types.
  const CASES: [name: string, imagination: any, code: ErrorCode, mention?: string][] = [
    ['no profiles', {}, 'wrong_type', 'imagination.profiles'],
    ['the name "sampled"', { profiles: 'sampled' }, 'wrong_type', "'prior'"],
    ['a Float64Array', { profiles: new Float64Array(2 * PROFILE_SIZE) }, 'wrong_type'],
    ['too few profiles', { profiles: new Float32Array(PROFILE_SIZE) }, 'wrong_length', 'profiles'],
    ['NaN', { profiles: new Float32Array(2 * PROFILE_SIZE).fill(Number.NaN) }, 'bad_profile', 'profiles[0]'],
    ['too few seeds', { profiles: 'prior', seed: [1] }, 'wrong_length', 'imagination.seed'],
    ['a fractional seed', { profiles: 'prior', seed: 0.5 }, 'bad_seed', 'imagination.seed'],
    ['a seed outside seedRange', { profiles: 'prior', seed: 200 }, 'bad_seed', 'seedRange'],
    ['an unknown option', { profiles: 'prior', seeds: 1 }, 'unknown_option', '"seeds"'],
    ['null', null, 'wrong_type'],
    ['a list', [], 'wrong_type'],
  ];
  it.each(CASES)('an imagined fork refuses %s', (_, imagination, code, mention = 'imagination') => {
    const env = playing({ seedRange: [0, 100] });
    expectUnchanged(env, currentOutputs(env), () =>
      expectRefusal(() => env.fork([0, 1], { imagination }), code, mention),
    );
  });

  it('an imagined fork refuses ended episodes, and episodes that it cannot replay', () => {
    const env = playing();
    const imagination = { profiles: 'prior' } as const;
    const oracle = env.fork([0, 1], { imagination: true });
    expectRefusal(() => oracle.fork([1], { imagination }), 'foreign_past', 'environment 1');
    const imagined = env.fork([0, 1], { imagination });
    expectRefusal(() => imagined.fork([1], { imagination }), 'foreign_past', 'began at step 9');
    env.run('heuristic', { stops: [28, 9, 28] });
    expectRefusal(() => env.fork([1, 2], { imagination }), 'episode_over', 'environment 2');
    env.fork([1, 1], { imagination });
  });

  it('after random calls, an imagined fork plays like an environment that restored its snapshot', () => {
    forAll(10, (random) => {
      const env = openOn(engine, { numEnvs: N, autoreset: 'same-step', imagination: random.chance(0.3) });
      const { start: _, ...reset } = randomReset(random, N);
      advanceRandomly(random, env, reset);
      const indices = envIndices(N).filter((i) => stateWords(env)[i * STATE_WORDS + STATE.step] < NUM_STEPS);
      if (indices.length === 0) return;
      const fork = env.fork(indices, { imagination: drawImagined(random, indices.length) });
      const copy = openOn(REFERENCE, { numEnvs: indices.length, autoreset: 'same-step', imagination: true });
      copy.restore(fork.snapshot());
      const [a, b] = [fork, copy].map((each) => each.run('heuristic'));
      expectEqual(withoutFinal(episodeColumns(fork, a)), withoutFinal(episodeColumns(copy, b)));
    });
  });
});
