/** Draws arguments for the addon's methods, most of them illegal, and calls the methods. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Addon, NativeBatch } from '../../src/engine/backends/addon.js';
import type { ResetRequest } from '../../src/engine/backends/backend.js';
import { allocateOutputs, allocateTrajectory } from '../../src/engine/backends/outputs.js';
import { NUM_COMPONENTS, NUM_METERS, NUM_STEPS, PROFILE_SIZE, STATE_WORDS } from '../../src/world/fields.js';
import { separateBuffers, WORLD } from './open-batch.js';
import type { Random } from './random.js';

/** The number of environments of each batch. */
export const N = 17;
/** The type `any`. The linter forbids its name, but `JSON.parse` returns this type. */
export type Any = ReturnType<typeof JSON.parse>;

/** The constructors of typed arrays. */
const KINDS = [
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Uint16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigUint64Array,
] as const;
type Kind = (typeof KINDS)[number];

/** Detaches the buffer of a view. */
export function detached<T extends { buffer: ArrayBufferLike }>(view: T): T {
  const buffer = view.buffer as ArrayBuffer;
  structuredClone(buffer, { transfer: [buffer] });
  return view;
}

/** Returns `value`. The caller passes calls as further arguments, such as one that closes a batch: they run before. */
export const valueAfter = <T>(value: T, ..._calls: unknown[]): T => value;

/** Returns a view whose resizable memory has become smaller than it. */
function shrunk(kind: Kind, length: number): unknown {
  const Resizable = ArrayBuffer as Any;
  const bytes = length * kind.BYTES_PER_ELEMENT;
  const buffer = new Resizable(bytes, { maxByteLength: bytes + 8 });
  const view = new (kind as Any)(buffer, 0, length);
  buffer.resize(Math.floor(bytes / 2));
  return view;
}

/** Returns an array in a SharedArrayBuffer. */
const shared = (kind: Kind, length: number): unknown => {
  const offset = kind.BYTES_PER_ELEMENT;
  return new (kind as Any)(new SharedArrayBuffer(length * offset + offset), offset, length);
};

/** Lengths of legal arguments, lengths that differ by 1, and others. */
const LENGTHS = [
  0,
  1,
  3,
  NUM_COMPONENTS,
  9,
  3 * PROFILE_SIZE,
  3 * NUM_STEPS,
  N - 1,
  N,
  N + 1,
  N * 3,
  N * NUM_METERS,
  N * NUM_COMPONENTS,
  N * PROFILE_SIZE,
  N * NUM_STEPS,
  N * STATE_WORDS,
  WORLD.words.length,
];
const OTHER_VALUES: readonly unknown[] = [
  ...fc.sample(fc.anything({ withBigInt: true, withTypedArray: true, withNullPrototype: true }), {
    seed: 1,
    numRuns: 200,
  }),
  undefined,
  Symbol('x'),
  () => 1,
  new DataView(new ArrayBuffer(64)),
  new Proxy({}, {}),
];

/** Draws a typed array of a kind of KINDS and a length of LENGTHS, in memory of its own, shared, detached or shrunk. */
function anyView(random: Random): unknown {
  const kind = random.pick(KINDS);
  const length = random.pick(LENGTHS);
  const where = random.pick(['own', 'own', 'shared', 'detached', 'shrunk']);
  if (where === 'shared') return shared(kind, length);
  if (where === 'shrunk') return shrunk(kind, length);
  const view = new (kind as Any)(length);
  return where === 'detached' ? detached(view) : view;
}

/** Draws null, a view, or any other value of JavaScript. */
export function anyValue(random: Random): unknown {
  const draw = random.real();
  if (draw < 0.25) return null;
  return draw < 0.75 ? anyView(random) : random.pick(OTHER_VALUES);
}

/** Legal arguments of each method. */
export const METHODS: Record<string, (batch: NativeBatch) => unknown[]> = {
  reset: () => [
    {
      mask: null,
      seeds: new Uint32Array(N),
      modes: new Uint8Array(N),
      profiles: new Float32Array(N * PROFILE_SIZE),
      graders: new Float32Array(N * NUM_COMPONENTS),
      start: {
        steps: new Uint8Array(N).fill(NUM_STEPS - 1),
        meters: new Float32Array(N * NUM_METERS),
        early: new Float32Array(N),
        late: new Float32Array(N),
        returns: new Float32Array(N),
        crashes: new Uint8Array(N),
        well: new Float32Array(N),
        skill: new Float32Array(N),
        beliefs: new Float32Array(N * 3),
        given: new Uint8Array(N),
      },
    },
  ],
  // Actions, beliefs, given, mask, reset mask and reset seeds.
  step: () => [
    new Uint8Array(N),
    new Float32Array(N * 3),
    new Uint8Array(N),
    new Uint8Array(N),
    new Uint8Array(N),
    new Uint32Array(N),
  ],
  stepAll: () => [new Uint8Array(N)],
  stepEach: () => [new Uint8Array(3 * N), 3],
  run: () => [
    // The policy's code: an action sequence.
    2,
    new Uint32Array(N),
    new Uint8Array(N * NUM_STEPS),
    {
      belief: new Float32Array(3),
      beliefs: new Float32Array(N * NUM_STEPS * 3),
      given: new Uint8Array(N * NUM_STEPS),
    },
    new Uint8Array(N).fill(3),
    allocateTrajectory(N),
    { first: 0, end: N },
    null,
  ],
  gather: (batch) => [batch, new Uint32Array(N)],
  save: () => [new Uint32Array(2 * STATE_WORDS), Uint32Array.of(3, 0)],
  load: () => [new Uint32Array(N * STATE_WORDS)],
  hash: () => [new BigUint64Array(N)],
  targets: () => [new Float32Array(N * 3)],
  replay: () => [
    {
      order: Uint32Array.of(2, 0, 1),
      seeds: new Uint32Array(3),
      modes: new Uint8Array(3),
      profiles: new Float32Array(3 * PROFILE_SIZE),
      grader: new Float32Array(NUM_COMPONENTS),
      stops: new Uint8Array(3).fill(27),
      histories: new Uint8Array(3 * NUM_STEPS),
      actions: new Int8Array(3),
      beliefs: new Float32Array(9),
      given: new Uint8Array(3),
      rewards: new Float32Array(3),
      beliefHistories: new Float32Array(3 * NUM_STEPS * 3),
      historyGiven: new Uint8Array(3 * NUM_STEPS),
      beliefMae: new Float32Array(3),
      beliefSkill: new Float32Array(3),
      hashes: new BigUint64Array(3),
    },
  ],
  close: () => [],
};
/** The names of the methods. */
export const NAMES = Object.keys(METHODS);

export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  value?.constructor === Object;

/** Replaces one argument, or one property of an object among them, by any value. */
export function replaceOne(random: Random, args: Any): void {
  const key = random.pick(Object.keys(args));
  if (isPlainObject(args[key]) && random.chance(0.9)) replaceOne(random, args[key]);
  else args[key] = anyValue(random);
}

/** Returns a request that resets all environments with seed 0, with these changes. */
export const resetOf = (changes: Partial<ResetRequest>): ResetRequest => ({
  mask: null,
  seeds: new Uint32Array(N),
  modes: null,
  profiles: null,
  graders: null,
  ...changes,
});

/** Opens a batch with seed 7 in all environments. */
export function open(
  addon: Addon,
  kernel: string,
  outputs = separateBuffers(allocateOutputs(N)),
): NativeBatch {
  const [imagination, threads] = [false, 2];
  const batch = new addon.Batch(kernel, WORLD.words, imagination, N, threads, outputs);
  batch.reset(resetOf({ seeds: new Uint32Array(N).fill(7) }));
  return batch;
}

/** Returns the words of all states, u32 [N, STATE_WORDS]. */
export function stateOf(batch: NativeBatch): Uint32Array {
  const words = new Uint32Array(N * STATE_WORDS);
  batch.save(words, null);
  return words;
}

const bytes = (words: Uint32Array): Uint8Array => new Uint8Array(words.buffer);

/** Calls a method, and expects that it succeeds, or that it throws a TypeError and changes no state. */
export function call(batch: NativeBatch, name: string, args: readonly unknown[]): void {
  const before = stateOf(batch);
  try {
    (batch as Any)[name](...args);
  } catch (error) {
    expect(error, name).toBeInstanceOf(TypeError);
    expect(Buffer.compare(bytes(stateOf(batch)), bytes(before)), `${name} changed the state`).toBe(0);
  }
}
