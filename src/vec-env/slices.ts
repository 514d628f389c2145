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

/** Runs a batch at once, or, if someone watches, slice by slice. @throws the signal's reason. */
export function runInSlices(
  batch: Batch,
  request: RunRequest,
  numEnvs: number,
  { onProgress, signal }: LongCallOptions,
): Refusal | null {
  signal?.throwIfAborted();
  if (onProgress === undefined && signal === undefined) return batch.run(request);
  for (let first = 0; first < numEnvs; first += SLICE) {
    const end = Math.min(first + SLICE, numEnvs);
    const refusal = batch.run({ ...request, part: { first, end } });
    if (refusal !== null) return refusal;
    onProgress?.(end, numEnvs);
    if (end < numEnvs) signal?.throwIfAborted();
  }
  return null;
}
