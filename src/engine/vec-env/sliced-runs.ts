/** Runs a batch in slices of environments. Between slices it reports progress and can be aborted. */

import { InputError } from '../../shared/errors.js';
import { describe, readOptions } from '../../shared/values.js';
import type { AnyBatch } from '../backends/any-batch.js';
import type { AsyncBatch, OutputName } from '../backends/async-backend.js';
import type { Batch, Refusal, RunRequest } from '../backends/backend.js';
import { checkCopies, commitCopies, needsReplay, type RunOrigin, toOrigin } from './copy-states.js';
import type { Core } from './core.js';
import { readBack } from './read-outputs.js';
import type { RunChoice } from './run-requests.js';
import { FROM_OPTIONS, type LongCallOptions, type RunOptionsFrom } from './vec-env-options.js';
import { yieldTurn } from './yield-turn.js';

/**
 * Environments per slice: a multiple of 16, which `RunRequest.part` requires. A slice takes a few milliseconds of native
 * work, some tenths of a second on the reference.
 */
const SLICE_ENVS = 16_384;

/** Environments per slice on a GPU, which computes many at a time. Chosen by hand: no GPU was measured. */
const DEVICE_SLICE_ENVS = 2 ** 20;

/** Checks the options of a long call. @throws InputError `wrong_type`. */
export function checkLongCall({ onProgress, signal }: LongCallOptions): void {
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    refuse('onProgress', 'a function', onProgress);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) refuse('signal', 'an AbortSignal', signal);
}

function refuse(name: string, expected: string, got: unknown): never {
  throw new InputError(
    'wrong_type',
    `Expected ${name} to be ${expected}, got ${describe(got)}. Pass ${expected}, or leave out ${name}.`,
  );
}

/** A run with valid arguments. */
export interface Run<Kind extends AnyBatch = AnyBatch> {
  readonly request: RunRequest;
  /** The source of the states to begin from; null for the current states. */
  readonly origin: RunOrigin<Kind> | null;
  readonly options: RunOptionsFrom<unknown>;
}

/**
 * Validates the arguments of a run. @param known the names of valid options.
 * @param coreOf returns the core of a source environment. @throws as `VecEnv.run`.
 */
export function toRun<Kind extends AnyBatch, Env, Options extends RunOptionsFrom<Env>>(
  core: Core<Kind>,
  choice: RunChoice,
  options: Options,
  known: readonly (keyof Options & string)[],
  coreOf: (what: string, env: Env) => Core<Kind>,
): Run<Kind> {
  const runOptions = readOptions('run options', options, known);
  checkLongCall(runOptions);
  if (runOptions.from === undefined) core.requireEpisodes();
  const from = runOptions.from === undefined ? undefined : readOptions('from', runOptions.from, FROM_OPTIONS);
  const origin = from === undefined ? null : toOrigin(core, coreOf('from.source', from.source), from.indices);
  const request = core.toRun(choice, runOptions);
  if (origin !== null) checkCopies(core, origin.source, origin.indices);
  return { request, origin, options: runOptions };
}

/**
 * A run in progress. The caller passes each request of `next` to the batch, then calls `advance`, and at the end
 * `finish`.
 */
class Slices<Kind extends AnyBatch> {
  /** The cores of the environment and of its source. */
  readonly cores: readonly Core<Kind>[];
  /** Whether the run has `onProgress` or `signal`. */
  readonly isObserved: boolean;
  readonly #core: Core<Kind>;
  readonly #run: Run<Kind>;
  readonly #size: number;
  /** The number of environments whose slices are finished. */
  #done = 0;

  /**
   * @param size environments per slice. Without `onProgress` and `signal` there is one slice. @throws the signal's
   * reason.
   */
  constructor(core: Core<Kind>, run: Run<Kind>, size: number) {
    const { origin, options } = run;
    this.cores = origin === null ? [core] : [core, origin.source];
    this.isObserved = options.onProgress !== undefined || options.signal !== undefined;
    this.#core = core;
    this.#run = run;
    this.#size = this.isObserved ? size : core.numEnvs;
    options.signal?.throwIfAborted();
  }

  get isFinished(): boolean {
    return this.#done === this.#core.numEnvs;
  }

  get #end(): number {
    return Math.min(this.#done + this.#size, this.#core.numEnvs);
  }

  /** Returns the request of the next slice. @throws the signal's reason. */
  next(): RunRequest<Kind> {
    const { request, origin, options } = this.#run;
    options.signal?.throwIfAborted();
    const part = { first: this.#done, end: this.#end };
    const from = origin && { source: origin.source.batch, indices: origin.indices };
    return { ...request, part, from: from ?? undefined };
  }

  /**
   * Counts the slice as finished, and reports progress.
   * @throws errors of `onProgress`; StateError `outputs_detached` if memory was transferred.
   */
  advance(): void {
    this.#done = this.#end;
    this.#run.options.onProgress?.(this.#done, this.#core.numEnvs);
    for (const core of this.cores) core.requireAttached();
  }

  /**
   * The source and the indices of its copied environments, if this environment has histories and the source has none: a
   * replay then computes the histories of the copies. Else null.
   */
  get toReplay(): RunOrigin<Kind> | null {
    const { origin } = this.#run;
    if (origin === null || this.#done === 0 || !needsReplay(this.#core, origin.source)) return null;
    return { source: origin.source, indices: this.#indicesDone(origin) };
  }

  #indicesDone({ indices }: RunOrigin<Kind>): Uint32Array {
    return indices.subarray(0, this.#done);
  }

  /**
   * Commits the finished slices, also after an error.
   * @param words the states of `toReplay`; null if `toReplay` is null.
   * @returns the number of environments that ran.
   */
  finish(words: Uint32Array | null): number {
    const { request, origin } = this.#run;
    const core = this.#core;
    if (origin !== null) commitCopies(core, origin.source, this.#indicesDone(origin), words);
    // A run with an origin may be the first call. If it stops early, some environments have no episode and need a reset.
    if (this.isFinished) core.phase = 'playing';
    if (this.#done > 0) {
      // The run has ended no episodes of the other environments.
      if (core.attached) core.outputs.finalMask.fill(0, this.#done);
      core.commitRun(request, this.#done);
    }
    return this.#done;
  }
}

/**
 * Runs a batch in one call, or, with `onProgress` or `signal`, slice by slice. Finished slices are committed even after
 * an error or a refusal.
 * @returns the refusal that ended the run, or null. @throws the signal's reason, and as `Slices.advance`.
 */
export function runInSlices(core: Core<Batch>, run: Run<Batch>): Refusal | null {
  const slices = new Slices(core, run, SLICE_ENVS);
  const { batch } = core;
  try {
    while (!slices.isFinished) {
      const refusal = batch.run(slices.next());
      if (refusal !== null) return refusal;
      advanceBusy(slices);
    }
    return null;
  } finally {
    batch.read();
    const { toReplay } = slices;
    slices.finish(toReplay === null ? null : toReplay.source.batch.save(toReplay.indices));
  }
}

/** Advances and calls `onProgress`. Calls of the run's environments from `onProgress` are refused as `busy`. */
function advanceBusy(slices: Slices<Batch>): void {
  for (const core of slices.cores) core.busy = true;
  try {
    slices.advance();
  } finally {
    for (const core of slices.cores) core.busy = false;
  }
}

/**
 * Does the same as `runInSlices` for an asynchronous batch. Yields to the event loop between slices, so that other code
 * can abort the signal.
 * @param onFinish receives the number of environments that ran.
 * @param which outputs to read back; all by default.
 */
export async function runAsyncInSlices(
  core: Core<AsyncBatch>,
  run: Run<AsyncBatch>,
  onFinish: (envs: number) => void,
  which?: readonly OutputName[],
): Promise<Refusal | null> {
  const { batch } = core;
  const slices = new Slices(core, run, batch.device?.software === false ? DEVICE_SLICE_ENVS : SLICE_ENVS);
  try {
    while (!slices.isFinished) {
      const refusal = await batch.run(slices.next());
      if (refusal !== null) return refusal;
      slices.advance();
      if (slices.isObserved && !slices.isFinished) await yieldTurn();
    }
    return null;
  } finally {
    await readBack(core, which);
    const { toReplay } = slices;
    onFinish(slices.finish(toReplay === null ? null : await toReplay.source.batch.save(toReplay.indices)));
  }
}
