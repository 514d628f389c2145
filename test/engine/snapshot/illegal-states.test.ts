/** checkStates refuses words that are not legal states, and names the environment and the field. */
import { describe, it } from 'vitest';
import { checkStates } from '../../../src/engine/snapshot/legal-states.js';
import { toGraders } from '../../../src/engine/validate/profiles.js';
import { type EnvStarts, toStart } from '../../../src/engine/validate/starts.js';
import { NUM_COMPONENTS, NUM_METERS, NUM_STEPS, STATE, STATE_WORDS } from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { createWorld } from '../../../src/world/world.js';
import { ENGINES } from '../../support/engines.js';
import { openBatch, WORLD } from '../../support/open-batch.js';
import { expectRefusal } from '../../support/refusals.js';

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

  const { meters, profile, belief, grader, tape: actions } = STATE;
  type Words = Uint32Array;
  const setWord = (at: number, value: number) => (words: Words) => words.fill(value, at, at + 1);
  const setFloat = (at: number, value: number) => (words: Words) =>
    (new Float32Array(words.buffer, words.byteOffset)[at] = value);
  /** Replaces the action of a step. A word holds the codes of eight steps, in 4 bits each. */
  const setAction = (t: number, code: number) => (words: Words) => {
    const at = actions + Math.floor(t / 8);
    const shift = 4 * (t % 8);
    words[at] = (words[at] & ~(15 << shift)) | (code << shift);
  };
  const traits = profile;
  const weights = profile + 11;
  const well = 'well of environment 3 (sum of the meters, weighted by the reward weights)';
  const skill = 'skill of environment 3 (sum of the terms of belief_skill)';
  const inRange = 'to be from 0 to 1, got';
  const cases: [string, Words, (words: Words) => unknown, string][] = [
    [
      'a step count above 28',
      AFTER_9,
      setWord(STATE.step, 77),
      'step of environment 3 to be from 0 to 28, got 77.',
    ],
    [
      'the largest u32 as the step count',
      AFTER_9,
      setWord(STATE.step, 0xffffffff),
      'step of environment 3 to be from 0 to 28, got 4294967295.',
    ],
    ['an invalid mode', AFTER_9, setWord(STATE.mode, 3), 'mode of environment 3 to be from 0 to 2, got 3.'],
    ['a meter above 1', AFTER_9, setFloat(meters, 1.0000001), `meters[0] of environment 3 ${inRange} 1.000`],
    ['a meter below 0', AFTER_9, setFloat(meters + 4, -0.5), `meters[4] of environment 3 ${inRange} -0.5.`],
    ['a meter of -0', AFTER_9, setFloat(meters + 2, -0), `meters[2] of environment 3 ${inRange} -0.`],
    ['a NaN meter', AFTER_9, setFloat(meters + 1, Number.NaN), `meters[1] of environment 3 ${inRange} NaN.`],
    [
      'an infinite trait',
      AFTER_9,
      setFloat(traits, Number.POSITIVE_INFINITY),
      'profile[0] of environment 3 to be from -1048576 to',
    ],
    [
      'a trait below -2^20',
      AFTER_9,
      setFloat(traits + 10, -(2 ** 20) - 1),
      'profile[10] of environment 3 to be from -1048576 to',
    ],
    // The smallest legal magnitude is 2^-64 for traits (SMALLEST_TRAIT in legal-states.ts), and 2^-40 for weights.
    [
      'a tiny trait',
      AFTER_9,
      setFloat(traits + 3, 2 ** -65),
      'profile[3] of environment 3 to be 0 or to have a magnitude of at least 2^-64',
    ],
    [
      'a tiny weight',
      AFTER_9,
      setFloat(weights, -(2 ** -41)),
      'profile[11] of environment 3 to be 0 or to have a magnitude of at least 2^-40',
    ],
    ['a weight of -0', AFTER_9, setFloat(weights + 4, -0), 'profile[15] of environment 3 to be from'],
    [
      'an infinite first-half reward sum',
      AFTER_9,
      setFloat(STATE.early, Number.NEGATIVE_INFINITY),
      'early of environment 3 to be from -18446744073709552000',
    ],
    [
      'a first-half reward sum of -0',
      AFTER_9,
      setFloat(STATE.early, -0),
      'early of environment 3 to be from',
    ],
    [
      'a nonzero second-half reward sum during the first half',
      AFTER_9,
      setFloat(STATE.late, 0.5),
      'late of environment 3 to be 0 after 9 steps, got 0.5.',
    ],
    [
      'a nonzero second-half reward sum after 14 steps',
      AFTER_14,
      setFloat(STATE.late, 0.5),
      'late of environment 3 to be 0 after 14 steps',
    ],
    [
      'a NaN second-half reward sum',
      ENDED,
      setFloat(STATE.late, Number.NaN),
      'late of environment 3 to be from',
    ],
    [
      'too many crashes',
      AFTER_9,
      setWord(STATE.crashes, 46),
      'crashes of environment 3 to be at most 45 after 9 steps, got 46.',
    ],
    [
      'more crashes than the 140 meter readings of an episode (28 steps, 5 meters)',
      ENDED,
      setWord(STATE.crashes, 141),
      'crashes of environment 3 to be from 0 to 140, got 141.',
    ],
    ['a belief above 1', WITH_BELIEF, setFloat(belief, 1.5), `belief[0] of environment 3 ${inRange} 1.5.`],
    ['a belief of -0', WITH_BELIEF, setFloat(belief + 1, -0), `belief[1] of environment 3 ${inRange} -0.`],
    [
      'a belief below 2^-40',
      WITH_BELIEF,
      setFloat(belief + 2, 2 ** -41),
      'belief[2] of environment 3 to be 0 or to have a magnitude of at least 2^-40',
    ],
    [
      'a belief that was not given',
      AFTER_9,
      setFloat(belief + 1, 0.25),
      'belief[1] of environment 3 to be 0.5, because no belief was given, got 0.25.',
    ],
    ['an invalid flag', AFTER_9, setWord(STATE.given, 2), 'given of environment 3 to be from 0 to 1, got 2.'],
    [
      'an invalid action',
      AFTER_9,
      setAction(8, 10),
      'action sequence of environment 3 to hold an action code below 10 for step 8, got 10.',
    ],
    [
      'an action of a future step',
      AFTER_9,
      setAction(9, 1),
      'action sequence of environment 3 to hold 0 for step 9, because only 9 steps were taken, got 1.',
    ],
    [
      'an action after the last step',
      ENDED,
      setAction(31, 15),
      'action sequence of environment 3 to hold 0 for step 31, because only 28 steps were taken, got 15.',
    ],
    [
      'a weight of the grader above 2^20',
      AFTER_9,
      setFloat(grader + 5, 2 ** 21),
      'grader[5] of environment 3 to be from -1048576 to 1048576',
    ],
    [
      'a tiny weight of the grader',
      AFTER_9,
      setFloat(grader + 1, 1e-20),
      'grader[1] of environment 3 to be 0 or',
    ],
    [
      'weights that sum to more than 1',
      AFTER_9,
      setFloat(grader, 0.25),
      'grader of environment 3 to sum to 1, got 1.1',
    ],
    [
      'weights that sum to a little more than the tolerance allows',
      AFTER_9,
      (words) => {
        words.fill(0, grader, grader + NUM_COMPONENTS);
        setFloat(grader, 1 + 10 * 2 ** -23)(words);
      },
      'grader of environment 3 to sum to 1, got 1.00000119',
    ],
    [
      'weights that are all 0',
      AFTER_9,
      (words) => words.fill(0, grader, grader + NUM_COMPONENTS),
      'to sum to 1, got 0.',
    ],
    [
      'meters at step 0 that differ from the first meters',
      INITIAL,
      setFloat(meters, 0.75),
      'meters[0] of environment 3 to equal first_meters[0] (0.699999988079071) before the first step, got 0.75.',
    ],
    [
      'a nonzero first-half reward sum at step 0',
      INITIAL,
      setFloat(STATE.early, 1),
      'early of environment 3 to be 0 after 0 steps, got 1.',
    ],
    [
      'a nonzero return at step 0',
      INITIAL,
      setFloat(STATE.return, 1),
      'return of environment 3 to be 0 after 0 steps, got 1.',
    ],
    [
      'a start after the current step',
      INITIAL,
      setWord(STATE.began, 1),
      'began of environment 3 to be at most 0, the number of steps taken',
    ],
    [
      'a start after the last step',
      ENDED,
      setWord(STATE.began, 28),
      'began of environment 3 to be from 0 to 27, got 28.',
    ],
    [
      'an action before the first step',
      ENDED,
      (words) => {
        setWord(STATE.began, 8)(words);
        setWord(actions, 0x00000300)(words);
      },
      'action sequence of environment 3 to hold 0 for step 2, because the episode began at step 8, got 3.',
    ],
    [
      'an invalid first meter',
      AFTER_9,
      setFloat(STATE.firstMeters + 4, 1.5),
      'first_meters[4] of environment 3 to be from 0 to 1, got 1.5.',
    ],
    [
      'meters at a later start that differ from the first meters',
      LATER_START,
      setFloat(meters, 0.75),
      'meters[0] of environment 3 to equal first_meters[0] (0.25) before the first step, got 0.75.',
    ],
    [
      'a wellbeing sum larger than the number of steps',
      AFTER_9,
      setFloat(STATE.well, 9.5),
      `${well} to be from 0 to 9.`,
    ],
    ['a negative wellbeing sum', AFTER_9, setFloat(STATE.well, -0.5), `${well} to be from 0 to 9.`],
    [
      'a nonzero wellbeing sum at step 0',
      INITIAL,
      setFloat(STATE.well, 0.5),
      `${well} to be from 0 to 0 after 0 steps, got 0.5.`,
    ],
    ['a NaN belief_skill sum', ENDED, setFloat(STATE.skill, Number.NaN), 'skill of environment 3 to be from'],
    // After 9 steps the sum has one term, from -16.1 to 1, and a rounding error of at most 0.011 (sum-bounds.ts).
    [
      'a belief_skill sum larger than the number of its terms',
      AFTER_9,
      setFloat(STATE.skill, 1.02),
      `${skill} to be from -16.`,
    ],
    [
      'a belief_skill sum below its minimum',
      AFTER_9,
      setFloat(STATE.skill, -16.2),
      `${skill} to be from -16.`,
    ],
    [
      'a nonzero belief_skill sum at step 0',
      INITIAL,
      setFloat(STATE.skill, 0.5),
      `${skill} to be from 0 to 0 after 0 steps, got 0.5.`,
    ],
    ['a return of -0', AFTER_9, setFloat(STATE.return, -0), 'return of environment 3 to be from'],
    ['a NaN return', ENDED, setFloat(STATE.return, Number.NaN), 'return of environment 3 to be from'],
    [
      'a crash at step 0',
      INITIAL,
      setWord(STATE.crashes, 1),
      'crashes of environment 3 to be at most 0 after 0 steps, got 1.',
    ],
    [
      'a belief at step 0',
      INITIAL,
      setWord(STATE.given, 1),
      'given of environment 3 to be 0 before the first step, got 1.',
    ],
    [
      'an action at step 0',
      INITIAL,
      setAction(0, 3),
      'action sequence of environment 3 to hold 0 for step 0, because only 0 steps were taken, got 3.',
    ],
    [
      'a state of zeros',
      INITIAL,
      (words) => words.fill(0),
      'belief[0] of environment 3 to be 0.5, because no belief was given, got 0.',
    ],
    [
      'a state with all bits set',
      ENDED,
      (words) => words.fill(0xffffffff),
      'step of environment 3 to be from 0 to 28',
    ],
  ];
  it.each(cases)('refuses %s', (_, source, damage, message) => {
    const words = source.slice();
    checkStates(words, N, WORLD);
    damage(words.subarray(CHANGED_ENV * STATE_WORDS));
    expectRefusal(() => checkStates(words, N, WORLD), 'bad_snapshot', 'Expected ', message);
    // The words may be a part of larger memory.
    const memory = new Uint32Array(words.length + 7);
    memory.set(words, 7);
    expectRefusal(() => checkStates(memory.subarray(7), N, WORLD), 'bad_snapshot', message);
  });

  it("accepts first meters that differ from the world's, and a later start", () => {
    const world = createWorld({ ...structuredClone(RHYTHM), initialMeters: [0.7, 0.7, 0.7, 0.5, 0.7] });
    for (const words of [INITIAL, AFTER_9, LATER_START]) checkStates(words, N, world);
  });

  it('accepts a belief given before a later start', () => {
    const words = LATER_START.slice();
    words[STATE.given] = 1;
    words[STATE.belief] = 0;
    checkStates(words, N, WORLD);
  });

  it('accepts weights that sum to 1 within the tolerance', () => {
    // In units of the last place. Below 1 this unit is half as large.
    for (const ulps of [-16, -8, 0, 8]) {
      const words = AFTER_9.slice();
      words.fill(0, grader, grader + NUM_COMPONENTS);
      setFloat(grader, 1 + ulps * 2 ** -23 * (ulps < 0 ? 0.5 : 1))(words);
      checkStates(words, N, WORLD);
    }
  });

  it('refuses words for a different number of states', () => {
    expectRefusal(
      () => checkStates(INITIAL, N + 1, WORLD),
      'bad_snapshot',
      `Expected ${5 * STATE_WORDS} words`,
    );
  });
});
