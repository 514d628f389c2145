/**
 * What the calls of an asynchronous environment do when their turn comes. One is done before the next begins, and what
 * they are given belongs to them: nobody else changes it.
 */
import type { AsyncBatch, OutputName } from '../backends/async-backend.js';
import { StateError } from '../errors.js';
import type { HistoryStep } from '../observe/record.js';
import { relive } from '../observe/relive.js';
import type { Snapshot } from '../snapshot/format.js';
import type { Actions } from '../validate/steps.js';
import { checkInteger } from '../validate/values.js';
import { NUM_STEPS } from '../world/fields.js';
import {
  checkAlike,
  checkPasts,
  hasGathered,
  hasRestored,
  lacksPasts,
  requireOwnPast,
  requireOwnPasts,
  toBytes,
  toFork,
  toIndices,
  toSnapshot,
} from './copying.js';
import type { Core } from './core.js';
import {
  ASYNC_RUN_OPTIONS,
  type AsyncRunOptionsFrom,
  type ForkOptions,
  type ResetOptions,
  type RunResult,
  type StepOptions,
  type StepResult,
} from './options.js';
import { Reading, readBack, toOutputNames } from './reading.js';
import { heed, type RunChoice } from './requests.js';
import type { Settings } from './settings.js';
import { runInTurns, toRun } from './slices.js';

/** What an environment is made of, and how more of its kind are opened. */
export interface Opening {
  readonly core: Core<AsyncBatch>;
  /** Another batch that writes the same outputs. */
  again(): Promise<AsyncBatch>;
  /** What a fork is made of. */
  open(settings: Settings): Promise<Opening>;
}

/** What is behind another environment, if it is one. */
type CoreOf<Env> = (what: string, env: Env) => Core<AsyncBatch>;

/** What a history is made of, besides what the environment is told. */
const STEP_SHOWN: readonly OutputName[] = ['observations', 'finalObservations', 'finalMask'];

export class AsyncTurns {
  readonly core: Core<AsyncBatch>;
  readonly #opening: Opening;
  readonly #reading: Reading;
  /** The last snapshot that was given out. */
  #kept: Uint8Array | null = null;

  constructor(opening: Opening) {
    this.core = opening.core;
    this.#opening = opening;
    this.#reading = new Reading(opening.core);
  }

  async reset(options: ResetOptions): Promise<StepResult> {
    const { core } = this;
    core.requireOpen();
    const request = core.toReset(options);
    core.batch.reset(request);
    core.hasReset(request);
    await this.#readAfterChange();
    return core.shown.afterReset(request.mask);
  }

  async submit(actions: Actions, options: StepOptions): Promise<void> {
    const { core } = this;
    core.requireReset();
    const request = core.toStep(actions, options);
    heed(core.batch.submit(request));
    core.hasStepped(request);
    this.#reading.stepped();
    if (core.shown.history === null) return;
    const shown = STEP_SHOWN.filter((name) => core.outputs[name] !== null);
    await readBack(core, shown);
    core.shown.afterStep(request);
  }

  async step(actions: Actions, options: StepOptions): Promise<StepResult> {
    await this.submit(actions, options);
    return this.read();
  }

  async read(which?: readonly OutputName[]): Promise<StepResult> {
    this.core.requireReset();
    await this.#reading.read(which === undefined ? undefined : toOutputNames(which));
    return this.core.shown.given();
  }

  async run<Env>(
    choice: RunChoice,
    options: AsyncRunOptionsFrom<Env>,
    coreOf: CoreOf<Env>,
  ): Promise<RunResult> {
    const { core } = this;
    core.requireOpen();
    const run = toRun(core, choice, options, ASYNC_RUN_OPTIONS, coreOf);
    const which = options.outputs === undefined ? undefined : toOutputNames(options.outputs);
    heed(await runInTurns(core, run, (slots) => this.#reading.changed(slots), which));
    return { ...core.shown.given(), trajectory: run.asked.trajectory ? run.request.trajectory : null };
  }

  async fork(indices: ArrayLike<number>, changes: ForkOptions): Promise<AsyncTurns> {
    const { core } = this;
    core.requireReset();
    const slots = toIndices(indices, null, core, null);
    const fork = new AsyncTurns(await this.#opening.open(toFork(core, slots, changes)));
    try {
      await fork.#gather(core, slots);
      return fork;
    } catch (error) {
      fork.core.close();
      throw error;
    }
  }

  async assign<Env>(source: Env, indices: ArrayLike<number>, coreOf: CoreOf<Env>): Promise<StepResult> {
    const { core } = this;
    core.requireOpen();
    const from = coreOf('source', source);
    from.requireReset();
    checkAlike(core, from);
    return this.#gather(from, toIndices(indices, core.numEnvs, from, core.written));
  }

  /** Slot i becomes a copy of slot indices[i] of `source`: state, what it shows, and all that is noted about it. */
  async #gather(source: Core<AsyncBatch>, indices: Uint32Array): Promise<StepResult> {
    const { core } = this;
    checkPasts(core, source, indices);
    core.batch.gather(source.batch, indices);
    const words = lacksPasts(core, source) ? await source.batch.save(indices) : null;
    await this.#readAfterChange();
    hasGathered(core, source, indices, words);
    return core.shown.current();
  }

  async snapshot(): Promise<Uint8Array> {
    const { core } = this;
    core.requireReset();
    requireOwnPasts(core);
    const bytes = toBytes(core, await core.batch.save());
    this.#kept = bytes.slice();
    return bytes;
  }

  async restore(bytes: Uint8Array): Promise<StepResult> {
    const { core } = this;
    core.requireOpen();
    const snapshot = toSnapshot(core, bytes);
    core.batch.load(snapshot.words);
    await readBack(core);
    return this.#restored(snapshot);
  }

  async reopen(): Promise<StepResult> {
    const { core } = this;
    core.requireOpen();
    const snapshot = toSnapshot(core, this.#requireKept());
    const batch = await this.#opening.again();
    try {
      batch.load(snapshot.words);
      await batch.read();
    } catch (error) {
      batch.close();
      throw error;
    }
    core.batch.close();
    core.batch = batch;
    return this.#restored(snapshot);
  }

  #restored(snapshot: Snapshot): StepResult {
    const { core } = this;
    core.requireAttached();
    this.#reading.changed();
    hasRestored(core, snapshot);
    return core.shown.current();
  }

  #requireKept(): Uint8Array {
    if (this.#kept !== null) return this.#kept;
    throw new StateError(
      'no_snapshot',
      'Expected a snapshot to go on from, got none: snapshot() was not called here. Create a new environment, and ' +
        'call its snapshot() from time to time.',
    );
  }

  /** Reads all, after a call that ended no episode. */
  async #readAfterChange(): Promise<void> {
    this.#reading.changed();
    await readBack(this.core);
  }

  async history(i: number, last: number): Promise<HistoryStep[]> {
    const { core } = this;
    core.requireReset();
    checkInteger('i', i, 0, core.numEnvs - 1);
    checkInteger('last', last, 0, NUM_STEPS);
    requireOwnPast(core, [i]);
    return relive(core.world, core.imagination, await core.batch.save(Uint32Array.of(i)), last);
  }

  async targets(): Promise<Float32Array> {
    this.core.requireReset();
    return this.core.batch.targets();
  }

  async stateHash(): Promise<BigUint64Array> {
    this.core.requireReset();
    return this.core.batch.stateHash();
  }
}
