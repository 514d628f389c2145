/** checkStates accepts every reachable state, and refuses words that are not legal states, with environment and field. */
import { describe, expect, it } from 'vitest';
import { checkStates } from '../../../src/engine/snapshot/legal-states.js';
import { toGraders, toProfiles } from '../../../src/engine/validate/profiles.js';
import { type EnvStarts, toStart } from '../../../src/engine/validate/starts.js';
import { NUM_COMPONENTS, NUM_METERS, NUM_STEPS, STATE, STATE_WORDS } from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { createWorld, type World } from '../../../src/world/world.js';
import { ENGINES } from '../../support/engines.js';
import { openBatch, WORLD } from '../../support/open-batch.js';
import { forAll, Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { validReset } from '../../support/snapshots.js';
import { changedWorld } from '../../support/worlds.js';

describe.each(ENGINES)('checkStates accepts states of $name', (engine) => {
  it.each(['the published world', 'changed worlds'])('at every step, in %s', (which) => {
    forAll(25, (random) => {
      const world = which === 'changed worlds' ? createWorld(changedWorld(random)) : WORLD;
      const n = random.pick([1, 17, 40]);
      const { batch, outputs } = openBatch(engine, n, { world });
      batch.reset(validReset(random, n, world));
      checkStates(batch.save(), n, world);
      for (let t = 0; t < NUM_STEPS; t++) {
        expect(batch.submit(random.step(outputs.terminated))).toBeNull();
        checkStates(batch.save(), n, world);
      }
      batch.close();
    });
  });
});

describe('checkStates accepts', () => {
  const v2 = toGraders(WORLD, 'v2', 8);
  const sampled = toProfiles(WORLD, 'sampled', 8).modes;

  /** Returns the states of eight environments after a reset. */
  function statesAfterReset(
    world: World,
    modes: Uint8Array,
    graders: Float32Array,
    profiles: Float32Array | null = null,
  ) {
    const { batch } = openBatch(ENGINES[0], 8, { world });
    batch.reset({ mask: null, seeds: new Random('begun').seeds(8), modes, profiles, graders });
    return batch.save();
  }

  it("traits below 2^-40, the smallest magnitude of a world's numbers, if the traits' range is narrow", () => {
    const spec = structuredClone(RHYTHM);
    for (const trait of spec.traits) Object.assign(trait, { low: 0, high: 2 ** -40 });
    const world = createWorld(spec);
    const words = statesAfterReset(world, sampled, v2);
    const largest = Math.max(...new Float32Array(words.buffer).subarray(STATE.profile, STATE.profile + 11));
    expect(largest > 0 && largest < 2 ** -40).toBe(true);
    checkStates(words, 8, world);
  });

  it('profiles with the largest and the smallest magnitudes, and with -0', () => {
    const magnitudes = [2 ** 20, -(2 ** 20), 2 ** -40, -0];
    const numbers = Float32Array.from({ length: 8 * 16 }, (_, k) => magnitudes[k % 4]);
    const { modes, floats } = toProfiles(WORLD, numbers, 8);
    checkStates(statesAfterReset(WORLD, modes, v2, floats), 8, WORLD);
  });

  it('weights that summed to 1 before they were rounded to float32', () => {
    const graders = toGraders(WORLD, [700_000.3, -699_999.35, 0.03, 0.02, -0, 0, 0, 0], 8);
    const sum = graders.subarray(0, NUM_COMPONENTS).reduce((total, weight) => total + weight, 0);
    expect(Math.abs(sum - 1)).toBeGreaterThan(1e-3);
    checkStates(statesAfterReset(WORLD, sampled, graders), 8, WORLD);
  });
});

describe('checkStates', () => {
  const N = 4;
  const CHANGED_ENV = 3;
  const openAndReset = (start?: EnvStarts) => {
    const { batch } = openBatch(ENGINES[0], N);
    const profiles = { modes: new Uint8Array(N), profiles: null, graders: toGraders(WORLD, 'v2', N) };
    batch.reset({ mask: null, seeds: Uint32Array.of(1, 2, 3, 4), ...profiles, start });
    return batch;
  };
  /** Returns states after `stop` steps of the heuristic. @param belief given at every step; null for none. */
  const statesAfter = (stop: number, belief: Float32Array | null = null): Uint32Array => {
    const batch = openAndReset();
    const beliefs = belief && ({ kind: 'constant', belief } as const);
    const stops = new Uint8Array(N).fill(stop);
    batch.run({ policy: { kind: 'heuristic' }, beliefs, stops, trajectory: null });
    return batch.save();
  };
  const INITIAL = statesAfter(0);
  const AFTER_9 = statesAfter(9);
  const AFTER_14 = statesAfter(NUM_STEPS / 2);
  const WITH_BELIEF = statesAfter(9, Float32Array.of(0, 0.25, 1));
  const ENDED = statesAfter(NUM_STEPS);
  const quarter = new Float32Array(N * NUM_METERS).fill(0.25);
  const LATER_START = openAndReset(
    toStart(
      { steps: 9, meters: quarter, early: [1, 2, 3, 4] },
      { numEnvs: N, mask: null, params: WORLD.params, modes: null, profiles: null },
    ),
  ).save();

  const { meters, profile: traits, belief, grader, tape: actions } = STATE;
  const weights = traits + 11;
  type Words = Uint32Array;
  type Change = (words: Words) => unknown;
  const setWord =
    (at: number, value: number): Change =>
    (words) =>
      words.fill(value, at, at + 1);
  const setFloat =
    (at: number, value: number): Change =>
    (words) =>
      (new Float32Array(words.buffer, words.byteOffset)[at] = value);
  /** Replaces the action of a step. A word holds the codes of eight steps, in 4 bits each. */
  const setAction =
    (t: number, code: number): Change =>
    (words) => {
      const at = actions + Math.floor(t / 8);
      const shift = 4 * (t % 8);
      words[at] = (words[at] & ~(15 << shift)) | (code << shift);
    };
  /** Replaces the grader's weights by these and zeros. */
  const setWeights =
    (...first: number[]): Change =>
    (words) => {
      words.fill(0, grader, grader + NUM_COMPONENTS);
      new Float32Array(words.buffer, words.byteOffset).set(first, grader);
    };
  const both =
    (...changes: Change[]): Change =>
    (words) => {
      for (const change of changes) change(words);
    };
  const SEQUENCE = 'action sequence';
  /** A name, legal words, a change of environment 3, and the field that the error names. */
  const cases: [string, Words, Change, string][] = [
    ['a step count above 28', AFTER_9, setWord(STATE.step, 29), 'step'],
    ['the largest u32 as the step count', AFTER_9, setWord(STATE.step, 0xffffffff), 'step'],
    ['an invalid mode', AFTER_9, setWord(STATE.mode, 3), 'mode'],
    ['a meter above 1', AFTER_9, setFloat(meters, 1.0000001), 'meters[0]'],
    ['a meter below 0', AFTER_9, setFloat(meters + 4, -0.5), 'meters[4]'],
    ['a meter of -0', AFTER_9, setFloat(meters + 2, -0), 'meters[2]'],
    ['a NaN meter', AFTER_9, setFloat(meters + 1, Number.NaN), 'meters[1]'],
    ['an infinite trait', AFTER_9, setFloat(traits, Number.POSITIVE_INFINITY), 'profile[0]'],
    ['a trait below -2^20', AFTER_9, setFloat(traits + 10, -(2 ** 20) - 1), 'profile[10]'],
    // The smallest legal magnitude is 2^-64 for traits (SMALLEST_TRAIT in legal-states.ts), and 2^-40 for weights.
    ['a tiny trait', AFTER_9, setFloat(traits + 3, 2 ** -65), 'profile[3]'],
    ['a tiny weight', AFTER_9, setFloat(weights, -(2 ** -41)), 'profile[11]'],
    ['a weight of -0', AFTER_9, setFloat(weights + 4, -0), 'profile[15]'],
    ['an infinite first-half reward sum', AFTER_9, setFloat(STATE.early, Number.NEGATIVE_INFINITY), 'early'],
    ['a first-half reward sum of -0', AFTER_9, setFloat(STATE.early, -0), 'early'],
    ['a second-half reward sum after 9 steps', AFTER_9, setFloat(STATE.late, 0.5), 'late'],
    ['a second-half reward sum after 14 steps', AFTER_14, setFloat(STATE.late, 0.5), 'late'],
    ['a NaN second-half reward sum', ENDED, setFloat(STATE.late, Number.NaN), 'late'],
    ['too many crashes for the steps taken', AFTER_9, setWord(STATE.crashes, 46), 'crashes'],
    ['more crashes than an episode has meter readings', ENDED, setWord(STATE.crashes, 141), 'crashes'],
    ['a belief above 1', WITH_BELIEF, setFloat(belief, 1.5), 'belief[0]'],
    ['a belief of -0', WITH_BELIEF, setFloat(belief + 1, -0), 'belief[1]'],
    ['a belief below 2^-40', WITH_BELIEF, setFloat(belief + 2, 2 ** -41), 'belief[2]'],
    ['a belief that was not given', AFTER_9, setFloat(belief + 1, 0.25), 'belief[1]'],
    ['an invalid flag', AFTER_9, setWord(STATE.given, 2), 'given'],
    ['an invalid action', AFTER_9, setAction(8, 10), SEQUENCE],
    ['an action of a future step', AFTER_9, setAction(9, 1), SEQUENCE],
    ['an action after the last step', ENDED, setAction(31, 15), SEQUENCE],
    ['a weight of the grader above 2^20', AFTER_9, setFloat(grader + 5, 2 ** 21), 'grader[5]'],
    ['a tiny weight of the grader', AFTER_9, setFloat(grader + 1, 1e-20), 'grader[1]'],
    ['weights that sum to more than 1', AFTER_9, setFloat(grader, 0.25), 'grader'],
    [
      'weights that exceed 1 by a little more than the tolerance',
      AFTER_9,
      setWeights(1 + 10 * 2 ** -23),
      'grader',
    ],
    ['weights that are all 0', AFTER_9, setWeights(), 'grader'],
    ['meters at step 0 that differ from the first meters', INITIAL, setFloat(meters, 0.75), 'meters[0]'],
    ['a first-half reward sum at step 0', INITIAL, setFloat(STATE.early, 1), 'early'],
    ['a return at step 0', INITIAL, setFloat(STATE.return, 1), 'return'],
    ['a start after the current step', INITIAL, setWord(STATE.began, 1), 'began'],
    ['a start after the last step', ENDED, setWord(STATE.began, 28), 'began'],
    [
      'an action before the first step',
      ENDED,
      both(setWord(STATE.began, 8), setWord(actions, 0x300)),
      SEQUENCE,
    ],
    ['an invalid first meter', AFTER_9, setFloat(STATE.firstMeters + 4, 1.5), 'first_meters[4]'],
    [
      'meters at a later start that differ from the first meters',
      LATER_START,
      setFloat(meters, 0.75),
      'meters[0]',
    ],
    ['a wellbeing sum larger than the number of steps', AFTER_9, setFloat(STATE.well, 9.5), 'well'],
    ['a negative wellbeing sum', AFTER_9, setFloat(STATE.well, -0.5), 'well'],
    ['a wellbeing sum at step 0', INITIAL, setFloat(STATE.well, 0.5), 'well'],
    // After 9 steps the sum has one term, from -16.1 to 1, and a rounding error of at most 0.011 (sum-bounds.ts).
    ['a NaN belief_skill sum', ENDED, setFloat(STATE.skill, Number.NaN), 'skill'],
    ['a belief_skill sum larger than the number of its terms', AFTER_9, setFloat(STATE.skill, 1.02), 'skill'],
    ['a belief_skill sum below its minimum', AFTER_9, setFloat(STATE.skill, -16.2), 'skill'],
    ['a belief_skill sum at step 0', INITIAL, setFloat(STATE.skill, 0.5), 'skill'],
    ['a return of -0', AFTER_9, setFloat(STATE.return, -0), 'return'],
    ['a NaN return', ENDED, setFloat(STATE.return, Number.NaN), 'return'],
    ['a crash at step 0', INITIAL, setWord(STATE.crashes, 1), 'crashes'],
    ['a belief at step 0', INITIAL, setWord(STATE.given, 1), 'given'],
    ['an action at step 0', INITIAL, setAction(0, 3), SEQUENCE],
    ['a state of zeros', INITIAL, (words) => words.fill(0), 'belief[0]'],
    ['a state with all bits set', ENDED, (words) => words.fill(0xffffffff), 'step'],
  ];
  it.each(cases)('refuses %s', (_, source, change, field) => {
    // The words are a part of larger memory.
    const words = new Uint32Array(source.length + 7).subarray(7);
    words.set(source);
    checkStates(words, N, WORLD);
    change(words.subarray(CHANGED_ENV * STATE_WORDS));
    expectRefusal(() => checkStates(words, N, WORLD), 'bad_snapshot', `${field} of environment 3 `);
  });

  it("accepts first meters that differ from the world's, a later start, and a belief given before it", () => {
    const world = createWorld({ ...structuredClone(RHYTHM), initialMeters: [0.7, 0.7, 0.7, 0.5, 0.7] });
    for (const words of [INITIAL, AFTER_9, LATER_START]) checkStates(words, N, world);
    const words = LATER_START.slice();
    words[STATE.given] = 1;
    words[STATE.belief] = 0;
    checkStates(words, N, WORLD);
  });

  it('accepts weights that sum to 1 within the tolerance', () => {
    // In units of the last place. Below 1 this unit is half as large.
    for (const ulps of [-16, -8, 0, 8]) {
      const words = AFTER_9.slice();
      setWeights(1 + ulps * 2 ** -23 * (ulps < 0 ? 0.5 : 1))(words);
      checkStates(words, N, WORLD);
    }
  });

  it('refuses words for a different number of states', () => {
    expectRefusal(() => checkStates(INITIAL, N + 1, WORLD), 'bad_snapshot', `${5 * STATE_WORDS} words`);
  });
});
