/** What is no state of an episode is refused, by slot and field; and a snapshot that belongs elsewhere, by name. */
import { describe, it } from 'vitest';
import { checkFit } from '../src/snapshot/fit.js';
import type { Snapshot } from '../src/snapshot/format.js';
import { checkStates } from '../src/snapshot/legal.js';
import { toGraders } from '../src/validate/persons.js';
import { type SlotStarts, toStart } from '../src/validate/starts.js';
import { NUM_METERS, NUM_STEPS, STATE, STATE_WORDS } from '../src/world/fields.js';
import { RHYTHM } from '../src/world/spec.js';
import { createWorld } from '../src/world/world.js';
import { ENGINES } from './support/engines.js';
import { Random } from './support/random.js';
import { expectRefusal } from './support/refusals.js';
import { openBatch, WORLD } from './support/seam.js';
import { snapshotOf, wandered } from './support/snapshots.js';

describe('no state of an episode:', () => {
  const N = 4;
  const SLOT = 3;
  const begun = (start?: SlotStarts) => {
    const { batch } = openBatch(ENGINES[0], N);
    const persons = { modes: new Uint8Array(N), profiles: null, graders: toGraders(WORLD, 'v2', N) };
    batch.reset({ mask: null, seeds: Uint32Array.of(1, 2, 3, 4), ...persons, start });
    return batch;
  };
  /** After 0, 9 and 28 steps of the heuristic without beliefs, and after 9 with them. */
  const statesAfter = (stop: number, belief: Float32Array | null = null): Uint32Array => {
    const batch = begun();
    const beliefs = belief && ({ kind: 'constant', belief } as const);
    const stops = new Uint8Array(N).fill(stop);
    batch.run({ policy: { kind: 'heuristic' }, beliefs, stops, trajectory: null });
    return batch.save();
  };
  const AT_FIRST = statesAfter(0);
  const UNDER_WAY = statesAfter(9);
  const BELIEVED = statesAfter(9, Float32Array.of(0, 0.25, 1));
  const ENDED = statesAfter(NUM_STEPS);
  const quarter = new Float32Array(N * NUM_METERS).fill(0.25);
  const LATE = begun(toStart({ steps: 9, meters: quarter, early: [1, 2, 3, 4] }, N, null)).save();

  type Words = Uint32Array;
  const put = (at: number, value: number) => (words: Words) => words.fill(value, at, at + 1);
  const float = (at: number, value: number) => (words: Words) =>
    (new Float32Array(words.buffer, words.byteOffset)[at] = value);
  const nibble = (t: number, code: number) => (words: Words) => {
    const at = STATE.tape + (t >>> 3);
    words[at] = (words[at] & ~(15 << (4 * (t & 7)))) | (code << (4 * (t & 7)));
  };
  const { meters, profile, belief, grader } = STATE;
  const traits = profile;
  const weights = profile + 11;
  const inRange = 'from 0 to 1, got';
  const cases: [string, Words, (words: Words) => unknown, string][] = [
    ['a step after the last', UNDER_WAY, put(STATE.step, 77), 'step of slot 3 from 0 to 28, got 77.'],
    [
      'the largest step',
      UNDER_WAY,
      put(STATE.step, 0xffffffff),
      'step of slot 3 from 0 to 28, got 4294967295.',
    ],
    ['a mode that is none', UNDER_WAY, put(STATE.mode, 3), 'mode of slot 3 from 0 to 2, got 3.'],
    ['a meter above 1', UNDER_WAY, float(meters, 1.0000001), `meters[0] of slot 3 ${inRange} 1.000`],
    ['a meter below 0', UNDER_WAY, float(meters + 4, -0.5), `meters[4] of slot 3 ${inRange} -0.5.`],
    ['a meter of -0', UNDER_WAY, float(meters + 2, -0), `meters[2] of slot 3 ${inRange} -0.`],
    [
      'a meter that is no number',
      UNDER_WAY,
      float(meters + 1, Number.NaN),
      `meters[1] of slot 3 ${inRange} NaN.`,
    ],
    [
      'an infinite trait',
      UNDER_WAY,
      float(traits, Number.POSITIVE_INFINITY),
      'profile[0] of slot 3 from -1048576 to',
    ],
    [
      'a large trait',
      UNDER_WAY,
      float(traits + 10, -(2 ** 20) - 1),
      'profile[10] of slot 3 from -1048576 to',
    ],
    [
      'a tiny trait',
      UNDER_WAY,
      float(traits + 3, 2 ** -65),
      'profile[3] of slot 3 to be 0 or of a magnitude from 2^-64 on',
    ],
    [
      'a tiny weight',
      UNDER_WAY,
      float(weights, -(2 ** -41)),
      'profile[11] of slot 3 to be 0 or of a magnitude from 2^-40 on',
    ],
    ['a weight of -0', UNDER_WAY, float(weights + 4, -0), 'profile[15] of slot 3 from'],
    [
      'a sum without end',
      UNDER_WAY,
      float(STATE.early, Number.NEGATIVE_INFINITY),
      'early of slot 3 from -18446744073709552000',
    ],
    ['a sum of -0', UNDER_WAY, float(STATE.early, -0), 'early of slot 3 from'],
    [
      'a second half too early',
      UNDER_WAY,
      float(STATE.late, 0.5),
      'late of slot 3 to be 0 after 9 steps, got 0.5.',
    ],
    ['a late sum that is no number', ENDED, float(STATE.late, Number.NaN), 'late of slot 3 from'],
    [
      'too many crashes',
      UNDER_WAY,
      put(STATE.crashes, 46),
      'crashes of slot 3 to be at most 45 after 9 steps, got 46.',
    ],
    [
      'more crashes than readings',
      ENDED,
      put(STATE.crashes, 141),
      'crashes of slot 3 from 0 to 140, got 141.',
    ],
    ['a belief above 1', BELIEVED, float(belief, 1.5), `belief[0] of slot 3 ${inRange} 1.5.`],
    ['a belief of -0', BELIEVED, float(belief + 1, -0), `belief[1] of slot 3 ${inRange} -0.`],
    [
      'a belief too small to count',
      BELIEVED,
      float(belief + 2, 2 ** -41),
      'belief[2] of slot 3 to be 0 or of a magnitude from 2^-40 on',
    ],
    [
      'a belief that was not given',
      UNDER_WAY,
      float(belief + 1, 0.25),
      'belief[1] of slot 3 to be 0.5, as none was given, got 0.25.',
    ],
    ['a flag that is neither', UNDER_WAY, put(STATE.given, 2), 'given of slot 3 from 0 to 1, got 2.'],
    [
      'an action that is none',
      UNDER_WAY,
      nibble(8, 10),
      'tape of slot 3 to hold an action code below 10 for step 8, got 10.',
    ],
    [
      'an action ahead',
      UNDER_WAY,
      nibble(9, 1),
      'tape of slot 3 to hold 0 for step 9, as only 9 were taken, got 1.',
    ],
    [
      'an action after the last',
      ENDED,
      nibble(31, 15),
      'tape of slot 3 to hold 0 for step 31, as only 28 were taken, got 15.',
    ],
    [
      'a weight of no size',
      UNDER_WAY,
      float(grader + 5, 2 ** 21),
      'grader[5] of slot 3 from -1048576 to 1048576',
    ],
    ['a tiny weight of the grader', UNDER_WAY, float(grader + 1, 1e-20), 'grader[1] of slot 3 to be 0 or'],
    ['weights that sum to more', UNDER_WAY, float(grader, 0.25), 'grader of slot 3 to sum to 1, got 1.1'],
    [
      'weights that are all 0',
      UNDER_WAY,
      (words) => words.fill(0, grader, grader + 6),
      'to sum to 1, got 0.',
    ],
    [
      'other meters at first',
      AT_FIRST,
      float(meters, 0.75),
      'meters[0] of slot 3 to be 0.699999988079071, as it began, before the first step, got 0.75.',
    ],
    ['a reward at first', AT_FIRST, float(STATE.early, 1), 'early of slot 3 to be 0 after 0 steps, got 1.'],
    ['a return at first', AT_FIRST, float(STATE.return, 1), 'return of slot 3 to be 0 after 0 steps, got 1.'],
    [
      'a beginning to come',
      AT_FIRST,
      put(STATE.began, 1),
      'began of slot 3 to be at most 0, the steps taken',
    ],
    ['a beginning at the end', ENDED, put(STATE.began, 28), 'began of slot 3 from 0 to 27, got 28.'],
    [
      'an action before the beginning',
      ENDED,
      (words) => {
        put(STATE.began, 8)(words);
        put(STATE.tape, 0x00000300)(words);
      },
      'tape of slot 3 to hold 0 for step 2, as it began at step 8, got 3.',
    ],
    [
      'a meter that it cannot have begun with',
      UNDER_WAY,
      float(STATE.firstMeters + 4, 1.5),
      'first_meters[4] of slot 3 from 0 to 1, got 1.5.',
    ],
    [
      'other meters where it began late',
      LATE,
      float(meters, 0.75),
      'meters[0] of slot 3 to be 0.25, as it began, before the first step, got 0.75.',
    ],
    [
      'a belief where it began late',
      LATE,
      put(STATE.given, 1),
      'given of slot 3 to be 0 before the first step, got 1.',
    ],
    ['a return of -0', UNDER_WAY, float(STATE.return, -0), 'return of slot 3 from'],
    ['a return that is no number', ENDED, float(STATE.return, Number.NaN), 'return of slot 3 from'],
    [
      'a crash at first',
      AT_FIRST,
      put(STATE.crashes, 1),
      'crashes of slot 3 to be at most 0 after 0 steps, got 1.',
    ],
    [
      'a belief at first',
      AT_FIRST,
      put(STATE.given, 1),
      'given of slot 3 to be 0 before the first step, got 1.',
    ],
    [
      'an action at first',
      AT_FIRST,
      nibble(0, 3),
      'tape of slot 3 to hold 0 for step 0, as only 0 were taken, got 3.',
    ],
    [
      'no state at all',
      AT_FIRST,
      (words) => words.fill(0),
      'belief[0] of slot 3 to be 0.5, as none was given, got 0.',
    ],
    ['ones throughout', ENDED, (words) => words.fill(0xffffffff), 'step of slot 3 from 0 to 28'],
  ];
  it.each(cases)('%s', (_, source, damage, message) => {
    const words = source.slice();
    checkStates(words, N, WORLD);
    damage(words.subarray(SLOT * STATE_WORDS));
    expectRefusal(() => checkStates(words, N, WORLD), 'bad_snapshot', `Expected `, message);
    // Of a slice of larger memory, too.
    const memory = new Uint32Array(words.length + 7);
    memory.set(words, 7);
    expectRefusal(() => checkStates(memory.subarray(7), N, WORLD), 'bad_snapshot', message);
  });

  it('but a beginning with other meters than the world has, or later in the week, is one', () => {
    const world = createWorld({ ...structuredClone(RHYTHM), initialMeters: [0.7, 0.7, 0.7, 0.5, 0.7] });
    for (const words of [AT_FIRST, UNDER_WAY, LATE]) checkStates(words, N, world);
  });

  it('words that are not numEnvs states', () => {
    expectRefusal(
      () => checkStates(AT_FIRST, N + 1, WORLD),
      'bad_snapshot',
      `Expected ${5 * STATE_WORDS} words`,
    );
  });
});

describe('a snapshot fits', () => {
  const random = new Random('fit');
  const snapshot: Snapshot = {
    ...snapshotOf(random, wandered(random, ENGINES[0], 3).batch.save(), 3),
    autoreset: 'same-step',
    imagination: false,
  };
  const { seedRange } = snapshot;
  const home = { world: WORLD, numEnvs: 3, autoreset: 'same-step', imagination: false, seedRange } as const;

  it('where it was taken', () => checkFit(snapshot, home));

  it('and nowhere else', () => {
    const other = createWorld({ ...structuredClone(RHYTHM), beliefGain: 1 });
    const refuse = (change: object, ...mentions: string[]) =>
      expectRefusal(() => checkFit(snapshot, { ...home, ...change }), 'bad_snapshot', ...mentions);
    refuse(
      { world: other },
      other.digest,
      `got one of ${WORLD.digest}. Create an environment with the world`,
    );
    refuse({ numEnvs: 4 }, 'a snapshot of numEnvs 4, as this environment has it, got 3.', '{ numEnvs: 3 }');
    refuse({ imagination: true }, 'imagination true', 'got false', '{ imagination: false }');
    refuse(
      { autoreset: 'disabled' },
      'autoreset "disabled"',
      'got "same-step"',
      '{ autoreset: "same-step" }',
    );
    refuse({ seedRange: [0, 9] }, 'seedRange [0,9]', `{ seedRange: [${seedRange}] }`);
  });
});
