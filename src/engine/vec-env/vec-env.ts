/// <reference lib="esnext.disposable" preserve="true" />
/** The synchronous API. */

import { wrongType } from '../../shared/values.js';
import type { TrajectoryField } from '../backends/backend.js';
import type { Platform } from '../backends/open-batch.js';
import { runSync } from '../engine-calls.js';
import { HISTORY_STEPS, type HistoryStep } from '../observe/history.js';
import type { Actions } from '../validate/steps.js';
import { toSettings } from './check-options.js';
import { commitGather, needsReplay, toAssigned } from './copy-states.js';
import type { Core } from './core.js';
import { EnvCalls } from './env-calls.js';
import { EnvProperties } from './properties.js';
import { type RunChoice, throwIfRefused } from './runs.js';
import type {
  ForkOptions,
  ResetOptions,
  RunOptionsFrom,
  RunResult,
  StepOptions,
  StepResult,
  VecEnvOptions,
} from './vec-env-options.js';

/** Options of a run. */
export type RunOptions<Field extends TrajectoryField = TrajectoryField> = RunOptionsFrom<VecEnv, Field>;

/** The default options of a call: one object, so that a call allocates none. */
const NO_OPTIONS = Object.freeze({});

/** Opens a vector environment with a platform's backends. @throws as `createVecEnv`. */
export function openVecEnv(platform: Platform, options: VecEnvOptions): VecEnv {
  return new VecEnv(runSync(EnvCalls.open(platform, toSettings(options))));
}

/**
 * A batch of episodes. Every method except `close` also throws InputError `wrong_type` for an argument of a wrong type, and
 * StateError `outputs_detached` after the memory of a view was transferred.
 */
export class VecEnv extends EnvProperties {
  readonly #calls: EnvCalls;
  readonly #core: Core;

  /** Use `createVecEnv`. */
  constructor(calls: EnvCalls) {
    super(calls.core);
    this.#calls = calls;
    this.#core = calls.core;
  }

  /**
   * Begins a new episode in every environment, or in the environments of a mask.
   * @returns the outputs. The rewards and grades of reset environments are 0; `finalMask` is 0 everywhere.
   * @throws InputError `bad_seed`, `unknown_name`, `bad_profile`, `bad_grader`, `out_of_range` or `bad_belief` (in `start`),
   *   `wrong_length`, `unknown_option`; StateError `not_reset` (a mask at the first reset), `closed`. An error changes
   *   nothing.
   */
  reset(options: ResetOptions = NO_OPTIONS): StepResult {
    return runSync(this.#calls.reset(options));
  }

  /**
   * Takes one action in every environment, or in the environments of a mask. Then the option `autoreset` applies.
   * @param actions codes 0..9, one per environment; a Uint8Array is used without a copy. Codes of environments that do
   *   not step are ignored.
   * @throws InputError `illegal_action`, `bad_belief`, `wrong_length`, `unknown_option`; StateError `episode_over` (an
   *   episode to step has ended), `not_reset`, `closed`. An error changes nothing.
   */
  step(actions: Actions, options: StepOptions = NO_OPTIONS): StepResult {
    const core = this.#core;
    core.requireReset();
    const request = core.toStep(actions, options);
    throwIfRefused(core.batch.submit(request));
    core.commitStep(request);
    return core.stepOutputs.afterStep(request);
  }

  /**
   * Plays every episode from its current state to its end, or to its step in `stops`, in one call. Autoreset does not
   * apply. With `from`, each environment first becomes a copy of an environment of another vector environment, as with
   * `assign`. The copy is made in the same pass over the memory, so many rollouts from one state take little more time than
   * their steps. This vector environment then need not have been reset.
   * @param choice 'random', 'heuristic', or action sequences, u8 [numEnvs, 28]: entry t is the action of step t.
   * @throws InputError `unknown_name`, `illegal_action`, `bad_belief`, `bad_seed` (of `policySeeds`), `out_of_range`,
   *   `wrong_length`, `unknown_option`; StateError `not_reset`, `closed`; with `from`, the errors of `assign`, and
   *   InputError `not_alike` if the source is this vector environment; the signal's reason if it was aborted. During
   *   `onProgress` every method throws StateError `busy`.
   */
  run<Field extends TrajectoryField = TrajectoryField>(
    choice: RunChoice,
    options: RunOptions<Field> = NO_OPTIONS,
  ): RunResult<Field> {
    return runSync(this.#calls.run(choice, options, VecEnv.#coreOf));
  }

  /**
   * Returns a new vector environment with the same options. Its environments are copies of the environments at `indices`.
   * @param indices in any order; repetitions are allowed. @param changes options that differ.
   * @throws InputError `out_of_range`, `wrong_length`, `unknown_option`, or for a change as `createVecEnv`; StateError
   *   `not_reset`, `closed`; BackendError `out_of_memory`. With imagined profiles also InputError `bad_profile`, `bad_seed`;
   *   StateError `episode_over`, or `foreign_past` for an episode that cannot be replayed or that began after step 0.
   */
  fork(indices: ArrayLike<number>, changes: ForkOptions = NO_OPTIONS): VecEnv {
    return new VecEnv(runSync(this.#calls.fork(indices, changes)));
  }

  /**
   * Makes environment i a copy of environment indices[i] of `source`: episode and outputs. Allocates nothing if `indices`
   * is a Uint32Array, the source is another object, `copy` is off and no histories must be replayed.
   * @param source a vector environment with the same backend and world; it may be this object.
   * @param indices [numEnvs]: indices of environments of the source.
   * @returns the outputs. `finalMask` is 0, because this call ends no episode.
   * @throws InputError `not_alike`, `out_of_range`, `wrong_length`, or `bad_seed` for a seed outside this vector
   *   environment's seedRange; StateError `not_reset` (the source), `closed`, or `foreign_past` if this vector environment
   *   has histories, the source has none, and an episode cannot be replayed. An error changes nothing.
   */
  assign(source: VecEnv, indices: ArrayLike<number>): StepResult {
    const core = this.#core;
    core.requireOpen();
    const from = VecEnv.#coreOf('source', source);
    const origins = toAssigned(core, from, indices);
    core.batch.gather(from.batch, origins);
    // The batch is synchronous.
    const words = needsReplay(core, from) ? (from.batch.save(origins) as Uint32Array) : null;
    commitGather(core, from, origins, words);
    return core.stepOutputs.current();
  }

  static #coreOf(what: string, env: VecEnv): Core {
    if (env instanceof VecEnv) return env.#core;
    throw wrongType(what, 'a VecEnv', env, 'Pass the VecEnv to copy from.');
  }

  /**
   * Returns the states as bytes, for `restore` in this or another vector environment, on any backend and kernel. The bytes
   * do not contain the options `profiles` and `grader`: after `restore`, a call of `reset` uses those of the restoring
   * environment. Until then, autoreset keeps the profiles and graders of the states.
   * @throws StateError `not_reset`, `closed`, or `foreign_past` for episodes that were copied from an environment with
   *   the other value of `imagination`.
   */
  snapshot(): Uint8Array {
    return runSync(this.#calls.snapshot());
  }

  /**
   * Restores a snapshot. @returns the outputs. `finalMask` is 0, because this call ends no episode.
   * @throws InputError `bad_snapshot` for bytes that are damaged, of another format, world, numEnvs, autoreset,
   *   seedRange or imagination, or hold illegal states; StateError `closed`. An error changes nothing.
   */
  restore(bytes: Uint8Array): StepResult {
    return runSync(this.#calls.restore(bytes));
  }

  /**
   * Returns the last steps of environment i's episode, the oldest first: up to `last`, by default seven, as in a prompt.
   * Steps before a `start` of `reset` are not included. Replays the episode from seed and actions, which takes tens of
   * microseconds.
   * @throws InputError `out_of_range`; StateError `not_reset`, `closed`, `foreign_past`.
   */
  history(i: number, last = HISTORY_STEPS): HistoryStep[] {
    return runSync(this.#calls.history(i, last));
  }

  /**
   * Returns the belief targets, f32 [numEnvs, 3], newly allocated. For evaluation only; agents must not use them.
   * @throws StateError `not_reset` or `closed`.
   */
  beliefTargets(): Float32Array {
    return runSync(this.#calls.beliefTargets());
  }

  /**
   * Returns the states' hashes, u64 [numEnvs], newly allocated. Hashes are equal for equal seed, step, meters and profile.
   * @throws StateError `not_reset` or `closed`.
   */
  stateHash(): BigUint64Array {
    return runSync(this.#calls.stateHash());
  }

  /** Frees the batch. Views stay readable. A second `close` does nothing. @throws StateError `busy`: see `run`. */
  close(): void {
    this.#core.close();
  }

  /** `close`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
