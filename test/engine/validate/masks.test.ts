/** Masks: valid and invalid, and from a result. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import type { Mask } from '../../../src/engine/validate/steps.js';
import type { StepResult } from '../../../src/engine/vec-env/vec-env-options.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { expectEqual } from '../../support/bits.js';
import { type Engine, openOn, TWO_ENGINES } from '../../support/engines.js';
import { expectRefusal } from '../../support/refusals.js';
import { envColumns, expectUnchanged } from '../../support/unchanged.js';

const N = 4;
/** Environments 1 and 3. */
const BYTES = Uint8Array.of(0, 1, 0, 255);
const larger = new Uint8Array(N + 2);
larger.set(BYTES, 1);
const shared = new Uint8Array(new SharedArrayBuffer(N));
shared.set(BYTES);

/** The same mask in legal types. */
const KINDS: Record<string, Mask> = {
  'a Uint8Array': BYTES,
  'a view into a larger array': larger.subarray(1, N + 1),
  'an array of booleans': [false, true, false, true],
  'an array of numbers, some neither 0 nor 1': [0, -1, -0, 0.5],
  'an array with NaN, which counts as 0': [Number.NaN, 1, Number.NaN, Number.POSITIVE_INFINITY],
  'an array of numbers and booleans': [0, true, false, 1] as number[],
  'an Int8Array': Int8Array.from(BYTES),
  'a Float32Array': Float32Array.of(0, 0.25, -0, 1e-40),
  'a Uint8ClampedArray': Uint8ClampedArray.from(BYTES),
  'a Buffer': Buffer.from(BYTES),
  'a Uint8Array in shared memory': shared,
};

// biome-ignore lint/suspicious/noExplicitAny: cases pass values of wrong types.
const any = (value: unknown): any => value;
const INVALID_MASKS: [name: string, mask: Mask, code: 'wrong_type' | 'wrong_length', mention: string][] = [
  ['a mask that is too short', new Uint8Array(N - 1), 'wrong_length', `${N} entries in mask`],
  ['a mask that is too long', Array(N + 1).fill(true), 'wrong_length', 'got 5'],
  ['one boolean', any(true), 'wrong_type', 'mask'],
  ['null', any(null), 'wrong_type', 'mask'],
  ['a string', any('0101'), 'wrong_type', 'mask'],
  ['an array of strings', any(['no', 'yes', 'no', 'yes']), 'wrong_type', 'mask[0]'],
  ['an array with holes', new Array(N), 'wrong_type', 'mask[0]'],
  ['a null among booleans', any([true, null, true, true]), 'wrong_type', 'mask[1]'],
  ['an array of BigInts', any(new BigUint64Array(N)), 'wrong_type', 'mask[0]'],
  ['a Set of indices', any(new Set([1, 3])), 'wrong_type', 'mask'],
  ['a DataView', any(new DataView(new ArrayBuffer(N))), 'wrong_type', 'mask'],
  ['an object with a length', any({ length: N, 0: 1, 1: 1, 2: 1, 3: 1 }), 'wrong_type', 'mask'],
];

const actions = Uint8Array.of(3, 1, 4, 1);
/** Actions that are invalid for environments 0 and 2. `beliefsOf` may convert a test's invalid beliefs to another type. */
const IGNORED_ARGUMENTS: [name: string, actions: unknown, beliefsOf: (invalid: Float32Array) => unknown][] = [
  ['bytes', Uint8Array.of(255, 1, 10, 1), (invalid) => invalid],
  ['integers', Int32Array.of(-1, 1, 2 ** 31 - 1, 1), (invalid) => Float64Array.from(invalid)],
  ['values of any type', [null, 1, 'sleep', 1], (invalid) => [null, 'much', {}, ...invalid.subarray(3)]],
];
const options = { numEnvs: N, seedRange: [50, 20] as const };

/** Opens two equal batches. Their episodes are at different steps, and the last episode has ended. */
function openEqualPair(engine: Engine, extraOptions: object = {}): [VecEnv, VecEnv, StepResult, StepResult] {
  const [one, other] = [1, 2].map(() => openOn(engine, { ...options, ...extraOptions }));
  const [first, second] = [one, other].map((env) => {
    env.reset({ seed: 50 });
    return env.run('heuristic', { stops: [4, 5, 6, NUM_STEPS] });
  });
  return [one, other, first, second];
}

describe.each(TWO_ENGINES)('$name', (engine) => {
  it.each(Object.entries(KINDS))('%s selects the environments of step and reset', (_, mask) => {
    const [one, other] = openEqualPair(engine, { autoreset: 'next-step' });
    expectEqual(
      envColumns(one, one.step(actions, { mask: BYTES })),
      envColumns(other, other.step(actions, { mask })),
    );
    const seed = 60;
    expectEqual(
      envColumns(one, one.reset({ seed, mask: BYTES })),
      envColumns(other, other.reset({ seed, mask })),
    );
    expect(Array.from(one.seeds)).toEqual([50, 61, 52, 63]);
  });

  it.each(INVALID_MASKS)('%s is refused, and nothing changes', (_, mask, code, mention) => {
    const [env, , result] = openEqualPair(engine);
    expectUnchanged(env, result, () => {
      expectRefusal(() => env.step(actions, { mask }), code, mention);
      expectRefusal(() => env.reset({ mask }), code, mention);
    });
  });

  it('step and reset do not change a mask', () => {
    const [env] = openEqualPair(engine, { autoreset: 'same-step' });
    const mask = Uint8Array.of(0, 7, 255, 0);
    const before = mask.slice();
    env.step(actions, { mask });
    env.reset({ seed: 55, mask });
    expect(mask).toEqual(before);
  });

  describe.each([{}, { copy: true }, { observation: { history: true } }])('with %o', (extraOptions) => {
    it('reset accepts terminated of a result as a mask', () => {
      const [one, other, result] = openEqualPair(engine, extraOptions);
      const mask = Array.from(result.terminated, Boolean);
      const expected = envColumns(other, other.reset({ seed: 60, mask }));
      expectEqual(expected, envColumns(one, one.reset({ seed: 60, mask: result.terminated })));
      expect(Array.from(one.seeds)).toEqual([50, 51, 52, 63]);
    });

    it('reset accepts finalMask as a mask, and truncated, which selects none', () => {
      const [one, other, result] = openEqualPair(engine, extraOptions);
      const expected = envColumns(other, other.reset({ seed: 60, mask: [false, false, false, true] }));
      expectEqual(expected, envColumns(one, one.reset({ seed: 60, mask: result.finalMask })));
      const { truncated } = one.step(actions);
      expectEqual(expected, envColumns(other, other.reset({ mask: truncated })));
    });

    it('step accepts terminated of the previous result as a mask, even where it overwrites that array', () => {
      const [one, other, result] = openEqualPair(engine, { ...extraOptions, autoreset: 'next-step' });
      const expected = envColumns(other, other.step(actions, { mask: [false, false, false, true] }));
      expectEqual(expected, envColumns(one, one.step(actions, { mask: result.terminated })));
      expect(Array.from(one.seeds)).toEqual([50, 51, 52, 57]);
    });
  });

  it.each(IGNORED_ARGUMENTS)(
    'illegal actions and beliefs of environments that are reset or outside the mask are ignored: %s',
    (_, illegal, beliefsOf) => {
      const [one, other] = [1, 2].map(() => openOn(engine, { ...options, autoreset: 'next-step' }));
      for (const env of [one, other]) {
        env.reset({ seed: 50 });
        env.run('heuristic', { stops: [NUM_STEPS, 5, 6, 7] });
      }
      // The step resets environment 0.
      const mask = [true, true, false, true];
      const beliefs = new Float32Array(3 * N).fill(0.4);
      const invalid = beliefs.slice().fill(Number.POSITIVE_INFINITY, 0, 2).fill(Number.NaN, 7, 9);
      const ignored = { mask, beliefs: any(beliefsOf(invalid)) };
      expectEqual(
        envColumns(one, one.step(actions, { mask, beliefs })),
        envColumns(other, other.step(any(illegal), ignored)),
      );
      expect([...one.seeds]).toEqual([54, 51, 52, 53]);
      // The ignored belief has no effect on the next steps.
      expectEqual(envColumns(one, one.run('heuristic')), envColumns(other, other.run('heuristic')));
    },
  );
});
