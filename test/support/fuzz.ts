/** Calls of the addon that no caller of this package would make. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Addon, NativeBatch } from '../../src/backends/addon.js';
import { allocateOutputs, allocateTrajectory } from '../../src/backends/outputs.js';
import { NUM_STEPS, STATE_WORDS } from '../../src/world/fields.js';
import type { Random } from './random.js';
import { apart, WORLD } from './seam.js';

export const N = 17;
export type Any = ReturnType<typeof JSON.parse>;

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

export function detached<T extends { buffer: ArrayBufferLike }>(view: T): T {
  const buffer = view.buffer as ArrayBuffer;
  structuredClone(buffer, { transfer: [buffer] });
  return view;
}

/** Its first argument, once the others have been evaluated. */
export const first = <T>(value: T, ..._done: unknown[]): T => value;

/** A view whose resizable memory has shrunk below it. */
function shrunk(kind: Kind, length: number): unknown {
  const Resizable = ArrayBuffer as Any;
  const bytes = length * kind.BYTES_PER_ELEMENT;
  const buffer = new Resizable(bytes, { maxByteLength: bytes + 8 });
  const view = new (kind as Any)(buffer, 0, length);
  buffer.resize(Math.floor(bytes / 2));
  return view;
}

/** A legal array in every way but where its memory is. */
const shared = (kind: Kind, length: number): unknown => {
  const offset = kind.BYTES_PER_ELEMENT;
  return new (kind as Any)(new SharedArrayBuffer(length * offset + offset), offset, length);
};

const LENGTHS = [0, 1, 3, 6, N - 1, N, N + 1, N * 3, N * 6, N * 16, N * NUM_STEPS, N * STATE_WORDS, 428];
const ODD: readonly unknown[] = [
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

/** A typed array of any kind, length and kind of memory. */
function anyView(random: Random): unknown {
  const kind = random.pick(KINDS);
  const length = random.pick(LENGTHS);
  const where = random.pick(['own', 'own', 'shared', 'detached', 'shrunk']);
  if (where === 'shared') return shared(kind, length);
  if (where === 'shrunk') return shrunk(kind, length);
  const view = new (kind as Any)(length);
  return where === 'detached' ? detached(view) : view;
}

/** Null, a view, or anything else that JavaScript has. */
export function anyValue(random: Random): unknown {
  const what = random.real();
  if (what < 0.25) return null;
  return what < 0.75 ? anyView(random) : random.pick(ODD);
}

/** What each method takes, as kinds and lengths: the legal call from which a fuzzed one differs in one argument. */
export const METHODS: Record<string, (batch: NativeBatch) => unknown[]> = {
  reset: () => [
    null,
    new Uint32Array(N),
    new Uint8Array(N),
    new Float32Array(N * 16),
    new Float32Array(N * 6),
    new Uint8Array(N).fill(NUM_STEPS - 1),
    new Float32Array(N * 5),
    new Float32Array(N),
    new Float32Array(N),
    new Float32Array(N),
    new Uint8Array(N),
  ],
  step: () => [
    new Uint8Array(N),
    new Float32Array(N * 3),
    new Uint8Array(N),
    new Uint8Array(N),
    new Uint8Array(N),
    new Uint32Array(N),
  ],
  stepEach: () => [new Uint8Array(3 * N), 3],
  run: () => [
    2,
    new Uint32Array(N),
    new Uint8Array(N * NUM_STEPS),
    new Float32Array(3),
    new Float32Array(N * NUM_STEPS * 3),
    new Uint8Array(N * NUM_STEPS),
    new Uint8Array(N).fill(3),
    allocateTrajectory(N),
    0,
    N,
    null,
    new Uint32Array(N),
  ],
  gather: (batch) => [batch, new Uint32Array(N)],
  save: () => [new Uint32Array(2 * STATE_WORDS), Uint32Array.of(3, 0)],
  load: () => [new Uint32Array(N * STATE_WORDS)],
  hash: () => [new BigUint64Array(N)],
  targets: () => [new Float32Array(N * 3)],
  close: () => [],
};
export const NAMES = Object.keys(METHODS);

export function open(addon: Addon, kernel: string, outputs = apart(allocateOutputs(N))): NativeBatch {
  const batch = new addon.Batch(kernel, WORLD.words, false, N, 2, outputs);
  batch.reset(null, new Uint32Array(N).fill(7), null, null, null);
  return batch;
}

export function stateOf(batch: NativeBatch): Uint32Array {
  const words = new Uint32Array(N * STATE_WORDS);
  batch.save(words, null);
  return words;
}

const bytes = (words: Uint32Array): Uint8Array => new Uint8Array(words.buffer);

/** Calls, and expects a TypeError or success; a TypeError must have changed nothing. */
export function call(batch: NativeBatch, name: string, args: readonly unknown[]): void {
  const before = stateOf(batch);
  try {
    (batch as Any)[name](...args);
  } catch (error) {
    expect(error, name).toBeInstanceOf(TypeError);
    expect(Buffer.compare(bytes(stateOf(batch)), bytes(before)), `${name} changed the state`).toBe(0);
  }
}
