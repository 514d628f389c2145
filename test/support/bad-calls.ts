/** Invalid calls of a VecEnv. */

import type { VecEnv } from '../../src/engine/node.js';
import type { ErrorCode } from '../../src/shared/errors.js';
import { NUM_STEPS } from '../../src/world/fields.js';

/** The number of environments. */
export const N = 20;
/** A call, the code of its error, and texts that the message must contain. */
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

/** Invalid calls of `step`. */
export const STEP: Case[] = [
  [
    'too few actions',
    (env) => env.step(new Uint8Array(N - 1)),
    'wrong_length',
    `${N} actions (numEnvs)`,
    'got 19',
  ],
  ['too many actions', (env) => env.step(new Uint8Array(N + 1)), 'wrong_length', 'got 21'],
  ['no actions', (env) => env.step(any(undefined)), 'wrong_type', 'actions', 'undefined'],
  ['a number as actions', (env) => env.step(any(3)), 'wrong_type', 'actions', 'got 3'],
  ['text as actions', (env) => env.step(any('x'.repeat(N))), 'wrong_type', 'actions'],
  ['an object as actions', (env) => env.step(any({ length: N })), 'wrong_type', 'an object'],
  [
    'a DataView as actions',
    (env) => env.step(any(new DataView(new ArrayBuffer(N)))),
    'wrong_type',
    'a DataView',
  ],
  ['a Map as actions', (env) => env.step(any(new Map())), 'wrong_type', 'actions'],
  [
    'code 10',
    (env) => env.step(codes(7, 10)),
    'illegal_action',
    'actions[7]',
    'got 10',
    'No episode was stepped',
  ],
  [
    'code 255 in the last environment',
    (env) => env.step(codes(19, 255)),
    'illegal_action',
    'actions[19]',
    'got 255',
  ],
  [
    'two illegal codes, of which the error names the first',
    (env) => env.step(put(codes(3, 11), 2, 12)),
    'illegal_action',
    'actions[2]',
    'got 12',
  ],
  [
    'code -1',
    (env) => env.step(put(Int32Array.from(legalActions), 4, -1)),
    'illegal_action',
    'actions[4]',
    'got -1',
  ],
  [
    'code 256, which is 0 as u8',
    (env) => env.step(put(Int32Array.from(legalActions), 4, 256)),
    'illegal_action',
    'got 256',
  ],
  [
    'code 1.5',
    (env) => env.step(put(Array.from(legalActions), 0, 1.5)),
    'illegal_action',
    'actions[0]',
    'got 1.5',
  ],
  ['code NaN', (env) => env.step(put(Array.from(legalActions), 0, nan)), 'illegal_action', 'got NaN'],
  [
    'null as a code',
    (env) => env.step(any(put(Array.from(legalActions), 0, any(null)))),
    'illegal_action',
    'got null',
  ],
  [
    'a name as a code',
    (env) => env.step(any(put(Array.from(legalActions), 1, any('sleep')))),
    'illegal_action',
    'got "sleep"',
  ],
  ['an array of holes', (env) => env.step(any(new Array(N))), 'illegal_action', 'got undefined'],
  ['BigInt actions', (env) => env.step(any(new BigInt64Array(N))), 'illegal_action', 'actions[0]'],
  [
    'a misspelt option',
    (env) => env.step(legalActions, any({ belief: 1 })),
    'unknown_option',
    'Did you mean "beliefs"?',
  ],
  ['a number as options', (env) => env.step(legalActions, any(5)), 'wrong_type', 'step options'],
  ['null as options', (env) => env.step(legalActions, any(null)), 'wrong_type', 'step options'],
  [
    'one belief for all, with one NaN',
    (env) => env.step(legalActions, { beliefs: [0.5, nan, 0.5] }),
    'bad_belief',
    'beliefs row 0',
    'NaN',
  ],
  [
    'beliefs as rows',
    (env) => env.step(legalActions, { beliefs: any(Array(N).fill([0.5, 0.5, 0.5])) }),
    'wrong_type',
    'an array of 20, of which the first is an array of 3',
    'beliefs.flatMap(',
  ],
  [
    'beliefs as rows of floats',
    (env) => env.step(legalActions, { beliefs: any(Array(N).fill(new Float32Array(3))) }),
    'wrong_type',
    'the first is a Float32Array',
  ],
  [
    'null among beliefs',
    (env) => env.step(legalActions, { beliefs: any(put(Array.from(beliefs(0)), 7, null)) }),
    'bad_belief',
    'beliefs[7]',
    'null',
  ],
  [
    'a belief beyond float32',
    (env) => env.step(legalActions, { beliefs: put(Array.from(beliefs(0)), 58, 1e39) }),
    'bad_belief',
    'row 19',
  ],
  ['null beliefs', (env) => env.step(legalActions, { beliefs: any(null) }), 'wrong_type', 'beliefs', 'null'],
  [
    'text as beliefs',
    (env) => env.step(legalActions, { beliefs: any('5'.repeat(N * 3)) }),
    'wrong_type',
    'beliefs',
  ],
  [
    'too few beliefs',
    (env) => env.step(legalActions, { beliefs: new Float32Array(6) }),
    'wrong_length',
    '60 numbers in beliefs (numEnvs x 3)',
    'got 6',
  ],
  [
    'a row of beliefs with one NaN',
    (env) => env.step(legalActions, { beliefs: beliefs(5, 0.5, nan, 0.25) }),
    'bad_belief',
    'row 5',
    '[0.5, NaN, 0.25]',
  ],
  [
    'an infinite belief',
    (env) => env.step(legalActions, { beliefs: beliefs(0, infinity, 0, 0) }),
    'bad_belief',
    'row 0',
  ],
  [
    'a row with both infinities',
    (env) => env.step(legalActions, { beliefs: beliefs(19, infinity, -infinity, 0) }),
    'bad_belief',
    'row 19',
  ],
  [
    'an infinity among NaN',
    (env) => env.step(legalActions, { beliefs: beliefs(2, nan, -infinity, nan) }),
    'bad_belief',
    'row 2',
  ],
];

/** Invalid calls of `reset`. */
export const RESET: Case[] = [
  ['seed -1', (env) => env.reset({ seed: -1 }), 'bad_seed', 'seed', 'got -1'],
  ['seed 2^32', (env) => env.reset({ seed: 2 ** 32 }), 'bad_seed', 'got 4294967296'],
  ['seed 0.5', (env) => env.reset({ seed: 0.5 }), 'bad_seed'],
  ['seed NaN', (env) => env.reset({ seed: nan }), 'bad_seed', 'NaN'],
  ['a last seed beyond u32', (env) => env.reset({ seed: 2 ** 32 - 5 }), 'bad_seed', 'seed + 19', 'array'],
  ['text as seed', (env) => env.reset({ seed: any('7') }), 'wrong_type', 'seed', '"7"'],
  ['null as seed', (env) => env.reset({ seed: any(null) }), 'wrong_type', 'seed', 'null'],
  ['a BigInt as seed', (env) => env.reset({ seed: any(7n) }), 'wrong_type', 'seed'],
  ['too few seeds', (env) => env.reset({ seed: [1, 2] }), 'wrong_length', '20', 'seed', 'got 2'],
  [
    'an invalid seed in an array',
    (env) => env.reset({ seed: seeds(9, -1) }),
    'bad_seed',
    'seed[9]',
    'got -1',
  ],
  ['a NaN in an array of seeds', (env) => env.reset({ seed: seeds(9, nan) }), 'bad_seed', 'seed[9]'],
  ['text in an array of seeds', (env) => env.reset({ seed: seeds(9, '9') }), 'bad_seed', 'seed[9]', '"9"'],
  [
    'an Int32Array of negative seeds',
    (env) => env.reset({ seed: new Int32Array(N).fill(-1) }),
    'bad_seed',
    'seed[0]',
  ],
  ['an array of holes as seeds', (env) => env.reset({ seed: any(new Array(N)) }), 'bad_seed', 'undefined'],
  ['BigInt seeds', (env) => env.reset({ seed: any(new BigUint64Array(N)) }), 'bad_seed', 'seed[0]'],
  ['a misspelt option', (env) => env.reset(any({ seeds: 1 })), 'unknown_option', 'Did you mean "seed"?'],
  [
    'the option reset_mask',
    (env) => env.reset(any({ reset_mask: legalActions })),
    'unknown_option',
    'Did you mean "mask"?',
  ],
  [
    'the option resetMask',
    (env) => env.reset(any({ resetMask: legalActions })),
    'unknown_option',
    'Did you mean "mask"?',
  ],
  ['a number as options', (env) => env.reset(any(7)), 'wrong_type', 'reset options'],
  [
    'an unknown profile',
    (env) => env.reset({ seed: 1, profiles: 'workaholic_stoics' }),
    'unknown_name',
    'workaholic_stoic',
  ],
  [
    'an unknown profile in an array',
    (env) => env.reset({ profiles: seeds(3, 'x').map(() => 'nobody') }),
    'unknown_name',
    '"nobody"',
  ],
  ['a grader that sums to 2', (env) => env.reset({ graders: [1, 1, 0, 0, 0, 0] }), 'bad_grader', 'sum to 1'],
  ['an unknown grader', (env) => env.reset({ graders: 'V1' }), 'unknown_name', 'Did you mean "v1"?'],
  [
    'a name that objects inherit',
    (env) => env.reset({ graders: 'constructor' }),
    'unknown_name',
    '"constructor"',
  ],
  [
    'a profile with a NaN',
    (env) => env.reset({ profiles: new Float32Array(N * 16).fill(nan, 35, 36) }),
    'bad_profile',
    'profiles[2][3]',
    'NaN',
  ],
  [
    'a profile number with a magnitude below 2^-40',
    (env) => env.reset({ profiles: new Float32Array(N * 16).fill(-(2 ** -41), 319) }),
    'bad_profile',
    'profiles[19][15]',
  ],
];

/** Invalid calls of `run`. */
export const RUN: Case[] = [
  ['a misspelt policy', (env) => env.run(any('heuristc')), 'unknown_name', 'Did you mean "heuristic"?'],
  ['the planner', (env) => env.run(any('planner')), 'unknown_name', 'Call evaluate for any other policy'],
  ['no policy', (env) => env.run(any(undefined)), 'wrong_type', 'undefined'],
  [
    'a short action sequence',
    (env) => env.run(new Uint8Array(N)),
    'wrong_length',
    '560 actions (numEnvs x 28)',
    'got 20',
  ],
  [
    'an illegal action in an action sequence',
    (env) => env.run(sequence(3 * NUM_STEPS + 20, 10)),
    'illegal_action',
    'environment 3, step 20',
    'got 10',
  ],
  [
    'an illegal action in a plain array',
    (env) => env.run(Array.from(sequence(90, 10))),
    'illegal_action',
    'actions[90]',
    'got 10',
  ],
  [
    'a misspelt option',
    (env) => env.run('random', any({ trajectories: true })),
    'unknown_option',
    '"trajectory"',
  ],
  [
    'the option trajectory: 1',
    (env) => env.run('random', { trajectory: any(1) }),
    'wrong_type',
    'trajectory',
  ],
  [
    'a misspelt field of the trajectory',
    (env) => env.run('random', { trajectory: any(['actions', 'reward']) }),
    'unknown_name',
    'trajectory[1]',
    '"rewards"',
  ],
  [
    'the layout "columns" of a trajectory',
    (env) => env.run('random', { trajectory: true, layout: any('columns') }),
    'unknown_name',
    'layout',
    'column-major',
  ],
  ['policy seed -1', (env) => env.run('random', { policySeeds: -1 }), 'bad_seed', 'policySeeds', 'got -1'],
  ['too few policy seeds', (env) => env.run('random', { policySeeds: [1] }), 'wrong_length', 'policySeeds'],
  [
    'a stop of 29',
    (env) => env.run('random', { stops: put(new Uint8Array(N), 6, 29) }),
    'out_of_range',
    'stops[6]',
    '29',
  ],
  [
    'a stop of -1',
    (env) => env.run('random', { stops: put(new Int8Array(N), 6, -1) }),
    'out_of_range',
    'stops[6]',
  ],
  ['text as stops', (env) => env.run('random', { stops: any('28') }), 'wrong_type', 'stops'],
  ['too few stops', (env) => env.run('random', { stops: [28] }), 'wrong_length', 'stops', 'got 1'],
  ['a NaN constant belief', (env) => env.run('random', { beliefs: [0.5, nan, 0.5] }), 'bad_belief', 'NaN'],
  [
    'null in a constant belief',
    (env) => env.run('random', { beliefs: any([0.5, null, 0.5]) }),
    'bad_belief',
    'null',
  ],
  ['a belief beyond float32', (env) => env.run('random', { beliefs: [1e39, 0, 0] }), 'bad_belief', '1e+39'],
  ['BigInt beliefs', (env) => env.run('random', { beliefs: any(new BigInt64Array(3)) }), 'bad_belief'],
  ['null beliefs', (env) => env.run('random', { beliefs: any(null) }), 'wrong_type', 'beliefs', 'null'],
  [
    'beliefs as rows',
    (env) => env.run('random', { beliefs: any(Array(N * NUM_STEPS).fill([0.5, 0.5, 0.5])) }),
    'wrong_type',
    'numEnvs x 28',
    'beliefs.flatMap(',
  ],
  ['text as beliefs', (env) => env.run('random', { beliefs: any('555') }), 'wrong_type', 'beliefs'],
  [
    'an object with a length as beliefs',
    (env) => env.run('random', { beliefs: { length: 3 } }),
    'wrong_type',
    'beliefs',
  ],
  [
    'too few beliefs',
    (env) => env.run('random', { beliefs: new Float32Array(N * 3) }),
    'wrong_length',
    '1680',
    'got 60',
  ],
  [
    'a row with one NaN among the beliefs of all steps',
    (env) => env.run('random', { beliefs: put(new Float32Array(N * NUM_STEPS * 3), 304, nan) }),
    'bad_belief',
    'row 101',
  ],
];
