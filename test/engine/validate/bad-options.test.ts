/** Invalid options: each error says what was expected, what came, where, and what to do. */
import { describe, it } from 'vitest';
import { createVecEnv } from '../../../src/engine/node.js';
import type { VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { ENGINES } from '../../support/engines.js';
import { expectRefusal } from '../../support/refusals.js';

type Case = [options: unknown, code: ErrorCode, ...mentions: string[]];
const open = (options: unknown) => createVecEnv(options as VecEnvOptions);
const with4 = (options: object): object => ({ numEnvs: 4, ...options });

const CASES: Case[] = [
  [undefined, 'wrong_type', 'options', 'undefined'],
  [null, 'wrong_type', 'options', 'null'],
  [16, 'wrong_type', 'options', '16'],
  [[4], 'wrong_type', 'options', 'an array of 1'],
  [{}, 'wrong_type', 'numEnvs', 'undefined'],
  [{ numEnvs: 0 }, 'out_of_range', 'numEnvs', '1 to 16777216', 'got 0'],
  [{ numEnvs: -1 }, 'out_of_range', 'numEnvs', 'got -1'],
  [{ numEnvs: 2 ** 24 + 1 }, 'out_of_range', 'numEnvs', 'got 16777217'],
  [{ numEnvs: 2 ** 25 }, 'out_of_range', 'numEnvs'],
  [{ numEnvs: 1.5 }, 'out_of_range', 'numEnvs', 'got 1.5'],
  [{ numEnvs: Number.NaN }, 'out_of_range', 'numEnvs', 'got NaN'],
  [{ numEnvs: Number.POSITIVE_INFINITY }, 'out_of_range', 'numEnvs', 'Infinity'],
  [{ numEnvs: '4' }, 'wrong_type', 'numEnvs', '"4"'],
  [{ numEnvs: 4n }, 'wrong_type', 'numEnvs', 'got 4'],
  [{ numEnvs: [4] }, 'wrong_type', 'numEnvs'],
  [{ numEnvs: null }, 'wrong_type', 'numEnvs', 'null'],
  [{ numEnvs: Symbol('four') }, 'wrong_type', 'numEnvs', 'Symbol(four)'],
  [{ numEnvs: 4, numenvs: 4 }, 'unknown_option', 'numenvs', 'Did you mean "numEnvs"?'],
  [with4({ thread: 2 }), 'unknown_option', 'Did you mean "threads"?'],
  [with4({ bakend: 'native' }), 'unknown_option', 'Did you mean "backend"?'],
  [with4({ graders: 'v1' }), 'unknown_option', 'Did you mean "grader"?'],
  [with4({ profile: 'sampled' }), 'unknown_option', 'Did you mean "profiles"?'],
  [{ num_envs: 4 }, 'unknown_option', 'Did you mean "numEnvs"?'],
  [with4({ autoresetMode: 'same-step' }), 'unknown_option', 'Did you mean "autoreset"?'],
  [with4({ autoreset_mode: 'same-step' }), 'unknown_option', 'Did you mean "autoreset"?'],
  [with4({ seed_range: [0, 9] }), 'unknown_option', 'Did you mean "seedRange"?'],
  [with4({ autoreset: 'NEXT_STEP' }), 'unknown_name', 'Did you mean "next-step"?'],
  [with4({ layout: 'ColumnMajor' }), 'unknown_name', 'Did you mean "column-major"?'],
  [with4({ observation: { one_hot: true } }), 'unknown_option', 'Did you mean "oneHot"?'],
  [with4({ somethingElseEntirely: 1 }), 'unknown_option', 'Remove it.'],
  [with4({ threads: 0 }), 'out_of_range', 'threads', '1 to 256'],
  [with4({ threads: 1.5 }), 'out_of_range', 'threads'],
  [with4({ threads: 1e9 }), 'out_of_range', 'threads'],
  [with4({ threads: '2' }), 'wrong_type', 'threads'],
  [with4({ threads: null }), 'wrong_type', 'threads'],
  [with4({ imagination: 1 }), 'wrong_type', 'imagination', 'true or false'],
  [with4({ imagination: 'yes' }), 'wrong_type', 'imagination'],
  [with4({ backend: 'nativ' }), 'unknown_name', 'backend', 'Did you mean "native"?'],
  [with4({ backend: 'cuda-tensor-cores' }), 'unknown_name', 'auto, native, reference'],
  [with4({ backend: 3 }), 'wrong_type', 'backend'],
  [with4({ backend: {} }), 'wrong_type', 'backend'],
  [with4({ backend: 'reference', kernel: 'avx2' }), 'unknown_name', 'kernel', 'reference'],
  [with4({ backend: null }), 'wrong_type', 'backend', 'null'],
  [with4({ autoreset: null }), 'wrong_type', 'autoreset', 'null'],
  [with4({ layout: null }), 'wrong_type', 'layout', 'null'],
  [with4({ copy: null }), 'wrong_type', 'copy', 'null'],
  [with4({ imagination: null }), 'wrong_type', 'imagination', 'null'],
  [with4({ seedRange: null }), 'wrong_type', 'seedRange', 'null'],
  [with4({ observation: null }), 'wrong_type', 'observation', 'null'],
  [with4({ profiles: null }), 'wrong_type', 'profiles', 'null'],
  [with4({ grader: null }), 'wrong_type', 'grader', 'null'],
  [with4({ kernel: 7 }), 'wrong_type', 'kernel'],
  [with4({ kernel: null }), 'wrong_type', 'kernel'],
  [with4({ profiles: 'introvert' }), 'unknown_name', 'introvert_morning'],
  [with4({ profiles: 'smapled' }), 'unknown_name', 'Did you mean "sampled"?'],
  [with4({ profiles: ['sampled'] }), 'wrong_length', '4 names in profiles', 'got 1'],
  [with4({ profiles: new Array(4) }), 'wrong_type', 'profiles'],
  // biome-ignore lint/suspicious/noSparseArray: a hole is the case.
  [with4({ profiles: ['sampled', , 'sampled', 'sampled'] }), 'wrong_type', 'profiles'],
  [with4({ profiles: 5 }), 'wrong_type', 'profiles'],
  [with4({ profiles: new Float32Array(16) }), 'wrong_length', 'profiles', '64', 'got 16'],
  [with4({ profiles: new Float64Array(64) }), 'wrong_type', 'profiles', 'a Float64Array'],
  [with4({ profiles: new Float32Array(64).fill(Number.NaN) }), 'bad_profile', 'profiles[0][0]', 'NaN'],
  [with4({ profiles: new Float32Array(64).fill(2 ** 21, 37, 38) }), 'bad_profile', 'profiles[2][5]'],
  [with4({ profiles: new Float32Array(64).fill(1e-30) }), 'bad_profile', 'profiles[0][0]'],
  [with4({ grader: 'v3' }), 'unknown_name', 'v1, v2'],
  [with4({ grader: ['v1'] }), 'wrong_length', 'grader'],
  [with4({ grader: [0.2, 0.2, 0.2, 0.2, 0.2, 0.2] }), 'bad_grader', 'sum to 1'],
  [with4({ grader: [0.2, 0.25, 0.15, 0.3, 0.1, null] }), 'bad_grader', 'null'],
  [with4({ grader: [0.2, 0.25, 0.15, 0.3, 0.1, '0'] }), 'bad_grader'],
  [with4({ grader: [0.5, 0.5, Number.NaN, 0, 0, 0] }), 'bad_grader', 'NaN'],
  [with4({ grader: [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1, 0, 0, 0] }), 'bad_grader'],
  [with4({ grader: [1, 0, 0, 0, 0] }), 'wrong_length', 'grader'],
  [with4({ grader: {} }), 'wrong_type', 'grader'],
  [with4({ world: null }), 'bad_world', 'at world', 'null'],
  [with4({ world: 'rhythm' }), 'bad_world', 'at world', '"rhythm"'],
  [with4({ world: [] }), 'bad_world', 'at world'],
];

describe.each(CASES)('createVecEnv(%o)', (options, code, ...mentions) => {
  it(`is refused with ${code}`, () => expectRefusal(() => open(options), code, ...mentions));
});

it.runIf(ENGINES.length > 1)('an unknown kernel is refused, with a list of the kernels', () => {
  const known = ENGINES.slice(1).map((engine) => engine.kernel!);
  expectRefusal(() => open(with4({ kernel: 'avx1024' })), 'backend_unavailable', '"avx1024"', ...known);
});
