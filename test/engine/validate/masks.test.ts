/** Masks: valid and invalid, of no environment, of all, and from a result. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { AUTORESET_MODES } from '../../../src/engine/validate/autoreset-modes.js';
import type { Mask } from '../../../src/engine/validate/masks.js';
import type { StepResult } from '../../../src/engine/vec-env/vec-env-options.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { expectEqual, rowsOf, withoutFinalMask } from '../../support/bits.js';
import { type Engine, openOn, TWO_ENGINES } from '../../support/engines.js';
import { Random } from '../../support/random.js';
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
const INVALID_MASKS: [
  name: string,
  mask: Mask,
  code: 'wrong_type' | 'wrong_length',
  ...mentions: string[],
][] = [
  [
    'a mask that is too short',
    new Uint8Array(N - 1),
    'wrong_length',
    `${N} entries in mask (numEnvs)`,
    'got 3',
  ],
  ['a mask that is too long', Array(N + 1).fill(true), 'wrong_length', 'got 5'],
  ['an empty mask', [], 'wrong_length', 'got 0'],
  ['one boolean', any(true), 'wrong_type', 'mask', 'true'],
  ['null', any(null), 'wrong_type', 'mask', 'null'],
  ['a string', any('0101'), 'wrong_type', '"0101"'],
  ['an array of strings', any(['no', 'yes', 'no', 'yes']), 'wrong_type', 'mask[0]', '"no"'],
  ['an array with holes', new Array(N), 'wrong_type', 'mask[0]', 'undefined'],
  ['a null among booleans', any([true, null, true, true]), 'wrong_type', 'mask[1]', 'null'],
  ['an array of BigInts', any(new BigUint64Array(N)), 'wrong_type', 'mask[0]'],
  ['a Set of indices', any(new Set([1, 3])), 'wrong_type', 'an object'],
  ['a DataView', any(new DataView(new ArrayBuffer(N))), 'wrong_type', 'a DataView'],
  ['an ArrayBuffer', any(new ArrayBuffer(N)), 'wrong_type', 'mask'],
  ['an object with a length', any({ length: N, 0: 1, 1: 1, 2: 1, 3: 1 }), 'wrong_type', 'an object'],
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

  it.each(INVALID_MASKS)('%s is refused, and nothing changes', (_, mask, code, ...mentions) => {
    const [env, , result] = openEqualPair(engine);
    expectUnchanged(env, result, () => {
      expectRefusal(() => env.step(actions, { mask }), code, ...mentions);
      expectRefusal(() => env.reset({ mask }), code, ...mentions);
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

  it('a mask of all environments has the same effect as no mask', () => {
    const [one, other] = openEqualPair(engine, { autoreset: 'next-step' });
    const all = [true, true, true, true];
    expectEqual(envColumns(one, one.step(actions)), envColumns(other, other.step(actions, { mask: all })));
    expectEqual(
      envColumns(one, one.reset({ seed: 55 })),
      envColumns(other, other.reset({ seed: 55, mask: all })),
    );
  });

  it.each(AUTORESET_MODES)('%s: a step of no environment changes no episode', (autoreset) => {
    const [one, other, result] = openEqualPair(engine, { autoreset });
    const before = envColumns(one, result);
    for (let t = 0; t < 100; t++) {
      const after = envColumns(one, one.step(new Uint8Array(N).fill(255), { mask: new Uint8Array(N) }));
      expectEqual(
        { ...withoutFinalMask(before), rewards: new Float32Array(N) },
        withoutFinalMask(after),
        `step ${t}:`,
      );
      expect(after.finalMask.some(Boolean)).toBe(false);
    }
    // The steps above count in no episode, so the episodes of `one` and `other` end at the same step.
    const mask = [true, true, true, false];
    for (let t = 0; t < NUM_STEPS; t++) {
      const steps = [one, other].map((env) => {
        const unfinished = mask.map(
          (selected, i) => selected && (autoreset !== 'disabled' || env.history(i, 28).length < 28),
        );
        return envColumns(env, env.step(actions, { mask: unfinished }));
      });
      expectEqual(steps[0], steps[1]);
    }
  });

  it('a reset of no environment changes only finalMask', () => {
    const [env, , result] = openEqualPair(engine);
    const before = envColumns(env, result);
    const after = envColumns(env, env.reset({ mask: new Uint8Array(N) }));
    expectEqual(withoutFinalMask(before), withoutFinalMask(after));
    expect(after.finalMask.some(Boolean)).toBe(false);
  });

  it.each(IGNORED_ARGUMENTS)(
    'next-step: environments that are reset ignore illegal actions and beliefs: %s',
    (_, illegal, beliefsOf) => {
      const [one, other] = [1, 2].map(() => openOn(engine, { ...options, autoreset: 'next-step' }));
      for (const env of [one, other]) {
        env.reset({ seed: 50 });
        env.run('heuristic', { stops: [NUM_STEPS, 5, NUM_STEPS, 6] });
      }
      const beliefs = new Float32Array(3 * N).fill(0.4);
      const invalid = beliefs.slice().fill(Number.POSITIVE_INFINITY, 0, 2).fill(Number.NaN, 7, 9);
      const expected = envColumns(one, one.step(actions, { beliefs }));
      expectEqual(
        expected,
        envColumns(other, other.step(any(illegal), { beliefs: any(beliefsOf(invalid)) })),
      );
      // The ignored belief has no effect on the next steps.
      expectEqual(envColumns(one, one.run('heuristic')), envColumns(other, other.run('heuristic')));
    },
  );

  it.each(IGNORED_ARGUMENTS)(
    'environments outside the mask ignore illegal actions and beliefs: %s',
    (_, illegal, beliefsOf) => {
      const random = new Random('idle');
      const [one, other] = openEqualPair(engine, { autoreset: 'next-step' });
      const { beliefs } = random.beliefs(N, 1);
      const invalid = beliefs.slice();
      invalid.set([Number.POSITIVE_INFINITY, Number.NaN, 0], 0);
      invalid.set([Number.NaN, 0.5, Number.NEGATIVE_INFINITY], 6);
      const [expected, got] = [
        envColumns(one, one.step(actions, { mask: BYTES, beliefs })),
        envColumns(other, other.step(any(illegal), { mask: BYTES, beliefs: any(beliefsOf(invalid)) })),
      ];
      expectEqual(expected, got);
      // The episode of environment 3 had ended, so the step reset this environment, and ignored its action and belief.
      const fresh = openOn(engine, { numEnvs: 1 });
      const expectedRow = envColumns(fresh, fresh.reset({ seed: one.seeds[3] }));
      const { seeds, observations, hash } = got;
      expectEqual(
        { seeds: expectedRow.seeds, observations: expectedRow.observations, hash: expectedRow.hash },
        rowsOf({ seeds, observations, hash }, N, [3]),
      );
    },
  );
});
