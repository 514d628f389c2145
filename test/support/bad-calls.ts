/** Invalid calls of a VecEnv: each with the code of its error and, if one entry is invalid, its place in the message. */

import type { VecEnv } from '../../src/engine/node.js';
import type { StartStates } from '../../src/engine/validate/starts.js';
import type { ErrorCode } from '../../src/shared/errors.js';
import { NUM_STEPS } from '../../src/world/fields.js';

/** The number of environments. */
export const N = 20;
/** A call, the code of its error, and texts that the message must contain: a place, or the remedy of a likely mistake. */
export type Case = [name: string, call: (env: VecEnv) => unknown, code: ErrorCode, ...mentions: string[]];
// biome-ignore lint/suspicious/noExplicitAny: cases pass values of wrong types.
export const any = (value: unknown): any => value;

interface Indexed<T> {
  slice(): T;
  [at: number]: unknown;
}

/** Returns a copy with one entry replaced. */
export function put<T extends Indexed<T>>(array: T, at: number, value: unknown): T {
  const copy = array.slice();
  copy[at] = value;
  return copy;
}

/** An action for each environment: code 0. */
export const legalActions = new Uint8Array(N);
const codes = (at: number, value: number) => put(legalActions, at, value);
const seeds = (at: number, value: unknown) =>
  any(Array.from({ length: N }, (_, i) => (i === at ? value : i)));
/** Returns beliefs of 0.5, with another row in environment `at`. */
export const beliefs = (at: number, ...row: number[]) => {
  const rows = new Float32Array(N * 3).fill(0.5);
  rows.set(row, at * 3);
  return rows;
};
const { NaN: nan, POSITIVE_INFINITY: infinity } = Number;
const sequence = (at: number, value: number) => put(new Uint8Array(N * NUM_STEPS), at, value);

const plain = Array.from(legalActions);
/** Returns a call of step. */
const step =
  (actions: unknown, options?: unknown): Case[1] =>
  (env) =>
    options === undefined ? env.step(any(actions)) : env.step(any(actions), any(options));
const believe = (rows: unknown) => step(legalActions, { beliefs: rows });

/** Invalid calls of `step`. */
export const STEP: Case[] = [
  ['too few actions', step(new Uint8Array(N - 1)), 'wrong_length', 'got 19'],
  ['too many actions', step(new Uint8Array(N + 1)), 'wrong_length', 'got 21'],
  ['no actions', (env) => env.step(any(undefined)), 'wrong_type', 'actions'],
  ['text as actions', step('x'.repeat(N)), 'wrong_type', 'actions'],
  ['an object as actions', step({ length: N }), 'wrong_type', 'actions'],
  ['a DataView as actions', step(new DataView(new ArrayBuffer(N))), 'wrong_type', 'actions'],
  ['code 10', step(codes(7, 10)), 'illegal_action', 'actions[7]', 'got 10'],
  ['code 255 in the last environment', step(codes(19, 255)), 'illegal_action', 'actions[19]', 'got 255'],
  [
    'two illegal codes, of which the error names the first',
    step(put(codes(3, 11), 2, 12)),
    'illegal_action',
    'actions[2]',
  ],
  ['code -1', step(put(Int32Array.from(plain), 4, -1)), 'illegal_action', 'actions[4]', 'got -1'],
  ['code 256, which is 0 as u8', step(put(Int32Array.from(plain), 4, 256)), 'illegal_action', 'actions[4]'],
  ['code 1.5', step(put(plain, 0, 1.5)), 'illegal_action', 'actions[0]', 'got 1.5'],
  ['code NaN', step(put(plain, 0, nan)), 'illegal_action', 'actions[0]'],
  ['a name as a code', step(put(plain, 1, 'sleep')), 'illegal_action', 'actions[1]'],
  ['an array of holes', step(new Array(N)), 'illegal_action', 'actions[0]'],
  ['BigInt actions', step(new BigInt64Array(N)), 'illegal_action', 'actions[0]'],
  ['a misspelt option', step(legalActions, { belief: 1 }), 'unknown_option', 'Did you mean "beliefs"?'],
  ['a number as options', step(legalActions, 5), 'wrong_type'],
  ['null as options', step(legalActions, null), 'wrong_type'],
  ['one belief for all, with one NaN', believe([0.5, nan, 0.5]), 'bad_belief', 'row 0'],
  ['beliefs as rows', believe(Array(N).fill([0.5, 0.5, 0.5])), 'wrong_type', 'beliefs.flatMap('],
  ['null among beliefs', believe(put(Array.from(beliefs(0)), 7, null)), 'bad_belief', 'beliefs[7]'],
  ['null as the first belief', believe(put(Array.from(beliefs(0)), 0, null)), 'bad_belief', 'beliefs[0]'],
  ['a belief beyond float32', believe(put(Array.from(beliefs(0)), 58, 1e39)), 'bad_belief', 'row 19'],
  ['null beliefs', believe(null), 'wrong_type', 'beliefs'],
  ['text as beliefs', believe('5'.repeat(N * 3)), 'wrong_type', 'beliefs'],
  ['too few beliefs', believe(new Float32Array(6)), 'wrong_length', 'got 6'],
  ['a row of beliefs with one NaN', believe(beliefs(5, 0.5, nan, 0.25)), 'bad_belief', 'row 5'],
  ['an infinite belief', believe(beliefs(0, infinity, 0, 0)), 'bad_belief', 'row 0'],
  ['a row with both infinities', believe(beliefs(19, infinity, -infinity, 0)), 'bad_belief', 'row 19'],
  ['an infinity among NaN', believe(beliefs(2, nan, -infinity, nan)), 'bad_belief', 'row 2'],
];

/** Returns a call of reset. */
const reset =
  (options: unknown): Case[1] =>
  (env) =>
    env.reset(any(options));
const seed = (value: unknown) => reset({ seed: value });

/** Invalid calls of `reset`. */
export const RESET: Case[] = [
  ['seed -1', seed(-1), 'bad_seed', 'got -1'],
  ['seed 2^32', seed(2 ** 32), 'bad_seed'],
  ['seed 0.5', seed(0.5), 'bad_seed'],
  ['seed NaN', seed(nan), 'bad_seed'],
  ['a last seed beyond u32', seed(2 ** 32 - 5), 'bad_seed', 'seed + 19'],
  ['text as seed', seed('7'), 'wrong_type', 'seed'],
  ['null as seed', seed(null), 'wrong_type', 'seed'],
  ['a BigInt as seed', seed(7n), 'wrong_type', 'seed'],
  ['too few seeds', seed([1, 2]), 'wrong_length', 'got 2'],
  ['an invalid seed in an array', seed(seeds(9, -1)), 'bad_seed', 'seed[9]'],
  ['a NaN in an array of seeds', seed(seeds(9, nan)), 'bad_seed', 'seed[9]'],
  ['text in an array of seeds', seed(seeds(9, '9')), 'bad_seed', 'seed[9]'],
  ['an Int32Array of negative seeds', seed(new Int32Array(N).fill(-1)), 'bad_seed', 'seed[0]'],
  ['BigInt seeds', seed(new BigUint64Array(N)), 'bad_seed', 'seed[0]'],
  ['the option reset_mask', reset({ reset_mask: legalActions }), 'unknown_option', 'Did you mean "mask"?'],
  ['a number as options', reset(7), 'wrong_type'],
  ['an unknown profile', reset({ profiles: 'workaholic_stoics' }), 'unknown_name', 'workaholic_stoic'],
  ['an unknown profile in an array', reset({ profiles: seeds(3, 'x').map(() => 'nobody') }), 'unknown_name'],
  ['a grader that sums to 2', reset({ graders: [1, 1, 0, 0, 0, 0, 0, 0] }), 'bad_grader', 'sum to 1'],
  ['an unknown grader', reset({ graders: 'V1' }), 'unknown_name', 'Did you mean "v1"?'],
  [
    'a profile with a NaN',
    reset({ profiles: new Float32Array(N * 16).fill(nan, 35, 36) }),
    'bad_profile',
    'profiles[2][3]',
  ],
  [
    'a profile number with a magnitude below 2^-40',
    reset({ profiles: new Float32Array(N * 16).fill(-(2 ** -41), 319) }),
    'bad_profile',
    'profiles[19][15]',
  ],
];

/** Returns a call of run, by default with the random policy. */
const run =
  (options: unknown, choice: unknown = 'random'): Case[1] =>
  (env) =>
    env.run(any(choice), any(options));

/** Invalid calls of `run`. */
export const RUN: Case[] = [
  ['a misspelt policy', run({}, 'heuristc'), 'unknown_name', 'Did you mean "heuristic"?'],
  ['the planner', run({}, 'planner'), 'unknown_name', 'Call evaluate for any other policy'],
  ['no policy', (env) => env.run(any(undefined)), 'wrong_type'],
  [
    'a short action sequence',
    run({}, new Uint8Array(N)),
    'wrong_length',
    '560 actions (numEnvs x 28)',
    'got 20',
  ],
  [
    'an illegal action in a sequence',
    run({}, sequence(104, 10)),
    'illegal_action',
    'environment 3, step 20',
    'got 10',
  ],
  [
    'an illegal action in a plain array',
    run({}, Array.from(sequence(90, 10))),
    'illegal_action',
    'actions[90]',
  ],
  ['a misspelt option', run({ trajectories: true }), 'unknown_option', '"trajectory"'],
  ['the option trajectory: 1', run({ trajectory: 1 }), 'wrong_type', 'trajectory'],
  [
    'a misspelt field of the trajectory',
    run({ trajectory: ['actions', 'reward'] }),
    'unknown_name',
    'trajectory[1]',
  ],
  ['the layout "columns"', run({ trajectory: true, layout: 'columns' }), 'unknown_name', 'column-major'],
  ['policy seed -1', run({ policySeeds: -1 }), 'bad_seed', 'policySeeds'],
  ['too few policy seeds', run({ policySeeds: [1] }), 'wrong_length', 'policySeeds'],
  ['a stop of 29', run({ stops: put(new Uint8Array(N), 6, 29) }), 'out_of_range', 'stops[6]'],
  ['a stop of -1', run({ stops: put(new Int8Array(N), 6, -1) }), 'out_of_range', 'stops[6]'],
  ['text as stops', run({ stops: '28' }), 'wrong_type', 'stops'],
  ['too few stops', run({ stops: [28] }), 'wrong_length', 'stops'],
  ['a NaN constant belief', run({ beliefs: [0.5, nan, 0.5] }), 'bad_belief'],
  ['null in a constant belief', run({ beliefs: [0.5, null, 0.5] }), 'bad_belief'],
  ['a belief beyond float32', run({ beliefs: [1e39, 0, 0] }), 'bad_belief'],
  ['BigInt beliefs', run({ beliefs: new BigInt64Array(3) }), 'bad_belief'],
  ['null beliefs', run({ beliefs: null }), 'wrong_type', 'beliefs'],
  [
    'beliefs as rows',
    run({ beliefs: Array(N * NUM_STEPS).fill([0.5, 0.5, 0.5]) }),
    'wrong_type',
    'beliefs.flatMap(',
  ],
  ['text as beliefs', run({ beliefs: '555' }), 'wrong_type', 'beliefs'],
  ['an object with a length as beliefs', run({ beliefs: { length: 3 } }), 'wrong_type', 'beliefs'],
  ['too few beliefs', run({ beliefs: new Float32Array(N * 3) }), 'wrong_length', '1680', 'got 60'],
  [
    'a row with one NaN',
    run({ beliefs: put(new Float32Array(N * NUM_STEPS * 3), 304, nan) }),
    'bad_belief',
    'row 101',
  ],
];

const meters = new Float32Array(N * 5).fill(0.5);
const validStart: StartStates = { steps: 9, meters };
/** Returns a call of reset with changes to the valid `start`. */
const start = (changes: object) => reset({ seed: 3, start: { ...validStart, ...changes } });
/** Returns a sum or count of 0 for each environment, and `value` for environment 7. */
const sums = (value: unknown) => put(new Array(N).fill(0), 7, value);
const threes = new Array(N).fill(3);
const halves = new Array(3 * N).fill(0.5);
/** A start with a sum that only environment 7, which the mask selects, has. */
const masked = reset({ start: { steps: 14, meters, late: sums(1) }, mask: sums(1) });
/** A start of named profiles, some of whose traits are negative, but no weights. */
const named = reset({ profiles: 'discrete', start: { ...validStart, well: sums(-1) } });

/** Invalid `start` options of a reset. */
export const START: Case[] = [
  ['a number as start', reset({ start: 9 }), 'wrong_type', 'start'],
  ['a misspelt key of start', start({ earlyer: [] }), 'unknown_option', 'Did you mean "early"?'],
  ['no steps', start({ steps: undefined }), 'wrong_type', 'start.steps'],
  ['a start at step 28', start({ steps: 28 }), 'out_of_range', 'start.steps'],
  ['half a step', start({ steps: put(threes, 7, 0.5) }), 'out_of_range', 'start.steps[7]'],
  [
    'step -1 in an Int8Array',
    start({ steps: new Int8Array(N).fill(-1, 4) }),
    'out_of_range',
    'start.steps[4]',
  ],
  ['text as a step', start({ steps: put(threes, 7, '3') }), 'wrong_type', 'start.steps[7]'],
  ['too few steps', start({ steps: [1, 2] }), 'wrong_length', 'start.steps', 'got 2'],
  ['no meters', start({ meters: undefined }), 'wrong_type', 'start.meters'],
  ['too few meters', start({ meters: [0.5] }), 'wrong_length', '100 entries in start.meters', 'got 1'],
  [
    'a meter above 1',
    start({ meters: put(meters, 13, 1.5) }),
    'out_of_range',
    'start.meters[13] (serenity of environment 2)',
  ],
  ['a negative meter', start({ meters: put(meters, 99, -0.5) }), 'out_of_range', 'start.meters[99]'],
  ['a NaN as a meter', start({ meters: put(meters, 0, nan) }), 'out_of_range', 'start.meters[0]'],
  ['a meter below 2^-80', start({ meters: put(meters, 0, 8e-25) }), 'out_of_range', 'at least 2^-80'],
  ['an array of holes as meters', start({ meters: new Array(N * 5) }), 'wrong_type', 'start.meters[0]'],
  ['BigInt meters', start({ meters: new BigInt64Array(N * 5) }), 'wrong_type', 'start.meters[0]'],
  ['a number as sums', start({ late: 1 }), 'wrong_type', 'start.late', 'new Float32Array(20).fill(1)'],
  ['too few sums', start({ early: [1] }), 'wrong_length', 'start.early', 'got 1'],
  ['an infinite sum', start({ early: put(sums(0), 0, infinity) }), 'out_of_range', 'start.early[0]'],
  ['a sum of 1e30', start({ steps: 15, late: sums(1e30) }), 'out_of_range', 'start.late[7]'],
  ['a sum of a magnitude below 2^-80', start({ returns: sums(-8e-25) }), 'out_of_range', 'start.returns[7]'],
  ['text as a sum', start({ returns: sums('1') }), 'wrong_type', 'start.returns[7]'],
  [
    'a second-half sum before the second half',
    start({ steps: 14, late: sums(1) }),
    'out_of_range',
    'start.late[7]',
  ],
  ['a second-half sum before the second half, with a mask', masked, 'out_of_range', 'start.late[7]'],
  ['a first-half sum at step 0', start({ steps: 0, early: sums(1) }), 'out_of_range', 'start.early[7]'],
  ['a return at step 0', start({ steps: 0, returns: sums(1) }), 'out_of_range', 'start.returns[7]'],
  [
    'more crashes than meter readings so far',
    start({ crashes: sums(46) }),
    'out_of_range',
    'crashes[7]',
    '0 to 45',
  ],
  ['a negative crash count', start({ crashes: sums(-1) }), 'out_of_range', 'start.crashes[7]'],
  ['too few crash counts', start({ crashes: [] }), 'wrong_length', 'start.crashes', 'got 0'],
  [
    'a sum `well` above the number of steps',
    start({ well: sums(9.5) }),
    'out_of_range',
    'start.well[7]',
    'from 0 to 9',
  ],
  ['a negative sum `well`', start({ well: sums(-1) }), 'out_of_range', 'start.well[7]'],
  ['a negative sum `well` of a named profile', named, 'out_of_range', 'start.well[7]'],
  [
    'a sum `well` at step 0',
    start({ steps: 0, well: sums(0.5) }),
    'out_of_range',
    'start.well[7]',
    'Expected 0, because',
  ],
  ['a NaN as a sum `well`', start({ well: sums(nan) }), 'out_of_range', 'start.well[7]'],
  ['a sum `skill` above the largest terms', start({ skill: sums(1.02) }), 'out_of_range', 'start.skill[7]'],
  ['a sum `skill` below the smallest terms', start({ skill: sums(-16.2) }), 'out_of_range', 'start.skill[7]'],
  [
    'a sum `skill` before its first term',
    start({ steps: 8, skill: sums(0.5) }),
    'out_of_range',
    'start.skill[7]',
  ],
  ['too few beliefs', start({ beliefs: [0.5] }), 'wrong_length', 'start.beliefs', 'got 1'],
  ['a number as beliefs', start({ beliefs: 1 }), 'wrong_type', 'start.beliefs'],
  ['text in beliefs', start({ beliefs: put(halves, 4, '1') }), 'bad_belief', 'start.beliefs[4]'],
  ['a partly NaN belief', start({ beliefs: put(halves, 4, nan) }), 'bad_belief', 'start.beliefs row 1'],
  [
    'a belief at step 0',
    start({ steps: 0, beliefs: halves }),
    'bad_belief',
    'start.beliefs row 0',
    'first action',
  ],
];
