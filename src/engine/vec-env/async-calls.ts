/** The calls of an asynchronous environment. AsyncVecEnv makes one call at a time, with copied arguments. */

import { StateError } from '../../shared/errors.js';
import { checkInteger } from '../../shared/values.js';
import { NUM_STEPS } from '../../world/fields.js';
import type { AsyncBatch, OutputName } from '../backends/async-backend.js';
import type { TrajectoryField } from '../backends/backend.js';
import type { HistoryStep } from '../observe/past-step.js';
import { replayHistory } from '../observe/replay-history.js';
import type { Snapshot } from '../snapshot/format.js';
import type { Actions } from '../validate/steps.js';
import type { Settings } from './check-options.js';
import {
  checkAlike,
  checkCopies,
  commitGather,
  commitRestore,
  needsReplay,
  requireAllReplayable,
  requireReplayable,
  toFork,
  toIndices,
  toSnapshot,
  toSnapshotBytes,
} from './copy-states.js';
import type { Core } from './core.js';
import { commitImagined, imagineStates } from './imagined-states.js';
import { ReadState, readBack, toOutputNames } from './read-outputs.js';
import { type RunChoice, throwIfRefused } from './run-requests.js';
import { requestedFields } from './run-trajectory.js';
import { runAsyncInSlices, toRun } from './sliced-runs.js';
import {
  ASYNC_RUN_OPTIONS,
  type AsyncRunOptionsFrom,
  type ForkOptions,
  type ResetOptions,
  type RunResult,
  type StepOptions,
  type StepResult,
} from './vec-env-options.js';

/** The core of an environment, and functions that open more batches on its backend. */
export interface OpenedCore {
  readonly core: Core<AsyncBatch>;
  /** Opens another batch that writes the same outputs. */
  reopen(): Promise<AsyncBatch>;
  /** Opens the core of a fork. */
  open(settings: Settings): Promise<OpenedCore>;
}

/** Returns the core of an environment. @throws InputError `wrong_type` for another value; `what` is its name in the error. */
type CoreOf<Env> = (what: string, env: Env) => Core<AsyncBatch>;

/** The outputs that a history needs. */
const HISTORY_OUTPUTS: readonly OutputName[] = ['observations', 'finalObservations', 'finalMask'];

/** The methods of an AsyncVecEnv, without its queue and without copies of the arguments. */
export class AsyncCalls {
  readonly core: Core<AsyncBatch>;
  readonly #opened: OpenedCore;
  readonly #reading: ReadState;
  /** A copy of the last result of `snapshot`. */
  #lastSnapshot: Uint8Array | null = null;

  constructor(opened: OpenedCore) {
    this.core = opened.core;
    this.#opened = opened;
    this.#reading = new ReadState(opened.core);
  }

  async reset(options: ResetOptions): Promise<StepResult> {
    const { core } = this;
    core.requireOpen();
    const request = core.toReset(options);
    core.batch.reset(request);
    core.commitReset(request);
    await this.#readAfterChange();
    return core.stepOutputs.afterReset(request.mask);
  }

  async submit(actions: Actions, options: StepOptions): Promise<void> {
    const { core } = this;
    core.requireReset();
    const request = core.toStep(actions, options);
    throwIfRefused(core.batch.submit(request));
    core.commitStep(request);
    this.#reading.commitStep();
    if (core.stepOutputs.history === null) return;
    // A history records every step, so each step's outputs are read back.
    const names = HISTORY_OUTPUTS.filter((name) => core.outputs[name] !== null);
    await readBack(core, names);
    core.stepOutputs.afterStep(request);
  }

  async step(actions: Actions, options: StepOptions): Promise<StepResult> {
    await this.submit(actions, options);
    return this.read();
  }

  async read(which?: readonly OutputName[]): Promise<StepResult> {
    this.core.requireReset();
    await this.#reading.read(which === undefined ? undefined : toOutputNames(which));
    return this.core.stepOutputs.result();
  }

  async run<Env, Field extends TrajectoryField>(
    choice: RunChoice,
    options: AsyncRunOptionsFrom<Env, Field>,
    coreOf: CoreOf<Env>,
  ): Promise<RunResult<Field>> {
    const { core } = this;
    core.requireOpen();
    const run = toRun(core, choice, options, ASYNC_RUN_OPTIONS, coreOf);
    const which = options.outputs === undefined ? undefined : toOutputNames(options.outputs);
    throwIfRefused(await runAsyncInSlices(core, run, (envs) => this.#reading.commitChange(envs), which));
    return {
      ...core.stepOutputs.result(),
      trajectory: requestedFields<Field>(run.request.trajectory, run.options),
    };
  }

  async fork(indices: ArrayLike<number>, changes: ForkOptions): Promise<AsyncCalls> {
    const { core } = this;
    core.requireReset();
    const origins = toIndices(indices, null, core, null);
    const { settings, imagined } = toFork(core, origins, changes);
    const states = imagined && imagineStates(core, await core.batch.save(origins), origins, imagined);
    const fork = new AsyncCalls(await this.#opened.open(settings));
    try {
      await fork.#gather(core, origins);
      if (states !== null) {
        // Keeps the copied outputs, which the agent has observed.
        fork.core.batch.load(states, true);
        commitImagined(fork.core, states);
      }
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
    return this.#gather(from, toIndices(indices, core.numEnvs, from, core.overwritten));
  }

  /** Makes environment i a copy of environment indices[i] of `source`: state, outputs and bookkeeping. */
  async #gather(source: Core<AsyncBatch>, indices: Uint32Array): Promise<StepResult> {
    const { core } = this;
    checkCopies(core, source, indices);
    core.batch.gather(source.batch, indices);
    const words = needsReplay(core, source) ? await source.batch.save(indices) : null;
    await this.#readAfterChange();
    commitGather(core, source, indices, words);
    return core.stepOutputs.current();
  }

  async snapshot(): Promise<Uint8Array> {
    const { core } = this;
    core.requireReset();
    requireAllReplayable(core);
    const bytes = toSnapshotBytes(core, await core.batch.save());
    this.#lastSnapshot = bytes.slice();
    return bytes;
  }

  async restore(bytes: Uint8Array): Promise<StepResult> {
    const { core } = this;
    core.requireOpen();
    const snapshot = toSnapshot(core, bytes);
    core.batch.load(snapshot.words);
    await readBack(core);
    return this.#finishRestore(snapshot);
  }

  async reopen(): Promise<StepResult> {
    const { core } = this;
    core.requireOpen();
    const snapshot = toSnapshot(core, this.#requireSnapshot());
    const batch = await this.#opened.reopen();
    try {
      batch.load(snapshot.words);
      await batch.read();
    } catch (error) {
      batch.close();
      throw error;
    }
    core.batch.close();
    core.batch = batch;
    return this.#finishRestore(snapshot);
  }

  #finishRestore(snapshot: Snapshot): StepResult {
    const { core } = this;
    core.requireAttached();
    this.#reading.commitChange();
    commitRestore(core, snapshot);
    return core.stepOutputs.current();
  }

  #requireSnapshot(): Uint8Array {
    if (this.#lastSnapshot !== null) return this.#lastSnapshot;
    throw new StateError(
      'no_snapshot',
      'Expected a snapshot to continue from, got none: snapshot() was not called on this environment. Create a new ' +
        'environment, and call its snapshot() from time to time.',
    );
  }

  /** Reads all outputs after a call that ended no episode. */
  async #readAfterChange(): Promise<void> {
    this.#reading.commitChange();
    await readBack(this.core);
  }

  async history(i: number, last: number): Promise<HistoryStep[]> {
    const { core } = this;
    core.requireReset();
    checkInteger('i', i, 0, core.numEnvs - 1);
    checkInteger('last', last, 0, NUM_STEPS);
    requireReplayable(core, [i]);
    return replayHistory(core.world, core.imagination, await core.batch.save(Uint32Array.of(i)), last);
  }

  async beliefTargets(): Promise<Float32Array> {
    this.core.requireReset();
    return this.core.batch.beliefTargets();
  }

  async stateHash(): Promise<BigUint64Array> {
    this.core.requireReset();
    return this.core.batch.stateHash();
  }
}
