/** Copies the arguments of calls that run later, and those whose memory may change during a call. */

import { kindOf } from '../../shared/values.js';

/** The classes of typed arrays that are copied, by name. */
const KINDS: Readonly<Record<string, new (entries: ArrayLike<never> | number) => ArrayLike<unknown>>> = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
};

/**
 * Returns a copy of an array or typed array, and other values unchanged.
 * @param maxLength the largest valid length. Longer arguments are not copied, because validation refuses them.
 */
export function copyArgument<T>(value: T, maxLength: number): T {
  const kind = kindOf(value);
  if (kind === undefined && !Array.isArray(value)) return value;
  const list = value as ArrayLike<never>;
  const length = list.length;
  if (length > maxLength) return value;
  if (kind === undefined) return Array.from(list) as T;
  const Kind = KINDS[kind];
  // A detached array has length 0, and its memory cannot be read.
  return (Kind === undefined ? value : new Kind(length === 0 ? 0 : list)) as T;
}

/**
 * Returns options with copies of their arrays. Reads each option once. Returns a value that is not an options object
 * unchanged; validation refuses it.
 */
export function copyOptions<Options extends object>(
  options: Options,
  known: readonly (keyof Options & string)[],
  maxLength: number,
): Options {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return options;
  // Unknown options are kept, so that validation can refuse them. A class instance may inherit known options.
  const names = new Set<string>([...known, ...Object.keys(options)]);
  const values = Array.from(names, (name) => [name, copyArgument(options[name as keyof Options], maxLength)]);
  return Object.fromEntries(values) as Options;
}

/** Buffers that a call overwrites. */
export type OverwrittenBuffers = ReadonlySet<ArrayBufferLike>;

/** For calls that overwrite no memory. */
export const NO_BUFFERS: OverwrittenBuffers = new Set();

/** Returns whether a buffer is shared with other threads. Not every platform has SharedArrayBuffer. */
const isShared = (buffer: ArrayBufferLike): boolean =>
  typeof SharedArrayBuffer !== 'undefined' && buffer instanceof SharedArrayBuffer;

/**
 * Returns whether a typed array cannot change during a call. An array can change if it lies in memory that the call
 * overwrites, or in shared memory, where another thread may write between the check and the use.
 */
export function isUnaliased(view: ArrayLike<unknown>, overwritten: OverwrittenBuffers): boolean {
  const { buffer } = view as Uint8Array;
  return !overwritten.has(buffer) && !isShared(buffer);
}

/**
 * Returns a typed array, or a copy if it may change during the call. Returns all other values unchanged.
 * @param callsBack whether the call runs functions of the caller, which may write anywhere.
 */
export const copyIfAliased = <T>(view: T, overwritten: OverwrittenBuffers, callsBack = false): T =>
  kindOf(view) !== undefined && (callsBack || !isUnaliased(view as ArrayLike<unknown>, overwritten))
    ? copyArgument(view, Number.MAX_SAFE_INTEGER)
    : view;
