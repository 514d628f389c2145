/// <reference lib="esnext.disposable" preserve="true" />
/** The synchronous API. */

import { InputError } from '../../shared/errors.js';
import { checkInteger, describe } from '../../shared/values.js';
import { NUM_STEPS } from '../../world/fields.js';
import type { Batch, TrajectoryField } from '../backends/backend.js';
import { openBatch } from '../backends/open-batch.js';
import type { Platform } from '../backends/platform.js';
import { HISTORY_STEPS, type HistoryStep } from '../observe/past-step.js';
import { replayHistory } from '../observe/replay-history.js';
import type { Actions } from '../validate/steps.js';
import { type Settings, toSettings } from './check-options.js';
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
import { Core } from './core.js';
import { commitImagined, imagineStates } from './imagined-states.js';
import { type Counters, countersOf, EnvProperties } from './properties.js';
import { type RunChoice, throwIfRefused } from './run-requests.js';
import { requestedFields } from './run-trajectory.js';
import { runInSlices, toRun } from './sliced-runs.js';
import {
  type ForkOptions,
  type ResetOptions,
  RUN_OPTIONS,
  type RunOptionsFrom,
  type RunResult,
  type StepOptions,
  type StepResult,
  type VecEnvOptions,
} from './vec-env-options.js';

/** Options of a run. */
export type RunOptions<Field extends TrajectoryField = TrajectoryField> = RunOptionsFrom<VecEnv, Field>;

/** The default options of a call: one object, so that a call allocates none. */
const NO_OPTIONS = Object.freeze({});

/** Opens a vector environment with a platform's backends. @throws as `createVecEnv`. */
export function openVecEnv(platform: Platform, options: VecEnvOptions): VecEnv {
  const open = (settings: Settings) => new Core(settings, openBatch(platform, settings, settings));
  return new VecEnv(open(toSettings(options)), open);
}

/**
 * A batch of episodes. Every method except `close` also throws InputError `wrong_type` for an argument of a wrong type, and
 * StateError `outputs_detached` after the memory of a view was transferred.
 */
export class VecEnv extends EnvProperties {
  readonly #core: Core<Batch>;
  readonly #open: (settings: Settings) => Core<Batch>;

  /** Use `createVecEnv`. */
  constructor(core: Core<Batch>, open: (settings: Settings) => Core<Batch>) {
    super(core);
    this.#core = core;
    this.#open = open;
  }

  /** Counters since opening: steps of all environments together, and ended episodes. `restore` sets them to the snapshot's. */
  get counters(): Counters {
    return countersOf(this.#core);
  }

  /**
   * Begins a new episode in every environment, or in the environments of a mask.
   * @returns the outputs. The rewards and grades of reset environments are 0; `finalMask` is 0 everywhere.
   * @throws InputError `bad_seed`, `unknown_name`, `bad_profile`, `bad_grader`, `out_of_range` or `bad_belief` (in `start`),
   *   `wrong_length`, `unknown_option`; StateError `not_reset` (a mask at the first reset), `closed`. An error changes
   *   nothing.
   */
  reset(options: ResetOptions = NO_OPTIONS): StepResult {
    const core = this.#core;
    core.requireOpen();
    const request = core.toReset(options);
    core.batch.reset(request);
    core.batch.read();
    core.commitReset(request);
    return core.stepOutputs.afterReset(request.mask);
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
    core.batch.read();
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
    const core = this.#core;
    core.requireOpen();
    const run = toRun(core, choice, options, RUN_OPTIONS, VecEnv.#coreOf);
    throwIfRefused(runInSlices(core, run));
    return {
      ...core.stepOutputs.result(),
      trajectory: requestedFields<Field>(run.request.trajectory, run.options),
    };
  }

  /**
   * Returns a new vector environment with the same options. Its environments are copies of the environments at `indices`.
   * @param indices in any order; repetitions are allowed. @param changes options that differ.
   * @throws InputError `out_of_range`, `wrong_length`, `unknown_option`, or for a change as `createVecEnv`; StateError
   *   `not_reset`, `closed`; BackendError `out_of_memory`. With imagined profiles also InputError `bad_profile`, `bad_seed`;
   *   StateError `episode_over`, or `foreign_past` for an episode that cannot be replayed or that began after step 0.
   */
  fork(indices: ArrayLike<number>, changes: ForkOptions = NO_OPTIONS): VecEnv {
    const core = this.#core;
    core.requireReset();
    const origins = toIndices(indices, null, core, null);
    const { settings, imagined } = toFork(core, origins, changes);
    const states = imagined && imagineStates(core, core.batch.save(origins), origins, imagined);
    const fork = new VecEnv(this.#open(settings), this.#open);
    try {
      fork.#gather(core, origins);
      if (states !== null) {
        // Keeps the copied outputs, which the agent has observed.
        fork.#core.batch.load(states, true);
        commitImagined(fork.#core, states);
      }
      fork.#core.stepOutputs.refresh();
      return fork;
    } catch (error) {
      fork.close();
      throw error;
    }
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
    from.requireReset();
    checkAlike(core, from);
    const origins = toIndices(indices, core.numEnvs, from, core.overwritten);
    this.#gather(from, origins);
    return core.stepOutputs.current();
  }

  /** Makes environment i a copy of environment indices[i] of `source`: state, outputs and bookkeeping. */
  #gather(source: Core<Batch>, indices: Uint32Array): void {
    const core = this.#core;
    checkCopies(core, source, indices);
    core.batch.gather(source.batch, indices);
    commitGather(core, source, indices, needsReplay(core, source) ? source.batch.save(indices) : null);
  }

  static #coreOf(what: string, env: VecEnv): Core<Batch> {
    if (env instanceof VecEnv) return env.#core;
    throw new InputError(
      'wrong_type',
      `Expected ${what} to be a VecEnv, got ${describe(env)}. Pass the VecEnv to copy from.`,
    );
  }

  /**
   * Returns the states as bytes, for `restore` in this or another vector environment, on any backend and kernel. The bytes
   * do not contain the options `profiles` and `grader`: after `restore`, a call of `reset` uses those of the restoring
   * environment. Until then, autoreset keeps the profiles and graders of the states.
   * @throws StateError `not_reset`, `closed`, or `foreign_past` for episodes that were copied from an environment with
   *   the other value of `imagination`.
   */
  snapshot(): Uint8Array {
    const core = this.#core;
    core.requireReset();
    requireAllReplayable(core);
    return toSnapshotBytes(core, core.batch.save());
  }

  /**
   * Restores a snapshot. @returns the outputs. `finalMask` is 0, because this call ends no episode.
   * @throws InputError `bad_snapshot` for bytes that are damaged, of another format, world, numEnvs, autoreset,
   *   seedRange or imagination, or hold illegal states; StateError `closed`. An error changes nothing.
   */
  restore(bytes: Uint8Array): StepResult {
    const core = this.#core;
    core.requireOpen();
    const snapshot = toSnapshot(core, bytes);
    core.batch.load(snapshot.words);
    core.batch.read();
    commitRestore(core, snapshot);
    return core.stepOutputs.current();
  }

  /**
   * Returns the last steps of environment i's episode, the oldest first: up to `last`, by default seven, as in a prompt.
   * Steps before a `start` of `reset` are not included. Replays the episode from seed and actions, which takes tens of
   * microseconds.
   * @throws InputError `out_of_range`; StateError `not_reset`, `closed`, `foreign_past`.
   */
  history(i: number, last = HISTORY_STEPS): HistoryStep[] {
    const core = this.#core;
    core.requireReset();
    checkInteger('i', i, 0, this.numEnvs - 1);
    checkInteger('last', last, 0, NUM_STEPS);
    requireReplayable(core, [i]);
    return replayHistory(core.world, core.imagination, core.batch.save(Uint32Array.of(i)), last);
  }

  /**
   * Returns the belief targets, f32 [numEnvs, 3], newly allocated. For evaluation only; agents must not use them.
   * @throws StateError `not_reset` or `closed`.
   */
  beliefTargets(): Float32Array {
    this.#core.requireReset();
    return this.#core.batch.beliefTargets();
  }

  /**
   * Returns the states' hashes, u64 [numEnvs], newly allocated. Hashes are equal for equal seed, step, meters and profile.
   * @throws StateError `not_reset` or `closed`.
   */
  stateHash(): BigUint64Array {
    this.#core.requireReset();
    return this.#core.batch.stateHash();
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
