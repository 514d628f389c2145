/** The memory behind callers' arrays: what may be read where it lies, and what must be copied first. */
import { kindOf, lengthOf, typedArrayGetter } from './values.js';

/** Buffers that a call overwrites. */
export type Written = ReadonlySet<ArrayBufferLike>;

export const NOTHING_WRITTEN: Written = new Set();

const bufferOf = typedArrayGetter<ArrayBufferLike>('buffer');
const byteOffsetOf = typedArrayGetter<number>('byteOffset');
const byteLengthOf = typedArrayGetter<number>('byteLength');

/** Not every host lets memory be shared. */
const isShared = (buffer: ArrayBufferLike): boolean =>
  typeof SharedArrayBuffer !== 'undefined' && buffer instanceof SharedArrayBuffer;

/**
 * Whether a typed array stays as it was checked until a call has used it: not one that lies in what the call overwrites,
 * nor one in shared memory, where another thread may write between the check and the use.
 */
export function isSettled(view: unknown, written: Written): boolean {
  const buffer = bufferOf.call(view);
  return !written.has(buffer) && !isShared(buffer);
}

/** The same array, or a copy if it may change under the call. What is no typed array passes: others refuse it. */
export function settled<T>(view: T, written: Written, callsBack = false): T {
  const kind = kindOf(view);
  if (kind !== 'Float32Array' && kind !== 'Uint8Array') return view;
  if (!callsBack && isSettled(view, written)) return view;
  const Kind = kind === 'Float32Array' ? Float32Array : Uint8Array;
  return new Kind(view as unknown as ArrayLike<number>) as T;
}

/** The same bytes without what a caller has made of their array: a class, or properties of its own. */
export const plainBytes = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(bufferOf.call(bytes), byteOffsetOf.call(bytes), byteLengthOf.call(bytes));

const COLUMNS = { Int8Array, Uint8Array, Uint32Array, Float32Array };

/**
 * The same of any such array, without its properties; of shared memory a copy, as another thread may write between the
 * check and the use.
 * @param view one of the kinds of COLUMNS. Of memory that was transferred away nothing is left.
 */
export function plainColumn<T>(view: T): T {
  const Kind = COLUMNS[kindOf(view) as keyof typeof COLUMNS];
  const length = lengthOf(view as ArrayLike<unknown>);
  if (length === 0) return new Kind(0) as T;
  const buffer = bufferOf.call(view);
  const plain = new Kind(buffer as ArrayBuffer, byteOffsetOf.call(view), length);
  return (isShared(buffer) ? plain.slice() : plain) as T;
}

/** Whether a Uint32Array has the length and the methods of one, and none of its own. */
export const isPlainU32 = (view: unknown): view is Uint32Array =>
  kindOf(view) === 'Uint32Array' &&
  Object.getPrototypeOf(view) === Uint32Array.prototype &&
  !Object.hasOwn(view as object, 'length') &&
  !Object.hasOwn(view as object, 'subarray');
