/** Batches of the synchronous or the asynchronous API, for code that runs on every backend. */

import type { OutputName } from './async-backend.js';
import type { Refusal, ReplayRequest, ResetRequest, RunRequest } from './backend.js';
import { checkBackend } from './choose-backend.js';
import { toDeviceOptions } from './device-options.js';
import {
  type BackendChoice,
  type BatchShape,
  type OpenedBatch,
  openAsyncBatch,
  openBatch,
} from './open-batch.js';
import type { Platform } from './platform.js';

/** A synchronous or asynchronous batch. The results of its calls may be promises: await each before the next call. */
export interface AnyBatch {
  readonly backend: string;
  readonly kernel: string;
  readonly threads: number;
  reset(request: ResetRequest): void;
  run(request: RunRequest<AnyBatch>): Refusal | null | Promise<Refusal | null>;
  /** Updates the `outputs` of `OpenedBatch`. An asynchronous batch may update the named arrays only. */
  read(which?: readonly OutputName[]): void | Promise<void>;
  /** Does the same as `Batch.replay`. */
  replay(request: ReplayRequest): Refusal | null | Promise<Refusal | null>;
  close(): void;
}

/** A function that opens a batch: `openAnyBatch`, or `openBatch`, which opens only synchronous backends. */
export type OpenBatch = (
  platform: Platform,
  choice: BackendChoice,
  shape: BatchShape,
) => OpenedBatch<AnyBatch> | Promise<OpenedBatch<AnyBatch>>;

/**
 * Returns whether only the asynchronous API opens a backend. @throws InputError `wrong_type` or `unknown_name`.
 */
export function isAsynchronous(platform: Platform, backend: string | undefined): boolean {
  if (platform.backends.some(({ name }) => name === backend)) return false;
  const requested = checkBackend(platform, 'asyncBackends', backend);
  return platform.asyncBackends.some(({ name }) => name === requested);
}

/**
 * Opens a batch on any backend, synchronous if the backend allows it, because calls are then faster. 'auto' chooses as
 * in `openBatch`. @throws as `openBatch`; an asynchronous backend's promise rejects with these errors.
 */
export const openAnyBatch: OpenBatch = (platform, choice, shape) =>
  isAsynchronous(platform, choice.backend)
    ? openAsyncBatch(platform, choice, shape, toDeviceOptions())
    : openBatch(platform, choice, shape);
