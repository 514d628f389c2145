/** Decides which of a caller's arrays can be used in place, and copies those that may change during a call. */
import { kindOf } from '../../shared/values.js';
import { copyArgument } from './copy-arguments.js';

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
