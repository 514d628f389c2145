/** Runs in slices, with progress reports and abortion between slices. */

import { InputError } from '../../shared/errors.js';
import { describe, readOptions } from '../../shared/values.js';
import type { AsyncBatch, OutputName } from '../backends/async-backend.js';
import type { Batch, Refusal, RunRequest } from '../backends/backend.js';
import { checkCopies, commitCopies, needsReplay, type RunOrigin, toOrigin } from './copy-states.js';
import type { AnyBatch, Core } from './core.js';
import { readBack } from './read-outputs.js';
import type { RunChoice } from './run-requests.js';
import { FROM_OPTIONS, type LongCallOptions, type RunOptionsFrom } from './vec-env-options.js';
import { yieldTurn } from './yield-turn.js';

/** Environments per slice: a few milliseconds of native work, some tenths of a second on the reference. Whole tiles. */
const SLICE = 16_384;

/** Environments per slice on a device: fewer would leave most of it idle. */
const DEVICE_SLICE = 2 ** 20;

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
    `Expected ${name} to be ${expected}, got ${describe(got)}. Pass one, or leave it out.`,
  );
}

/** A run with valid arguments. */
export interface Run<Kind extends AnyBatch = AnyBatch> {
  readonly request: RunRequest;
  /** The states to begin from; null for the present states. */
  readonly origin: RunOrigin<Kind> | null;
  readonly options: RunOptionsFrom<unknown>;
}

/**
 * Checks the arguments of a run. @param known names of the options.
 * @param coreOf returns the core of a source. @throws as `VecEnv.run`.
 */
export function toRun<Kind extends AnyBatch, Env, Options extends RunOptionsFrom<Env>>(
  core: Core<Kind>,
  choice: RunChoice,
  options: Options,
  known: readonly (keyof Options & string)[],
  coreOf: (what: string, env: Env) => Core<Kind>,
): Run<Kind> {
  const asked = readOptions('run options', options, known);
  checkLongCall(asked);
  if (asked.from === undefined) core.requireEpisodes();
  const from = asked.from === undefined ? undefined : readOptions('from', asked.from, FROM_OPTIONS);
  const origin = from === undefined ? null : toOrigin(core, coreOf('from.source', from.source), from.indices);
  const request = core.toRun(choice, asked);
  if (origin !== null) checkCopies(core, origin.source, origin.indices);
  return { request, origin, options: asked };
}

/** A run in progress. Its driver passes `next` to the batch, then calls `advance`, and `finish` at the end. */
class Slices<Kind extends AnyBatch> {
  readonly cores: readonly Core<Kind>[];
  readonly watched: boolean;
  readonly #core: Core<Kind>;
  readonly #run: Run<Kind>;
  readonly #size: number;
  #done = 0;

  /** @param size environments per slice, with `onProgress` or `signal`. @throws the signal's reason. */
  constructor(core: Core<Kind>, run: Run<Kind>, size: number) {
    const { origin, options } = run;
    this.cores = origin === null ? [core] : [core, origin.source];
    this.watched = options.onProgress !== undefined || options.signal !== undefined;
    this.#core = core;
    this.#run = run;
    this.#size = this.watched ? size : core.numEnvs;
    options.signal?.throwIfAborted();
  }

  get over(): boolean {
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

  /** Reports progress. @throws errors of `onProgress`; StateError `outputs_detached` if memory was transferred. */
  advance(): void {
    this.#done = this.#end;
    this.#run.options.onProgress?.(this.#done, this.#core.numEnvs);
    for (const core of this.cores) core.requireAttached();
  }

  /** The environments of the source whose episodes must be replayed; null for none. */
  get toReplay(): RunOrigin<Kind> | null {
    const { origin } = this.#run;
    if (origin === null || this.#done === 0 || !needsReplay(this.#core, origin.source)) return null;
    return { source: origin.source, indices: this.#reached(origin) };
  }

  #reached({ indices }: RunOrigin<Kind>): Uint32Array {
    return indices.subarray(0, this.#done);
  }

  /**
   * Commits the finished slices, also after an error.
   * @param words saved `toReplay`.
   * @returns how many environments ran.
   */
  finish(words: Uint32Array | null): number {
    const { request, origin } = this.#run;
    const core = this.#core;
    if (origin !== null) commitCopies(core, origin.source, this.#reached(origin), words);
    // If stopped early, an environment that was never reset has only some episodes, and still needs a reset.
    if (this.over) core.phase = 'open';
    if (this.#done > 0) {
      // This call has ended no episode of environments that it did not reach.
      if (core.attached) core.outputs.finalMask.fill(0, this.#done);
      core.commitRun(request, this.#done);
    }
    return this.#done;
  }
}

/**
 * Runs a batch in one call, or, with `onProgress` or `signal`, slice by slice. Finished slices are committed even after
 * an error.
 * @throws the signal's reason, and errors of `onProgress`.
 */
export function runInSlices(core: Core<Batch>, run: Run<Batch>): Refusal | null {
  const slices = new Slices(core, run, SLICE);
  const { batch } = core;
  try {
    while (!slices.over) {
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

/** Calls `onProgress`. Meanwhile every call on the run's environments is refused as `busy`. */
function advanceBusy(slices: Slices<Batch>): void {
  for (const core of slices.cores) core.busy = true;
  try {
    slices.advance();
  } finally {
    for (const core of slices.cores) core.busy = false;
  }
}

/**
 * As `runInSlices`, for an asynchronous batch. Yields to the event loop between slices, so that the signal can be
 * aborted.
 * @param reached receives the number of environments that ran.
 * @param which outputs to read back; all by default.
 */
export async function runAsyncInSlices(
  core: Core<AsyncBatch>,
  run: Run<AsyncBatch>,
  reached: (envs: number) => void,
  which?: readonly OutputName[],
): Promise<Refusal | null> {
  const { batch } = core;
  const slices = new Slices(core, run, batch.device?.software === false ? DEVICE_SLICE : SLICE);
  try {
    while (!slices.over) {
      const refusal = await batch.run(slices.next());
      if (refusal !== null) return refusal;
      slices.advance();
      if (slices.watched && !slices.over) await yieldTurn();
    }
    return null;
  } finally {
    await readBack(core, which);
    const { toReplay } = slices;
    reached(slices.finish(toReplay === null ? null : await toReplay.source.batch.save(toReplay.indices)));
  }
}
