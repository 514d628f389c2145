/** Long calls in slices: progress between them, and a chance to stop. */
import type { Batch, Refusal, RunRequest } from '../backends/backend.js';
import { InputError } from '../errors.js';
import { describe } from '../validate/values.js';
import type { LongCallOptions } from './options.js';

/** Slots of a slice: a few milliseconds of native work, a few tenths of a second of the reference's. Whole tiles. */
const SLICE = 16_384;

/** @throws InputError `wrong_type`. */
export function checkLongCall({ onProgress, signal }: LongCallOptions): void {
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    refuse('onProgress', 'a function', onProgress);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) refuse('signal', 'an AbortSignal', signal);
}

function refuse(name: string, expected: string, got: unknown): never {
  throw new InputError(
    'wrong_type',
    `Expected ${name} to be ${expected}, got ${describe(got)}. Pass one, or leave it out.`,
  );
}

/**
 * Runs a batch at once, or, if someone watches, slice by slice.
 * @param noteEnd told after each slice which slots have run: those before it. @throws the signal's reason.
 */
export function runInSlices(
  batch: Batch,
  request: RunRequest,
  numEnvs: number,
  { onProgress, signal }: LongCallOptions,
  noteEnd: (end: number) => void,
): Refusal | null {
  signal?.throwIfAborted();
  const watched = onProgress !== undefined || signal !== undefined;
  const slice = watched ? SLICE : numEnvs;
  for (let first = 0; first < numEnvs; first += slice) {
    const end = Math.min(first + slice, numEnvs);
    const refusal = batch.run(watched ? { ...request, part: { first, end } } : request);
    if (refusal !== null) return refusal;
    noteEnd(end);
    onProgress?.(end, numEnvs);
    if (end < numEnvs) signal?.throwIfAborted();
  }
  return null;
}
