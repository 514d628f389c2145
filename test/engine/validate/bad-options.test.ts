/** Invalid options: each error states the expected value, the passed value, the place and the remedy. */
import { describe, it } from 'vitest';
import { createVecEnv } from '../../../src/engine/node.js';
import type { VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { NATIVE } from '../../support/engines.js';
import { expectRefusal } from '../../support/refusals.js';

type Case = [options: unknown, code: ErrorCode, ...mentions: string[]];
const open = (options: unknown) => createVecEnv(options as VecEnvOptions);
const fourEnvs = (options: object): object => ({ numEnvs: 4, ...options });

const CASES: Case[] = [
  [undefined, 'wrong_type', 'options', 'undefined'],
  [null, 'wrong_type', 'options', 'null'],
  [16, 'wrong_type', 'options', '16'],
  [{}, 'wrong_type', 'numEnvs', 'undefined'],
  [{ numEnvs: 0 }, 'out_of_range', 'numEnvs', '1 to 16777216', 'got 0'],
  [{ numEnvs: 2 ** 24 + 1 }, 'out_of_range', 'numEnvs', 'got 16777217'],
  [{ numEnvs: 1.5 }, 'out_of_range', 'numEnvs', 'got 1.5'],
  [{ numEnvs: Number.NaN }, 'out_of_range', 'numEnvs', 'got NaN'],
  [{ numEnvs: '4' }, 'wrong_type', 'numEnvs', '"4"'],
  [{ numEnvs: 4n }, 'wrong_type', 'numEnvs', 'got 4n.'],
  [{ numEnvs: null }, 'wrong_type', 'numEnvs', 'null'],
  [{ numEnvs: 4, numenvs: 4 }, 'unknown_option', 'numenvs', 'Did you mean "numEnvs"?'],
  [fourEnvs({ autoreset_mode: 'same-step' }), 'unknown_option', 'Did you mean "autoreset"?'],
  [fourEnvs({ autoreset: 'NEXT_STEP' }), 'unknown_name', 'Did you mean "next-step"?'],
  [fourEnvs({ layout: 'ColumnMajor' }), 'unknown_name', 'Did you mean "column-major"?'],
  [fourEnvs({ observation: { one_hot: true } }), 'unknown_option', 'Did you mean "oneHot"?'],
  [fourEnvs({ somethingElseEntirely: 1 }), 'unknown_option', 'Remove it.'],
  [fourEnvs({ threads: 0 }), 'out_of_range', 'threads', '1 to 256'],
  [fourEnvs({ threads: '2' }), 'wrong_type', 'threads'],
  [fourEnvs({ threads: null }), 'wrong_type', 'threads'],
  [fourEnvs({ imagination: 1 }), 'wrong_type', 'imagination', 'true or false'],
  [fourEnvs({ backend: 'nativ' }), 'unknown_name', 'backend', 'Did you mean "native"?'],
  [fourEnvs({ backend: 'cuda-tensor-cores' }), 'unknown_name', 'auto, native, wasm, reference'],
  [fourEnvs({ backend: 'wasm', threads: 2 }), 'out_of_range', 'threads 1', 'workers'],
  [fourEnvs({ backend: 3 }), 'wrong_type', 'backend'],
  [fourEnvs({ backend: 'reference', kernel: 'avx2' }), 'unknown_name', 'kernel', 'reference'],
  [fourEnvs({ backend: null }), 'wrong_type', 'backend', 'null'],
  [fourEnvs({ autoreset: null }), 'wrong_type', 'autoreset', 'null'],
  [fourEnvs({ layout: null }), 'wrong_type', 'layout', 'null'],
  [fourEnvs({ copy: null }), 'wrong_type', 'copy', 'null'],
  [fourEnvs({ imagination: null }), 'wrong_type', 'imagination', 'null'],
  [fourEnvs({ seedRange: null }), 'wrong_type', 'seedRange', 'null'],
  [fourEnvs({ observation: null }), 'wrong_type', 'observation', 'null'],
  [fourEnvs({ profiles: null }), 'wrong_type', 'profiles', 'null'],
  [fourEnvs({ grader: null }), 'wrong_type', 'grader', 'null'],
  [fourEnvs({ kernel: 7 }), 'wrong_type', 'kernel'],
  [fourEnvs({ profiles: 'introvert' }), 'unknown_name', 'introvert_morning'],
  [fourEnvs({ profiles: 'smapled' }), 'unknown_name', 'Did you mean "sampled"?'],
  [fourEnvs({ profiles: ['sampled'] }), 'wrong_length', '4 names in profiles', 'got 1'],
  [fourEnvs({ profiles: new Array(4) }), 'wrong_type', 'profiles'],
  // biome-ignore lint/suspicious/noSparseArray: the hole is the tested value.
  [fourEnvs({ profiles: ['sampled', , 'sampled', 'sampled'] }), 'wrong_type', 'profiles'],
  [fourEnvs({ profiles: new Float32Array(16) }), 'wrong_length', 'profiles', '64', 'got 16'],
  [fourEnvs({ profiles: new Float64Array(64) }), 'wrong_type', 'profiles', 'a Float64Array'],
  [fourEnvs({ profiles: new Float32Array(64).fill(Number.NaN) }), 'bad_profile', 'profiles[0][0]', 'NaN'],
  [fourEnvs({ profiles: new Float32Array(64).fill(2 ** 21, 37, 38) }), 'bad_profile', 'profiles[2][5]'],
  [fourEnvs({ profiles: new Float32Array(64).fill(1e-30) }), 'bad_profile', 'profiles[0][0]'],
  [fourEnvs({ grader: 'v4' }), 'unknown_name', 'v1, v2, v3', 'Use one of these names.'],
  [fourEnvs({ grader: 4 }), 'wrong_type', 'a name or a grader', 'got 4.'],
  [fourEnvs({ grader: [0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0, 0] }), 'bad_grader', 'sum to 1'],
  [fourEnvs({ grader: [0.2, 0.25, 0.15, 0.3, 0.1, null, 0, 0] }), 'bad_grader', 'null'],
  [fourEnvs({ grader: [0.5, 0.5, Number.NaN, 0, 0, 0, 0, 0] }), 'bad_grader', 'NaN'],
  [fourEnvs({ grader: [1, 0, 0, 0, 0] }), 'wrong_length', 'in grader', 'eight', 'got 5'],
  [fourEnvs({ grader: [0.5, 0, 0, 0, 0.3, 0.2] }), 'wrong_length', 'in grader', 'got 6'],
  [fourEnvs({ grader: [1, ...Array(8).fill(0)] }), 'wrong_length', 'in grader', 'got 9'],
  [
    fourEnvs({ grader: [1, 2 ** -41, 0, 0, 0, 0, 0, 0] }),
    'bad_grader',
    '[2^-40, 2^20]',
    'the weight of progress',
  ],
  [fourEnvs({ grader: {} }), 'bad_grader', 'at name of grader'],
  [fourEnvs({ grader: { name: 'calm', weights: { progress: 2 } } }), 'bad_grader', 'Divide each by 2.'],
  [fourEnvs({ grader: ['v1', 'v2', { name: 'calm', weights: {} }, 'v3'] }), 'bad_grader', 'a sum of 0'],
  [fourEnvs({ world: null }), 'bad_world', 'at world', 'null'],
  [fourEnvs({ world: 'rhythm' }), 'bad_world', 'at world', '"rhythm"'],
  [fourEnvs({ world: [] }), 'bad_world', 'at world'],
];

describe.each(CASES)('createVecEnv(%o)', (options, code, ...mentions) => {
  it(`is refused with ${code}`, () => expectRefusal(() => open(options), code, ...mentions));
});

it.runIf(NATIVE.length > 1)('an unknown kernel is refused, with a list of the kernels', () => {
  const known = NATIVE.map((engine) => engine.kernel!);
  expectRefusal(() => open(fourEnvs({ kernel: 'avx1024' })), 'backend_unavailable', '"avx1024"', ...known);
});
