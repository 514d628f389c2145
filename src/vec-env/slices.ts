/** Long calls in slices: progress between them, and a chance to stop. */
import type { Refusal, RunRequest } from '../backends/backend.js';
import { InputError } from '../errors.js';
import { describe } from '../validate/values.js';
import { whileBusy } from './busy.js';
import { noteCopies, type RunOrigin } from './copying.js';
import type { Core } from './core.js';
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
 * Runs a batch at once, or, if someone watches, slice by slice. Whatever stops it, what was run is noted and shown.
 * @param origin of all slots, or null if they go on from where they are.
 * @throws the signal's reason, or what `onProgress` throws.
 */
export function runInSlices(
  core: Core,
  request: RunRequest,
  origin: RunOrigin | null,
  { onProgress, signal }: LongCallOptions,
): Refusal | null {
  const { batch, numEnvs } = core;
  const from = origin === null ? undefined : { source: origin.source.batch, indices: origin.indices };
  const busy = origin === null ? [core] : [core, origin.source];
  const watched = onProgress !== undefined || signal !== undefined;
  let done = 0;
  signal?.throwIfAborted();
  try {
    while (done < numEnvs) {
      const part = { first: done, end: watched ? Math.min(done + SLICE, numEnvs) : numEnvs };
      const refusal = batch.run({ ...request, part, from });
      if (refusal !== null) return refusal;
      done = part.end;
      if (onProgress !== undefined) report(onProgress, done, busy);
      if (done < numEnvs) signal?.throwIfAborted();
    }
    return null;
  } finally {
    batch.read();
    if (origin !== null) noteCopies(core, origin.source, origin.indices.subarray(0, done));
    // Stopped before that, an environment that had no episodes has some: not enough to go on.
    if (done === numEnvs) core.phase = 'open';
    if (done > 0) {
      // This call has ended nothing in slots that it did not reach.
      if (core.attached) core.outputs.finalMask.fill(0, done);
      core.hasRun(request, done);
    }
  }
}

/** @throws what `onProgress` throws; StateError `outputs_detached` if it has transferred what the run needs. */
function report(
  onProgress: NonNullable<LongCallOptions['onProgress']>,
  done: number,
  busy: readonly Core[],
): void {
  whileBusy(busy, () => onProgress(done, busy[0].numEnvs));
  for (const core of busy) core.requireAttached();
}
