/// <reference lib="esnext.disposable" preserve="true" />
/** AsyncVecEnv: the same environment where what comes back is a promise, so that it can be computed elsewhere. */
import type { AsyncBatch, Device, OutputName } from '../backends/async-backend.js';
import { openAsyncBatch } from '../backends/open.js';
import type { Platform } from '../backends/platform.js';
import { InputError } from '../errors.js';
import { HISTORY_STEPS, type HistoryStep } from '../observe/record.js';
import type { Actions } from '../validate/steps.js';
import { taken, takenOptions } from '../validate/taken.js';
import { describe, readOptions } from '../validate/values.js';
import { AsyncTurns, type Opening } from './async-turns.js';
import { CallQueue } from './call-queue.js';
import { Core } from './core.js';
import { toDeviceOptions } from './device-options.js';
import {
  ASYNC_OPTIONS,
  type AsyncRunOptionsFrom,
  type AsyncVecEnvOptions,
  FORK_OPTIONS,
  type ForkOptions,
  type ResetOptions,
  type RunResult,
  STEP_OPTIONS,
  type StepOptions,
  type StepResult,
} from './options.js';
import { type Counters, countersOf, EnvProperties } from './properties.js';
import type { RunChoice } from './requests.js';
import { type Settings, toSettings } from './settings.js';
import { longestArgument, takenBytes, takenReset, takenRun } from './taken-calls.js';

/** How a run is played, and from where. */
export type AsyncRunOptions = AsyncRunOptionsFrom<AsyncVecEnv>;

/** An option that is left out. */
const NONE = Object.freeze({});

/** Opens an environment with what a platform can compute with. @throws as `createAsyncVecEnv`. */
export async function openAsyncVecEnv(platform: Platform, options: AsyncVecEnvOptions): Promise<AsyncVecEnv> {
  const { webgpu, ...others } = readOptions('options', options, ASYNC_OPTIONS);
  const device = toDeviceOptions(webgpu);
  const open = async (settings: Settings): Promise<Opening> => {
    const opened = await openAsyncBatch(platform, settings, settings, device);
    return { core: new Core(settings, opened), again: opened.again, open };
  };
  return new AsyncVecEnv(new AsyncTurns(await open(toSettings(others))));
}

/**
 * A batch of episodes, as VecEnv is, whose methods return promises. Calls take effect one after the other, in the order
 * in which they are made; none has to be awaited before the next. What a call is given is copied when it is made: its
 * arrays are the caller's again at once. Errors reject; a call that is refused changes nothing, and those after it go
 * on. After a device was lost every call that needs it rejects with BackendError `device_lost`: see `reopen`.
 */
export class AsyncVecEnv extends EnvProperties {
  readonly #turns: AsyncTurns;
  readonly #calls = new CallQueue();
  /** Entries of the longest argument that any call has. */
  readonly #most: number;

  /** Use `createAsyncVecEnv`. */
  constructor(turns: AsyncTurns) {
    super(turns.core);
    this.#turns = turns;
    this.#most = longestArgument(this.numEnvs);
  }

  /** The device that the episodes live on; null if a processor computes them. */
  get device(): Device | null {
    return this.#turns.core.batch.device;
  }

  /** Since the environment was opened: steps taken by all slots together, and episodes that ended. */
  get counters(): Counters {
    return countersOf(this.#turns.core);
  }

  /** As `VecEnv.reset`. */
  async reset(options: ResetOptions = NONE): Promise<StepResult> {
    const asked = takenReset(options, this.#most);
    return this.#calls.add(() => this.#turns.reset(asked));
  }

  /** As `VecEnv.step`: `submit`, then `read` of all. */
  async step(actions: Actions, options: StepOptions = NONE): Promise<StepResult> {
    const codes = taken(actions, this.#most);
    const asked = takenOptions(options, STEP_OPTIONS, this.#most);
    return this.#calls.add(() => this.#turns.step(codes, asked));
  }

  /**
   * The same step without reading anything back: settles as soon as it is queued. Which slots end and begin anew is
   * known without reading, so autoreset goes on. What views show until the next `read` is not said. An environment that
   * shows histories has to read observations at every step all the same.
   * @throws as `VecEnv.step`.
   */
  async submit(actions: Actions, options: StepOptions = NONE): Promise<void> {
    const codes = taken(actions, this.#most);
    const asked = takenOptions(options, STEP_OPTIONS, this.#most);
    return this.#calls.add(() => this.#turns.submit(codes, asked));
  }

  /**
   * Brings back what the slots show after all that was called before.
   * @param which names of outputs: the others keep what they show. `finalObservations` bring `finalMask` along. Default:
   *   all.
   * @throws InputError `unknown_name`, `wrong_type`; StateError `not_reset`, `closed`.
   */
  async read(which?: readonly OutputName[]): Promise<StepResult> {
    const names = taken(which, this.#most);
    return this.#calls.add(() => this.#turns.read(names));
  }

  /**
   * As `VecEnv.run`. With `onProgress` or `signal` the run is cut into slices, between which others have their turn: the
   * signal may be aborted from anywhere. Calls made meanwhile, from `onProgress` too, wait until the run is over.
   */
  async run(choice: RunChoice, options: AsyncRunOptions = NONE): Promise<RunResult> {
    const tape = taken(choice, this.#most);
    const asked = takenRun(options, this.#most);
    return this.#addWith(asked?.from?.source, () => this.#turns.run(tape, asked, AsyncVecEnv.#coreOf));
  }

  /** As `VecEnv.fork`. */
  async fork(indices: ArrayLike<number>, changes: ForkOptions = NONE): Promise<AsyncVecEnv> {
    const slots = taken(indices, this.#most);
    const asked = takenOptions(changes, FORK_OPTIONS, this.#most);
    return this.#calls.add(async () => new AsyncVecEnv(await this.#turns.fork(slots, asked)));
  }

  /** As `VecEnv.assign`. */
  async assign(source: AsyncVecEnv, indices: ArrayLike<number>): Promise<StepResult> {
    const slots = taken(indices, this.#most);
    return this.#addWith(source, () => this.#turns.assign(source, slots, AsyncVecEnv.#coreOf));
  }

  /**
   * As `VecEnv.snapshot`, with the same bytes: a VecEnv restores them too. The environment keeps a copy for `reopen`,
   * until the next snapshot.
   */
  async snapshot(): Promise<Uint8Array> {
    return this.#calls.add(() => this.#turns.snapshot());
  }

  /** As `VecEnv.restore`. */
  async restore(bytes: Uint8Array): Promise<StepResult> {
    const given = takenBytes(bytes);
    return this.#calls.add(() => this.#turns.restore(given));
  }

  /**
   * Opens another batch on the same backend, which goes on from the last snapshot that `snapshot` gave: for when a device
   * was lost, and with it all that episodes have done since. Where nothing was lost it does the same.
   * @returns what the slots show.
   * @throws StateError `no_snapshot` if there is none, `closed`; BackendError if no batch can be opened. The environment
   *   is then as it was before.
   */
  async reopen(): Promise<StepResult> {
    return this.#calls.add(() => this.#turns.reopen());
  }

  /** As `VecEnv.history`. */
  async history(i: number, last = HISTORY_STEPS): Promise<HistoryStep[]> {
    return this.#calls.add(() => this.#turns.history(i, last));
  }

  /** As `VecEnv.beliefTargets`. */
  async beliefTargets(): Promise<Float32Array> {
    return this.#calls.add(() => this.#turns.targets());
  }

  /** As `VecEnv.stateHash`. */
  async stateHash(): Promise<BigUint64Array> {
    return this.#calls.add(() => this.#turns.stateHash());
  }

  /**
   * Frees the batch once all that was called before is done; abort a run's signal so as not to wait for it. What is
   * called afterwards rejects with StateError `closed`. Views stay readable; closing again does nothing.
   */
  async close(): Promise<void> {
    return this.#calls.add(() => this.#turns.core.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A call on this environment and, if it is another one, on its source. */
  #addWith<T>(source: unknown, body: () => Promise<T>): Promise<T> {
    const other = source instanceof AsyncVecEnv && source !== this ? source.#calls : undefined;
    return this.#calls.add(body, other);
  }

  static #coreOf(what: string, env: AsyncVecEnv): Core<AsyncBatch> {
    if (env instanceof AsyncVecEnv) return env.#turns.core;
    throw new InputError(
      'wrong_type',
      `Expected ${what} to be an AsyncVecEnv, got ${describe(env)}. Pass the environment to copy from.`,
    );
  }
}
