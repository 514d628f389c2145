/** Long calls in slices: progress between them, and a chance to stop. */
import type { AsyncBatch, OutputName } from '../backends/async-backend.js';
import type { Batch, Refusal, RunRequest } from '../backends/backend.js';
import { InputError } from '../errors.js';
import { describe, readOptions } from '../validate/values.js';
import { whileBusy } from './busy.js';
import { lacksPasts, noteCopies, type RunOrigin, toOrigin } from './copying.js';
import type { AnyBatch, Core } from './core.js';
import { FROM_OPTIONS, type LongCallOptions, type RunOptionsFrom } from './options.js';
import { readBack } from './reading.js';
import type { RunChoice } from './requests.js';
import { othersTurn } from './turns.js';

/** Slots of a slice: a few milliseconds of native work, a few tenths of a second of the reference's. Whole tiles. */
const SLICE = 16_384;

/** The same for a device, most of which fewer would leave idle. */
const DEVICE_SLICE = 2 ** 20;

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

/** A run whose arguments are clean. */
export interface Run<Kind extends AnyBatch = AnyBatch> {
  readonly request: RunRequest;
  /** Of all slots, or null if they go on from where they are. */
  readonly origin: RunOrigin<Kind> | null;
  readonly asked: RunOptionsFrom<unknown>;
}

/** @param known the options that there are. @param coreOf what is behind a source, if it is an environment of this face. @throws as `VecEnv.run`. */
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
  // A getter of an argument may have closed the source.
  origin?.source.requireReset();
  return { request, origin, asked };
}

/** A run under way: whoever drives it hands `next` to the batch, says so by `advance`, and notes the end by `finish`. */
class Slices<Kind extends AnyBatch> {
  readonly cores: readonly Core<Kind>[];
  readonly watched: boolean;
  readonly #core: Core<Kind>;
  readonly #run: Run<Kind>;
  readonly #size: number;
  #done = 0;

  /** @param size slots of a slice, if someone watches. @throws the signal's reason. */
  constructor(core: Core<Kind>, run: Run<Kind>, size: number) {
    const { origin, asked } = run;
    this.cores = origin === null ? [core] : [core, origin.source];
    this.watched = asked.onProgress !== undefined || asked.signal !== undefined;
    this.#core = core;
    this.#run = run;
    this.#size = this.watched ? size : core.numEnvs;
    asked.signal?.throwIfAborted();
  }

  get over(): boolean {
    return this.#done === this.#core.numEnvs;
  }

  get #end(): number {
    return Math.min(this.#done + this.#size, this.#core.numEnvs);
  }

  /** @throws the signal's reason. */
  next(): RunRequest {
    const { request, origin, asked } = this.#run;
    asked.signal?.throwIfAborted();
    const part = { first: this.#done, end: this.#end };
    // A batch of this backend, whichever seam that sits behind.
    const from = origin && { source: origin.source.batch as unknown as Batch, indices: origin.indices };
    return { ...request, part, from: from ?? undefined };
  }

  /** @throws what `onProgress` throws; StateError `outputs_detached` if what the run needs was transferred. */
  advance(): void {
    this.#done = this.#end;
    this.#run.asked.onProgress?.(this.#done, this.#core.numEnvs);
    for (const core of this.cores) core.requireAttached();
  }

  /** Slots of the source whose pasts are to be lived again; null for none. */
  get past(): RunOrigin<Kind> | null {
    const { origin } = this.#run;
    if (origin === null || this.#done === 0 || !lacksPasts(this.#core, origin.source)) return null;
    return { source: origin.source, indices: this.#reached(origin) };
  }

  #reached({ indices }: RunOrigin<Kind>): Uint32Array {
    return indices.subarray(0, this.#done);
  }

  /** Notes and shows what was run, whatever stopped it. @param words of `past`, saved. @returns the slots that ran. */
  finish(words: Uint32Array | null): number {
    const { request, origin } = this.#run;
    const core = this.#core;
    if (origin !== null) noteCopies(core, origin.source, this.#reached(origin), words);
    // Stopped before that, an environment that had no episodes has some: not enough to go on.
    if (this.over) core.phase = 'open';
    if (this.#done > 0) {
      // This call has ended nothing in slots that it did not reach.
      if (core.attached) core.outputs.finalMask.fill(0, this.#done);
      core.hasRun(request, this.#done);
    }
    return this.#done;
  }
}

/**
 * Runs a batch at once, or, if someone watches, slice by slice. Whatever stops it, what was run is noted and shown.
 * @throws the signal's reason, or what `onProgress` throws.
 */
export function runInSlices(core: Core<Batch>, run: Run<Batch>): Refusal | null {
  const slices = new Slices(core, run, SLICE);
  const { batch } = core;
  try {
    while (!slices.over) {
      const refusal = batch.run(slices.next());
      if (refusal !== null) return refusal;
      whileBusy(slices.cores, () => slices.advance());
    }
    return null;
  } finally {
    batch.read();
    const { past } = slices;
    slices.finish(past === null ? null : past.source.batch.save(past.indices));
  }
}

/**
 * The same behind the asynchronous seam: between slices others have their turn, who may abort the signal.
 * @param reached told how many slots ran, before they are shown.
 * @param which outputs to read back; all by default.
 */
export async function runInTurns(
  core: Core<AsyncBatch>,
  run: Run<AsyncBatch>,
  reached: (slots: number) => void,
  which?: readonly OutputName[],
): Promise<Refusal | null> {
  const { batch } = core;
  const slices = new Slices(core, run, batch.device?.software === false ? DEVICE_SLICE : SLICE);
  try {
    while (!slices.over) {
      const refusal = await batch.run(slices.next());
      if (refusal !== null) return refusal;
      slices.advance();
      if (slices.watched && !slices.over) await othersTurn();
    }
    return null;
  } finally {
    await readBack(core, which);
    const { past } = slices;
    reached(slices.finish(past === null ? null : await past.source.batch.save(past.indices)));
  }
}
