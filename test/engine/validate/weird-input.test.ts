/** Arguments in every kind of array and memory (shared, resizable, detached, at an offset), and unusual options. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { copyColumns, expectEqual } from '../../support/bits.js';
import { openOn, TWO_ENGINES } from '../../support/engines.js';
import { detached } from '../../support/fuzz.js';
import { expectRefusal } from '../../support/refusals.js';
import { expectUnchanged } from '../../support/unchanged.js';

const N = 6;
const CODES = [0, 3, 6, 9, 1, 4];
// biome-ignore lint/suspicious/noExplicitAny: cases pass values of wrong types.
const any = (value: unknown): any => value;

/** The same action codes in every container. */
const CONTAINERS: Record<string, () => unknown> = {
  'an array': () => [...CODES],
  'a Uint8Array': () => Uint8Array.from(CODES),
  'a Uint8ClampedArray': () => Uint8ClampedArray.from(CODES),
  'an Int8Array': () => Int8Array.from(CODES),
  'an Int32Array': () => Int32Array.from(CODES),
  'a Float64Array': () => Float64Array.from(CODES),
  'a Buffer': () => Buffer.from(CODES),
  'a subarray': () => Uint8Array.from([99, 99, 99, ...CODES, 99]).subarray(3, 3 + N),
  'shared memory': () => {
    const view = new Uint8Array(new SharedArrayBuffer(N + 3), 3);
    view.set(CODES);
    return view;
  },
  'a resizable buffer': () => {
    const Resizable = ArrayBuffer as unknown as new (size: number, options: object) => ArrayBuffer;
    const view = new Uint8Array(new Resizable(N, { maxByteLength: 64 }));
    view.set(CODES);
    return view;
  },
  'a frozen array': () => Object.freeze([...CODES]),
  'a proxy of an array': () => new Proxy([...CODES], {}),
  'a subclass of Uint8Array': () => new (class extends Uint8Array {})(CODES),
  'an array with -0': () => CODES.map((code) => (code === 0 ? -0 : code)),
};

/** Resets and takes a step. @returns copies of the outputs. */
function play(env: VecEnv, actions: unknown, beliefs?: ArrayLike<number>) {
  env.reset({ seed: 9 });
  return copyColumns({ ...env.step(any(actions), beliefs ? { beliefs } : {}) } as never);
}

describe.each(TWO_ENGINES)('$name', (engine) => {
  it.each(Object.entries(CONTAINERS))('step accepts actions in %s', (_, make) => {
    using env = openOn(engine, { numEnvs: N });
    expectEqual(play(env, CODES), play(env, make()));
  });

  it('reset and run accept seeds and stops in any container', () => {
    using env = openOn(engine, { numEnvs: N });
    const expected = env.reset({ seed: CODES }).observations.slice();
    for (const make of Object.values(CONTAINERS)) {
      expect(env.reset({ seed: any(make()) }).observations).toEqual(expected);
      env.run('heuristic', { stops: any(make()) });
      expect(Array.from(env.reset({ seed: any(make()) }).observations)).toEqual(Array.from(expected));
    }
  });

  /** Containers of beliefs. */
  const BELIEFS: Record<string, (floats: Float32Array) => ArrayLike<number>> = {
    'an array': (floats) => [...floats],
    'a proxy of an array': (floats) => new Proxy([...floats], {}),
    'a Float64Array': (floats) => Float64Array.from(floats),
    'shared memory, at an offset': (floats) => {
      const shared = new Float32Array(new SharedArrayBuffer(4 * floats.length + 4), 4);
      shared.set(floats);
      return shared;
    },
  };
  it.each(Object.entries(BELIEFS))('step and run accept beliefs in %s', (_, make) => {
    const [one, other] = [1, 2].map(() => openOn(engine, { numEnvs: N }));
    // The belief of environment 2 is missing.
    const floats = Float32Array.from({ length: N * 3 }, (_, i) => i / 20).fill(Number.NaN, 6, 9);
    expectEqual(play(one, CODES, floats), play(other, CODES, make(floats)));
    // The belief of environment 1 at step 0 is missing.
    const sequence = Float32Array.from({ length: N * 3 * 28 }, (_, i) => (i % 19) / 20);
    sequence.fill(Number.NaN, 84, 87);
    const runs = [one.run('random', { beliefs: sequence }), other.run('random', { beliefs: make(sequence) })];
    const [expected, got] = runs.map((result) => copyColumns({ ...result } as never));
    expectEqual(expected, got);
  });

  it('detached arrays are refused, and nothing changes', () => {
    using env = openOn(engine, { numEnvs: N });
    const result = env.reset({ seed: 9 });
    expectUnchanged(env, result, () => {
      const calls = [
        () => env.step(detached(Uint8Array.from(CODES))),
        () => env.step(CODES, { beliefs: detached(new Float32Array(N * 3)) }),
        () => env.reset({ seed: detached(new Uint32Array(N)) }),
        () => env.run(detached(new Uint8Array(N * 28))),
        () => env.reset({ profiles: detached(new Float32Array(N * 16)) }),
      ];
      for (const call of calls) expectRefusal(call, 'wrong_length', 'got 0');
      expectRefusal(() => env.fork(new Array(2 ** 32 - 1)), 'out_of_range', 'indices');
    });
  });

  it('objects that only have the prototype of a typed array are refused', () => {
    using env = openOn(engine, { numEnvs: N });
    const result = env.reset({ seed: 9 });
    expectUnchanged(env, result, () => {
      const untyped = Object.create(Float32Array.prototype);
      expectRefusal(() => env.step(any(Object.create(Uint8Array.prototype))), 'wrong_type');
      expectRefusal(() => env.step(CODES, { beliefs: untyped }), 'wrong_type', 'beliefs');
      expectRefusal(() => env.step(CODES, { beliefs: new Proxy(new Float32Array(N * 3), {}) }), 'wrong_type');
      expectRefusal(() => env.reset({ profiles: untyped }), 'wrong_type', 'profiles');
    });
  });

  it('options may be getters, inherited or undefined', () => {
    using env = openOn(
      engine,
      any({
        __proto__: { threads: 1 },
        get numEnvs() {
          return N;
        },
      }),
    );
    expect(env.numEnvs).toBe(N);
    env.reset(any(Object.create(null)));
    env.reset(any(new Proxy({ seed: 9 }, {})));
    expect(Array.from(env.seeds)).toEqual([9, 10, 11, 12, 13, 14]);
    env.reset({ seed: undefined, profiles: undefined, graders: undefined });
    env.step(CODES, { beliefs: undefined });
    expect(env.reset({ seed: -0 }).observations[0]).toBe(0);
    expect(Array.from(env.seeds)[0]).toBe(0);
  });
});
