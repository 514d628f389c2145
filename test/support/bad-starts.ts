/** Invalid `start` options of a reset, each with its error code and texts that the message must contain. */
import type { StartStates } from '../../src/engine/validate/starts.js';
import { any, type Case, N, put } from './bad-calls.js';

const { NaN: nan, POSITIVE_INFINITY: infinity } = Number;
const meters = new Float32Array(N * 5).fill(0.5);
const validStart: StartStates = { steps: 9, meters };
/** Returns a call of reset with changes to the valid `start`. */
const start =
  (changes: object): Case[1] =>
  (env) =>
    env.reset({ seed: 3, start: { ...validStart, ...changes } });
/** Returns a sum or count of 0 for each environment, and `value` for environment 7. */
const sums = (value: unknown) => any(put(new Array(N).fill(0), 7, value));
const secondHalf = { steps: 15 };
export const START: Case[] = [
  ['a number as start', (env) => env.reset({ start: any(9) }), 'wrong_type', 'start', 'got 9'],
  ['a misspelt key of start', start({ earlyer: [] }), 'unknown_option', 'start', 'Did you mean "early"?'],
  ['no steps', start({ steps: undefined }), 'wrong_type', 'start.steps', 'undefined'],
  ['a start at step 28', start({ steps: 28 }), 'out_of_range', 'start.steps', '0 to 27', 'got 28'],
  ['half a step', start({ steps: put(new Array(N).fill(3), 7, 0.5) }), 'out_of_range', 'start.steps[7]'],
  [
    'step -1 in an Int8Array',
    start({ steps: new Int8Array(N).fill(-1, 4) }),
    'out_of_range',
    'steps[4]',
    'got -1',
  ],
  [
    'text as a step',
    start({ steps: put(any(new Array(N).fill(3)), 7, any('3')) }),
    'wrong_type',
    '[7]',
    '"3"',
  ],
  ['too few steps', start({ steps: [1, 2] }), 'wrong_length', '20 entries in start.steps (numEnvs)', 'got 2'],
  ['no meters', start({ meters: undefined }), 'wrong_type', 'start.meters', 'numEnvs x 5', 'undefined'],
  ['too few meters', start({ meters: [0.5] }), 'wrong_length', '100 entries in start.meters', 'got 1'],
  [
    'a meter above 1',
    start({ meters: put(meters.slice(), 13, 1.5) }),
    'out_of_range',
    '0 to 1 at start.meters[13] (serenity of environment 2), got 1.5',
  ],
  [
    'a negative meter',
    start({ meters: put(meters.slice(), 99, -0.5) }),
    'out_of_range',
    '[99]',
    'environment 19',
  ],
  [
    'a NaN as a meter',
    start({ meters: put(meters.slice(), 0, nan) }),
    'out_of_range',
    'meters[0]',
    'got NaN',
  ],
  ['a meter below 2^-80', start({ meters: put(meters.slice(), 0, 8e-25) }), 'out_of_range', 'at least 2^-80'],
  [
    'an array of holes as meters',
    start({ meters: any(new Array(N * 5)) }),
    'wrong_type',
    'meters[0]',
    'undefined',
  ],
  ['BigInt meters', start({ meters: any(new BigInt64Array(N * 5)) }), 'wrong_type', 'meters[0]', 'got 0'],
  ['meters as rows', start({ meters: any(new Array(N * 5).fill([1])) }), 'wrong_type', 'an array of 1'],
  ['a number as sums', start({ early: any(1) }), 'wrong_type', 'start.early', 'got 1'],
  ['too few sums', start({ early: [1] }), 'wrong_length', '20 entries in start.early', 'got 1'],
  ['an infinite sum', start({ early: sums(infinity) }), 'out_of_range', 'start.early[7]', 'Infinity'],
  [
    'an infinite sum of the first environment',
    start({ early: any(put(new Array(N).fill(0), 0, infinity)) }),
    'out_of_range',
    'start.early[0]',
  ],
  ['a sum of 1e30', start({ ...secondHalf, late: sums(1e30) }), 'out_of_range', 'start.late[7]', '2^64'],
  [
    'a sum of a magnitude below 2^-80',
    start({ returns: sums(-8e-25) }),
    'out_of_range',
    'start.returns[7]',
    'at least 2^-80',
  ],
  ['text as a sum', start({ returns: sums('1') }), 'wrong_type', 'start.returns[7]', '"1"'],
  [
    'a second-half sum before the second half',
    start({ steps: 14, late: sums(1) }),
    'out_of_range',
    '0, because the episode begins at step 14',
    'got 1',
  ],
  [
    'a first-half sum at step 0',
    start({ steps: 0, early: sums(1) }),
    'out_of_range',
    'begins at step 0, before anything was added to it, at start.early[7]',
    'got 1',
  ],
  [
    'a second-half sum before the second half, with a mask',
    (env) =>
      env.reset({ start: { steps: 14, meters, late: sums(1) }, mask: put(new Array(N).fill(0), 7, 1) }),
    'out_of_range',
    'start.late[7]',
    'got 1',
  ],
  ['a return at step 0', start({ steps: 0, returns: sums(1) }), 'out_of_range', 'start.returns[7]'],
  [
    'more crashes than meter readings so far',
    start({ crashes: sums(46) }),
    'out_of_range',
    'crashes[7]',
    '0 to 45',
    'got 46',
  ],
  [
    'a sum `well` above the number of steps',
    start({ well: sums(9.5) }),
    'out_of_range',
    'start.well[7]',
    'from 0 to 9',
    'begun. Pass the expected number.',
  ],
  ['a negative sum `well`', start({ well: sums(-1) }), 'out_of_range', 'start.well[7]', 'got -1'],
  [
    'a sum `well` at step 0',
    start({ steps: 0, well: sums(0.5) }),
    'out_of_range',
    'start.well[7]',
    'from 0 to 0',
  ],
  ['a NaN as a sum `well`', start({ well: sums(nan) }), 'out_of_range', 'start.well[7]', 'got NaN'],
  [
    'a sum `skill` above the sum of the largest terms',
    start({ skill: sums(1.02) }),
    'out_of_range',
    'start.skill[7]',
    '9 steps',
    'begun. Pass the expected number.',
  ],
  [
    'a sum `skill` below the sum of the smallest terms',
    start({ skill: sums(-16.2) }),
    'out_of_range',
    'start.skill[7]',
    'got -16.2',
  ],
  [
    'a sum `skill` before its first term',
    start({ steps: 8, skill: sums(0.5) }),
    'out_of_range',
    'start.skill[7]',
  ],
  ['too few beliefs', start({ beliefs: [0.5] }), 'wrong_length', '60 numbers in start.beliefs', 'got 1'],
  ['a number as beliefs', start({ beliefs: any(1) }), 'wrong_type', 'Expected start.beliefs', 'got 1'],
  [
    'text in beliefs',
    start({ beliefs: put(any(new Array(3 * N).fill(0.5)), 4, any('1')) }),
    'bad_belief',
    'start.beliefs[4]',
    'No episode has begun',
  ],
  [
    'a partly NaN belief',
    start({ beliefs: put(new Array(3 * N).fill(0.5), 4, nan) }),
    'bad_belief',
    'three NaN (no belief) in start.beliefs row 1',
    'No episode has begun',
  ],
  [
    'a belief at step 0',
    start({ steps: 0, beliefs: new Array(3 * N).fill(0.5) }),
    'bad_belief',
    'start.beliefs row 0',
    'first action',
  ],
  ['a negative crash count', start({ crashes: sums(-1) }), 'out_of_range', 'start.crashes[7]', 'got -1'],
  ['too few crash counts', start({ crashes: [] }), 'wrong_length', '20 entries in start.crashes', 'got 0'],
];
