/// <reference lib="esnext.disposable" preserve="true" />
/** AsyncVecEnv: VecEnv with promises, for any backend, including those that compute asynchronously. */
import { readOptions, wrongType } from '../../shared/values.js';
import { MAX_ENVS, NUM_BELIEFS, NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import type { OutputName, TrajectoryField } from '../backends/backend.js';
import { type Device, toDeviceOptions } from '../backends/device-options.js';
import { isAsynchronous, type Platform } from '../backends/open-batch.js';
import { type EngineCalls, runAsync } from '../engine-calls.js';
import { isGrader } from '../graders/grader.js';
import { HISTORY_STEPS, type HistoryStep } from '../observe/history.js';
import { copyArgument, copyOptions } from '../validate/copy-arguments.js';
import type { GraderChoice } from '../validate/profiles.js';
import { START_OPTIONS } from '../validate/starts.js';
import type { Actions } from '../validate/steps.js';
import { toSettings } from './check-options.js';
import type { Core } from './core.js';
import { EnvCalls } from './env-calls.js';
import { EnvProperties } from './properties.js';
import type { RunChoice } from './runs.js';
import { openVecEnv, VecEnv } from './vec-env.js';
import {
  ASYNC_OPTIONS,
  ASYNC_RUN_OPTIONS,
  type AsyncRunOptionsFrom,
  type AsyncVecEnvOptions,
  FORK_OPTIONS,
  type ForkOptions,
  FROM_OPTIONS,
  IMAGINED_OPTIONS,
  RESET_OPTIONS,
  type ResetOptions,
  type RunResult,
  STEP_OPTIONS,
  type StepOptions,
  type StepResult,
  type VecEnvOptions,
} from './vec-env-options.js';

/** Options of an asynchronous run. */
export type AsyncRunOptions<Field extends TrajectoryField = TrajectoryField> = AsyncRunOptionsFrom<
  AsyncVecEnv,
  Field
>;

/** The default options of a call. */
const NO_OPTIONS = Object.freeze({});

/** Opens a vector environment with a platform's backends. @throws as `createAsyncVecEnv`. */
export async function openAsyncVecEnv(platform: Platform, options: AsyncVecEnvOptions): Promise<AsyncVecEnv> {
  const { webgpu, ...others } = readOptions('options', options, ASYNC_OPTIONS);
  const device = toDeviceOptions(webgpu);
  return new AsyncVecEnv(await runAsync(EnvCalls.open(platform, toSettings(others), device)));
}

/**
 * A batch of episodes, like VecEnv, whose methods return promises. Calls take effect in the order in which they are made; the
 * caller need not await one before the next. Arguments are copied during the call, so the caller may reuse its arrays at once.
 * Errors reject the promise. A refused call changes nothing, and later calls proceed. A failed run with `onProgress` or
 * `signal` keeps its finished slices. After the loss of a device, every call that needs the device rejects with BackendError
 * `device_lost`: see `reopen`.
 */
export class AsyncVecEnv extends EnvProperties {
  readonly #calls: EnvCalls;
  readonly #queue = new CallQueue();
  readonly #maxLength: number;

  /** Use `createAsyncVecEnv`. */
  constructor(calls: EnvCalls) {
    super(calls.core);
    this.#calls = calls;
    this.#maxLength = longestArgument(this.numEnvs);
  }

  /** The device of the batch; null for a batch on the processor. */
  get device(): Device | null {
    return this.#calls.core.batch.device ?? null;
  }

  /** Does the same as `VecEnv.reset`. */
  async reset(options: ResetOptions = NO_OPTIONS): Promise<StepResult> {
    const copiedOptions = copyResetOptions(options, this.#maxLength);
    return this.#add(this.#calls.reset(copiedOptions));
  }

  /** Does the same as `VecEnv.step`: `submit`, then `read` of all outputs. */
  async step(actions: Actions, options: StepOptions = NO_OPTIONS): Promise<StepResult> {
    const codes = copyArgument(actions, this.#maxLength);
    const copiedOptions = copyOptions(options, STEP_OPTIONS, this.#maxLength);
    return this.#add(this.#calls.step(codes, copiedOptions));
  }

  /**
   * Takes a step without reading outputs back. Does not wait for the device to compute the step. Autoreset applies. The
   * values of the views are unspecified until the next `read`. With histories, every step still reads the observations back.
   * @throws as `VecEnv.step`.
   */
  async submit(actions: Actions, options: StepOptions = NO_OPTIONS): Promise<void> {
    const codes = copyArgument(actions, this.#maxLength);
    const copiedOptions = copyOptions(options, STEP_OPTIONS, this.#maxLength);
    return this.#add(this.#calls.submit(codes, copiedOptions));
  }

  /**
   * Reads back the outputs of all earlier calls.
   * @param which the outputs to read, by name; the other outputs keep their values. With `finalObservations` it also reads
   *   `finalMask`. Default: all.
   * @throws InputError `unknown_name`, `wrong_type`; StateError `not_reset`, `closed`.
   */
  async read(which?: readonly OutputName[]): Promise<StepResult> {
    const names = copyArgument(which, this.#maxLength);
    return this.#add(this.#calls.read(names));
  }

  /**
   * Does the same as `VecEnv.run`. With `onProgress` or `signal` the run is split into slices and yields to the event loop
   * between them, so that any code can abort the signal. Calls made during the run, also from `onProgress`, begin after it.
   */
  async run<Field extends TrajectoryField = TrajectoryField>(
    choice: RunChoice,
    options: AsyncRunOptions<Field> = NO_OPTIONS,
  ): Promise<RunResult<Field>> {
    const copiedChoice = copyArgument(choice, this.#maxLength);
    const copiedOptions = copyRunOptions(options, this.#maxLength);
    const run = this.#calls.run(copiedChoice, copiedOptions, AsyncVecEnv.#coreOf);
    return this.#add(run, copiedOptions?.from?.source);
  }

  /** Does the same as `VecEnv.fork`. */
  async fork(indices: ArrayLike<number>, changes: ForkOptions = NO_OPTIONS): Promise<AsyncVecEnv> {
    const origins = copyArgument(indices, this.#maxLength);
    const copiedOptions = copyForkOptions(changes, this.#maxLength);
    return new AsyncVecEnv(await this.#add(this.#calls.fork(origins, copiedOptions)));
  }

  /** Does the same as `VecEnv.assign`. */
  async assign(source: AsyncVecEnv, indices: ArrayLike<number>): Promise<StepResult> {
    const origins = copyArgument(indices, this.#maxLength);
    return this.#add(this.#calls.assign(source, origins, AsyncVecEnv.#coreOf), source);
  }

  /**
   * Does the same as `VecEnv.snapshot`. A VecEnv can restore the bytes. Keeps a copy for `reopen`, until the next snapshot.
   */
  async snapshot(): Promise<Uint8Array> {
    return this.#add(this.#calls.snapshot());
  }

  /** Does the same as `VecEnv.restore`. */
  async restore(bytes: Uint8Array): Promise<StepResult> {
    const copy = copyBytes(bytes);
    return this.#add(this.#calls.restore(copy));
  }

  /**
   * Opens another batch on the same backend and restores the last result of `snapshot`. Call it after the loss of a device.
   * Steps since the snapshot are lost.
   * @returns the outputs.
   * @throws StateError `no_snapshot` if `snapshot` was not called, `closed`; BackendError if no batch can be opened. An
   *   error changes nothing.
   */
  async reopen(): Promise<StepResult> {
    return this.#add(this.#calls.reopen());
  }

  /** Does the same as `VecEnv.history`. */
  async history(i: number, last = HISTORY_STEPS): Promise<HistoryStep[]> {
    return this.#add(this.#calls.history(i, last));
  }

  /** Does the same as `VecEnv.beliefTargets`. */
  async beliefTargets(): Promise<Float32Array> {
    return this.#add(this.#calls.beliefTargets());
  }

  /** Does the same as `VecEnv.stateHash`. */
  async stateHash(): Promise<BigUint64Array> {
    return this.#add(this.#calls.stateHash());
  }

  /**
   * Frees the batch after all earlier calls. Abort the signal of a run to end the run early. Later calls reject with
   * StateError `closed`. Views stay readable. A second `close` does nothing.
   */
  async close(): Promise<void> {
    return this.#queue.add(() => this.#calls.core.close());
  }

  /** `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Queues a call in this environment and, if it has another environment as its source, in that queue too. */
  #add<T>(call: EngineCalls<T>, source?: unknown): Promise<T> {
    const other = source instanceof AsyncVecEnv && source !== this ? source.#queue : undefined;
    return this.#queue.add(() => runAsync(call), other);
  }

  static #coreOf(what: string, env: AsyncVecEnv): Core {
    if (env instanceof AsyncVecEnv) return env.#calls.core;
    throw wrongType(what, 'an AsyncVecEnv', env, 'Pass the AsyncVecEnv to copy from.');
  }
}

const ignore = (): void => {};

/** The calls of one object, such as an `AsyncVecEnv`. */
export class CallQueue {
  /** Resolves when the last call has settled. Never rejects. */
  #last: Promise<void> = Promise.resolve();

  /**
   * Adds a call, which begins when all earlier calls have settled, with or without errors.
   * @param other another queue to which the call is added too.
   */
  add<T>(body: () => T | Promise<T>, other?: CallQueue): Promise<T> {
    const earlier = other === undefined ? this.#last : Promise.all([this.#last, other.#last]);
    const call = earlier.then(body);
    this.#last = call.then(ignore, ignore);
    if (other !== undefined) other.#last = this.#last;
    return call;
  }
}

/**
 * Returns the number of entries in the longest valid argument of a call on `numEnvs` environments, apart from imagined
 * profiles and snapshots: the beliefs of a run, or the indices of a fork.
 */
const longestArgument = (numEnvs: number): number => Math.max(numEnvs * NUM_STEPS * NUM_BELIEFS, MAX_ENVS);

/** Copies a reset's options, its graders and its `start`, arrays included. */
function copyResetOptions(options: ResetOptions, maxLength: number): ResetOptions {
  const copied = copyOptions(options, RESET_OPTIONS, maxLength);
  const { start, graders } = copied ?? {};
  if (start === undefined && graders === undefined) return copied;
  return {
    ...copied,
    ...(start !== undefined && { start: copyOptions(start, START_OPTIONS, maxLength) }),
    ...(graders !== undefined && { graders: copyGraders(graders) }),
  };
}

/** Copies a grader, or the graders of a list. Validation follows, so the values may have other types. */
function copyGraders(graders: GraderChoice): GraderChoice {
  const copy = <T>(grader: T): T =>
    isGrader(grader) ? { ...grader, weights: copyObject(grader.weights) } : grader;
  return Array.isArray(graders) ? graders.map(copy) : copy(graders);
}

const copyObject = <T extends object>(value: T): T =>
  typeof value === 'object' && value !== null ? { ...value } : value;

/** Copies a fork's options and its `imagination`, arrays included. */
function copyForkOptions(options: ForkOptions, maxLength: number): ForkOptions {
  const copied = copyOptions(options, FORK_OPTIONS, maxLength);
  const imagination = copied?.imagination;
  if (typeof imagination !== 'object') return copied;
  // Imagined profiles may be longer than `longestArgument`.
  return { ...copied, imagination: copyOptions(imagination, IMAGINED_OPTIONS, MAX_ENVS * PROFILE_SIZE) };
}

/** Copies a run's options and its `from`, arrays included. The source environment is not copied. */
function copyRunOptions<Env, Field extends TrajectoryField>(
  options: AsyncRunOptionsFrom<Env, Field>,
  maxLength: number,
): AsyncRunOptionsFrom<Env, Field> {
  const copied = copyOptions(options, ASYNC_RUN_OPTIONS, maxLength);
  const from = copied?.from;
  return from === undefined ? copied : { ...copied, from: copyOptions(from, FROM_OPTIONS, maxLength) };
}

/** Copies the bytes of a snapshot, of any length. `restore` checks the length later. */
const copyBytes = (bytes: Uint8Array): Uint8Array => copyArgument(bytes, Number.MAX_SAFE_INTEGER);

/** An environment of the synchronous or the asynchronous API. Await the results of its calls. */
export type Env = VecEnv | AsyncVecEnv;

/**
 * Opens a vector environment with a platform's backends: an AsyncVecEnv on a backend whose calls return promises, and
 * a VecEnv on any other. 'auto' chooses as in `createVecEnv`.
 * @throws as `createVecEnv`.
 */
export function openEnvOn(platform: Platform, options: VecEnvOptions): Env | Promise<Env> {
  return isAsynchronous(platform, options.backend)
    ? openAsyncVecEnv(platform, options)
    : openVecEnv(platform, options);
}

/** Calls `env.assign(source, indices)`. The source must be of the same API as `env`. @throws as `VecEnv.assign`. */
export function assignEnv(
  env: Env,
  source: Env,
  indices: ArrayLike<number>,
): StepResult | Promise<StepResult> {
  return env instanceof VecEnv
    ? env.assign(source as VecEnv, indices)
    : env.assign(source as AsyncVecEnv, indices);
}
