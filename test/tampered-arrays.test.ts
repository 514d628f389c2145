/**
 * Typed arrays that say something else of themselves than they are, and arguments that take each other's memory away
 * while they are read: what lies in memory counts, and what is missing there is refused, on every engine alike.
 */
import { describe, expect, it } from 'vitest';
import { NUM_STEPS } from '../src/world/fields.js';
import { expectEqual } from './support/bits.js';
import { ENGINES, openOn } from './support/engines.js';
import { detached, first } from './support/fuzz.js';
import { expectRefusal } from './support/refusals.js';
import { expectUnchanged, visible } from './support/unchanged.js';

const N = 6;
// biome-ignore lint/suspicious/noExplicitAny: these arguments are meant to be of other types.
const any = (value: unknown): any => value;

type View = Uint8Array | Uint32Array | Float32Array;
/** What a typed array may be made to say, none of which is about its memory. */
const TAMPERED: Record<string, <T extends View>(view: T) => T> = {
  'a length of its own': (view) => Object.defineProperty(view, 'length', { value: 3 }),
  'no prototype': (view) => Object.setPrototypeOf(view, null),
  'methods of its own': (view) =>
    Object.defineProperties(view, {
      subarray: { value: () => new Float32Array(3) },
      slice: { value: () => new Float32Array(3) },
      buffer: { value: new ArrayBuffer(3) },
      byteLength: { value: 1 },
      [Symbol.iterator]: { value: () => [7][Symbol.iterator]() },
    }),
};

const floats = (length: number): Float32Array => Float32Array.from({ length }, (_, k) => (k % 10) / 10);
const bytes = (length: number, most: number): Uint8Array =>
  Uint8Array.from({ length }, (_, k) => k % (most + 1));
const codes = (): Uint8Array => bytes(N, 9);

describe.each(ENGINES)('$name', (engine) => {
  const open = () => openOn(engine, { numEnvs: N });
  const begun = () => {
    const env = open();
    return { env, result: env.reset({ seed: 9 }) };
  };

  /** What comes of all calls that take arrays, each of which is made by `make`. */
  function played(make: <T extends View>(view: T) => T) {
    const [{ env }, { env: other }] = [begun(), begun()];
    const results = [
      env.reset({ seed: make(Uint32Array.of(5, 4, 3, 2, 1, 0)), mask: make(bytes(N, 1)) }),
      env.reset({ profiles: make(floats(16 * N)), seed: 5 }),
      env.reset({ graders: make(Float32Array.of(0, 1, 0, 0, 0, 0)), seed: 5 }),
      env.step(make(codes()), { beliefs: make(floats(3 * N)), mask: make(bytes(N, 1)) }),
      env.run('random', { policySeeds: make(bytes(N, 9)), stops: make(bytes(N, 9)) }),
      env.run('random', { beliefs: make(floats(3)), stops: make(bytes(N, 12)) }),
      env.assign(other, make(Uint32Array.of(5, 4, 3, 3, 3, 0))),
      env.run(make(bytes(NUM_STEPS * N, 9)), { beliefs: make(floats(3 * NUM_STEPS * N)) }),
      env.run('heuristic', { from: { source: other, indices: make(Uint32Array.of(1, 1, 1, 2, 3, 4)) } }),
      env.restore(make(other.snapshot())),
    ];
    return results.map((result) => visible(env, result)).concat(visible(env.fork(make(codes())), results[0]));
  }

  it.each(Object.entries(TAMPERED))('arrays with %s are what they are', (_, tamper) => {
    const plain = played((view) => view);
    const tampered = played(tamper);
    for (const [k, expected] of plain.entries()) expectEqual(expected, tampered[k], `call ${k}:`);
  });

  it('arrays of another length are refused, whatever they say', () => {
    const { env, result } = begun();
    const lying = <T extends View>(view: T, length: number): T =>
      Object.defineProperty(view, 'length', { value: length });
    expectUnchanged(env, result, () => {
      const refused = (call: () => unknown, got: number) => expectRefusal(call, 'wrong_length', `got ${got}`);
      refused(() => env.step(lying(new Uint8Array(3), N)), 3);
      refused(() => env.step(codes(), { mask: lying(new Uint8Array(3), N) }), 3);
      refused(() => env.step(codes(), { beliefs: lying(new Float32Array(3), 3 * N) }), 3);
      refused(() => env.reset({ mask: lying(new Uint8Array(7), N) }), 7);
      refused(() => env.reset({ seed: lying(new Uint32Array(7), N) }), 7);
      refused(() => env.reset({ profiles: lying(new Float32Array(7), 16 * N) }), 7);
      refused(() => env.reset({ graders: lying(new Float32Array(7), 6) }), 7);
      refused(() => env.run(lying(new Uint8Array(7), NUM_STEPS * N)), 7);
      refused(() => env.run('random', { stops: lying(new Uint8Array(7), N) }), 7);
      refused(() => env.run('random', { beliefs: lying(new Float32Array(7), 3) }), 7);
      refused(() => env.assign(env, lying(new Uint32Array(7), N)), 7);
      expectRefusal(() => env.restore(lying(new Uint8Array(7), 4000)), 'bad_snapshot', 'got 7');
    });
  });

  it('more slots than an environment may have are refused before they are counted out', () => {
    const { env, result } = begun();
    expectUnchanged(env, result, () => {
      expectRefusal(() => env.fork(new Array(2 ** 32 - 1)), 'out_of_range', 'indices', 'got 4294967295');
    });
  });

  it('getters of options that take away what was given beside them', () => {
    const { env, result } = begun();
    /** Options of which `key` is asked for and then takes the memory of `view`. */
    const taking = (view: View, key: string, value: unknown, rest: object = {}) =>
      Object.defineProperty({ ...rest }, key, {
        enumerable: true,
        get: () => first(value, detached(view)),
      });
    const [mask, actions, tape] = [() => bytes(N, 1), codes, () => bytes(NUM_STEPS * N, 9)];
    expectUnchanged(env, result, () => {
      const refused = (view: View, call: (view: View) => unknown) =>
        expectRefusal(() => call(view), 'wrong_length', 'got 0');
      refused(mask(), (view) => env.reset(taking(view, 'seed', 1, { mask: view })));
      refused(mask(), (view) => env.reset(taking(view, 'profiles', 'sampled', { mask: view })));
      refused(actions(), (view) => env.step(any(view), taking(view, 'mask', mask())));
      refused(actions(), (view) => env.step(any(view), taking(view, 'beliefs', floats(3 * N))));
      refused(mask(), (view) => env.step(codes(), taking(view, 'beliefs', floats(3 * N), { mask: view })));
      refused(floats(3 * N), (view) => env.step(codes(), taking(view, 'mask', mask(), { beliefs: view })));
      refused(tape(), (view) => env.run(any(view), taking(view, 'stops', bytes(N, 9))));
      refused(floats(3 * NUM_STEPS * N), (view) =>
        env.run('random', taking(view, 'trajectory', true, { beliefs: view })),
      );
    });
  });

  it('entries that take away what was given beside them', () => {
    const { env, result } = begun();
    /** The same entries in an array whose second takes the memory of `view`. */
    const taking = (view: View, entries: ArrayLike<number>): number[] =>
      Object.defineProperty(Array.from(entries), 1, { get: () => first(entries[1], detached(view)) });
    expectUnchanged(env, result, () => {
      const refused = (view: View, call: (view: View) => unknown) =>
        expectRefusal(() => call(view), 'wrong_length', 'got 0');
      refused(bytes(N, 1), (view) => env.reset({ seed: taking(view, codes()), mask: any(view) }));
      refused(bytes(N, 1), (view) => env.step(taking(view, codes()), { mask: any(view) }));
      refused(codes(), (view) => env.step(any(view), { mask: taking(view, bytes(N, 1)) }));
      refused(floats(3 * N), (view) => env.step(taking(view, codes()), { beliefs: any(view) }));
      const tape = bytes(NUM_STEPS * N, 9);
      refused(tape, (view) => env.run(any(view), { stops: taking(view, codes()) }));
      refused(bytes(NUM_STEPS * N, 9), (view) =>
        env.run(any(view), { beliefs: taking(view, [0.5, 0.5, 0.5]) }),
      );
      const beliefs = floats(3 * NUM_STEPS * N);
      refused(beliefs, (view) => env.run('random', { stops: taking(view, codes()), beliefs: any(view) }));
    });
  });

  it('getters that take the views away', () => {
    for (const call of ['step', 'reset', 'run'] as const) {
      const { env, result } = begun();
      const list = Object.defineProperty(Array.from(codes()), 1, {
        get: () => first(1, detached(result.rewards)),
      });
      const calls = {
        step: () => env.step(list),
        reset: () => env.reset({ seed: list }),
        run: () => env.run('random', { stops: list }),
      };
      expectRefusal(calls[call], 'outputs_detached');
    }
  });

  it('beliefs that a getter changes after they were found right', () => {
    const { env } = begun();
    const beliefs = floats(3 * NUM_STEPS * N);
    const stops = new Array(N).fill(NUM_STEPS);
    Object.defineProperty(stops, 1, { get: () => first(NUM_STEPS, beliefs.fill(Number.NaN, 1)) });
    expectRefusal(() => env.run('random', { beliefs, stops }), 'bad_belief');
    expect(env.counters.steps).toBe(0);
  });

  it('options that say something else each time', () => {
    const { env } = begun();
    const asked: string[] = [];
    const options = new Proxy(
      { stops: bytes(N, 9), trajectory: true, policySeeds: 1, onProgress: () => {} },
      { get: (target, key) => first(Reflect.get(target, key), asked.push(String(key))) },
    );
    env.run('random', options);
    expect(asked.length).toBe(new Set(asked).size);
  });
});
