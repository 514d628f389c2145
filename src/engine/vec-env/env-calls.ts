/**
 * The calls of a vector environment, written once: VecEnv drives them with `runSync`, AsyncVecEnv with `runAsync`, one after
 * the other and with copied arguments. Their doc comments are those of the methods of VecEnv and AsyncVecEnv.
 */

import { StateError } from '../../shared/errors.js';
import { checkInteger } from '../../shared/values.js';
import { NUM_STEPS } from '../../world/fields.js';
import type { OutputName, TrajectoryField } from '../backends/backend.js';
import type { DeviceOptions } from '../backends/device-options.js';
import { type OpenedBatch, openFrom, type Platform } from '../backends/open-batch.js';
import { type EngineCalls, resultOf, yieldTurn } from '../engine-calls.js';
import type { HistoryStep, ReplayHistory } from '../observe/history.js';
import type { Snapshot } from '../snapshot/format.js';
import type { Actions } from '../validate/steps.js';
import type { Settings } from './check-options.js';
import {
  checkCopies,
  commitGather,
  commitRestore,
  needsReplay,
  requireAllReplayable,
  requireReplayable,
  toAssigned,
  toIndices,
  toSnapshot,
  toSnapshotBytes,
} from './copy-states.js';
import { Core } from './core.js';
import { commitImagined, imagineStates, toFork } from './forks.js';
import { type RunChoice, requestedFields, runInSlices, throwIfRefused, toRun } from './runs.js';
import { OUTPUT_NAMES, toOutputNames } from './step-outputs.js';
import {
  ASYNC_RUN_OPTIONS,
  type AsyncRunOptionsFrom,
  type ForkOptions,
  type ResetOptions,
  RUN_OPTIONS,
  type RunResult,
  type StepOptions,
  type StepResult,
} from './vec-env-options.js';

/** Returns the core of an environment. @throws InputError `wrong_type` for another value; `what` is its name in the error. */
type CoreOf<Env> = (what: string, env: Env) => Core;
/** Opens a batch for an environment or its fork. */
type Open = (settings: Settings) => EngineCalls<OpenedBatch>;

/** The outputs that a history needs. */
const HISTORY_OUTPUTS: readonly OutputName[] = ['observations', 'finalObservations', 'finalMask'];

/** The calls of one vector environment. */
export class EnvCalls {
  readonly core: Core;
  /** Whether the environment is an AsyncVecEnv. */
  readonly #isAsync: boolean;
  readonly #open: Open;
  readonly #reopen: OpenedBatch['reopen'];
  /** A copy of the last result of `snapshot`, for `reopen`. */
  #lastSnapshot: Uint8Array | null = null;
  /** Whether the last call that changed states was a step. Only a step produces final observations. */
  #isAfterStep = false;
  /** The last call that changed states may have ended episodes of the environments before this index. */
  #end = 0;

  private constructor(
    settings: Settings,
    opened: OpenedBatch,
    replayHistory: ReplayHistory,
    isAsync: boolean,
    open: Open,
  ) {
    this.core = new Core(settings, opened, replayHistory);
    this.#isAsync = isAsync;
    this.#open = open;
    this.#reopen = opened.reopen;
  }

  /** Opens an environment on a platform. @param device for an AsyncVecEnv: how to use a device. @throws as `createVecEnv`. */
  static *open(platform: Platform, settings: Settings, device?: DeviceOptions): EngineCalls<EnvCalls> {
    const isAsync = device !== undefined;
    const open: Open = (forked) =>
      openFrom(platform, isAsync ? 'asyncBackends' : 'backends', forked, { ...forked, device });
    return new EnvCalls(settings, yield* open(settings), platform.replayHistory, isAsync, open);
  }

  *reset(options: ResetOptions): EngineCalls<StepResult> {
    const { core } = this;
    core.requireOpen();
    const request = core.toReset(options);
    core.batch.reset(request);
    core.commitReset(request);
    yield* this.#readAfterChange();
    return core.stepOutputs.afterReset(request.mask);
  }

  /** Does the same as `VecEnv.step`, whose own body avoids the time of a generator. */
  *step(actions: Actions, options: StepOptions): EngineCalls<StepResult> {
    yield* this.submit(actions, options);
    return yield* this.read();
  }

  *submit(actions: Actions, options: StepOptions): EngineCalls<void> {
    const { core } = this;
    core.requireReset();
    const request = core.toStep(actions, options);
    throwIfRefused(core.batch.submit(request));
    core.commitStep(request);
    this.#isAfterStep = true;
    this.#end = core.numEnvs;
    if (core.stepOutputs.history === null) return;
    // A history records every step, so each step's outputs are read back.
    yield* this.#readBack(HISTORY_OUTPUTS.filter((name) => core.outputs[name] !== null));
    core.stepOutputs.afterStep(request);
  }

  *read(which?: readonly OutputName[]): EngineCalls<StepResult> {
    const { core } = this;
    core.requireReset();
    yield* this.#read(which === undefined ? undefined : toOutputNames(which));
    return core.stepOutputs.result();
  }

  /** Reads outputs back and encodes observations. @param which names of outputs; all by default. */
  *#read(which?: readonly OutputName[]): EngineCalls<void> {
    const { outputs, stepOutputs } = this.core;
    const names = (which ?? OUTPUT_NAMES).filter((name) => outputs[name] !== null);
    // The encoding of final observations needs the mask.
    if (names.includes('finalObservations') && !names.includes('finalMask')) names.push('finalMask');
    yield* this.#readBack(which && names);
    if (names.includes('finalMask')) outputs.finalMask.fill(0, this.#end);
    stepOutputs.afterRead(names, this.#isAfterStep);
  }

  /**
   * Reads outputs of the batch back into their arrays. @param which names of outputs; all by default.
   * @throws StateError `outputs_detached` if their memory was transferred in the meantime.
   */
  *#readBack(which?: readonly OutputName[]): EngineCalls<void> {
    const { core } = this;
    const reading = core.batch.read(which);
    if (reading === undefined) return;
    try {
      yield* resultOf(reading);
    } catch (error) {
      // A batch with a detached buffer throws an unclear error. This check throws a clear one.
      core.requireAttached();
      throw error;
    }
    core.requireAttached();
  }

  /** Reads all outputs after a call that is not a step and ended no episode. */
  *#readAfterChange(): EngineCalls<void> {
    this.#commitChange();
    yield* this.#readBack();
  }

  /** Records a call that changed states and is not a step. @param end it may have ended episodes before this index. */
  #commitChange(end = 0): void {
    this.#isAfterStep = false;
    this.#end = end;
  }

  *run<Env, Field extends TrajectoryField>(
    choice: RunChoice,
    options: AsyncRunOptionsFrom<Env, Field>,
    coreOf: CoreOf<Env>,
  ): EngineCalls<RunResult<Field>> {
    const { core } = this;
    core.requireOpen();
    const run = toRun(core, choice, options, this.#isAsync ? ASYNC_RUN_OPTIONS : RUN_OPTIONS, coreOf);
    throwIfRefused(yield* this.#runInSlices(run));
    return {
      ...core.stepOutputs.result(),
      trajectory: requestedFields<Field>(run.request.trajectory, run.options),
    };
  }

  *#runInSlices(run: ReturnType<typeof toRun>): ReturnType<typeof runInSlices> {
    const read = () => this.#readBack(run.outputs);
    const pause = this.#isAsync ? yieldTurn : null;
    return yield* runInSlices(this.core, run, pause, read, (envs) => this.#commitChange(envs));
  }

  *fork(indices: ArrayLike<number>, changes: ForkOptions): EngineCalls<EnvCalls> {
    const { core } = this;
    core.requireReset();
    const origins = toIndices(indices, null, core, null);
    const { settings, imagined } = toFork(core, origins, changes);
    const states =
      imagined && imagineStates(core, yield* resultOf(core.batch.save(origins)), origins, imagined);
    const opened = yield* this.#open(settings);
    const fork = new EnvCalls(settings, opened, core.replayHistory, this.#isAsync, this.#open);
    try {
      checkCopies(fork.core, core, origins);
      yield* fork.#gather(core, origins);
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

  /** Does the same as `VecEnv.assign`, whose own body allocates nothing. */
  *assign<Env>(source: Env, indices: ArrayLike<number>, coreOf: CoreOf<Env>): EngineCalls<StepResult> {
    this.core.requireOpen();
    const from = coreOf('source', source);
    return yield* this.#gather(from, toAssigned(this.core, from, indices));
  }

  /** Makes environment i a copy of environment indices[i] of `source`: state, outputs and bookkeeping. */
  *#gather(source: Core, indices: Uint32Array): EngineCalls<StepResult> {
    const { core } = this;
    core.batch.gather(source.batch, indices);
    const words = needsReplay(core, source) ? yield* resultOf(source.batch.save(indices)) : null;
    yield* this.#readAfterChange();
    commitGather(core, source, indices, words);
    return core.stepOutputs.current();
  }

  *snapshot(): EngineCalls<Uint8Array> {
    const { core } = this;
    core.requireReset();
    requireAllReplayable(core);
    const bytes = toSnapshotBytes(core, yield* resultOf(core.batch.save()));
    if (this.#isAsync) this.#lastSnapshot = bytes.slice();
    return bytes;
  }

  *restore(bytes: Uint8Array): EngineCalls<StepResult> {
    const { core } = this;
    core.requireOpen();
    const snapshot = toSnapshot(core, bytes);
    core.batch.load(snapshot.words);
    yield* this.#readBack();
    return this.#finishRestore(snapshot);
  }

  *reopen(): EngineCalls<StepResult> {
    const { core } = this;
    core.requireOpen();
    const snapshot = toSnapshot(core, this.#requireSnapshot());
    const batch = yield* this.#reopen();
    try {
      batch.load(snapshot.words);
      yield* resultOf(batch.read());
    } catch (error) {
      batch.close();
      throw error;
    }
    core.batch.close();
    core.batch = batch;
    core.requireAttached();
    return this.#finishRestore(snapshot);
  }

  #finishRestore(snapshot: Snapshot): StepResult {
    const { core } = this;
    this.#commitChange();
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

  *history(i: number, last: number): EngineCalls<HistoryStep[]> {
    const { core } = this;
    core.requireReset();
    checkInteger('i', i, 0, core.numEnvs - 1);
    checkInteger('last', last, 0, NUM_STEPS);
    requireReplayable(core, [i]);
    const words = yield* resultOf(core.batch.save(Uint32Array.of(i)));
    return core.replayHistory(core.world, core.imagination, words, last);
  }

  *beliefTargets(): EngineCalls<Float32Array> {
    this.core.requireReset();
    return yield* resultOf(this.core.batch.beliefTargets());
  }

  *stateHash(): EngineCalls<BigUint64Array> {
    this.core.requireReset();
    return yield* resultOf(this.core.batch.stateHash());
  }
}
