/// <reference lib="esnext.disposable" preserve="true" />
/** VecEnv: a batch of episodes behind Gymnasium's vector vocabulary. Validation above the seam, computing below it. */
import type { Batch } from '../backends/backend.js';
import { openBatch } from '../backends/open.js';
import type { Platform } from '../backends/platform.js';
import { InputError } from '../errors.js';
import { HISTORY_STEPS, type HistoryStep } from '../observe/record.js';
import { relive } from '../observe/relive.js';
import type { Actions } from '../validate/steps.js';
import { checkInteger, describe } from '../validate/values.js';
import { NUM_STEPS } from '../world/fields.js';
import { whileBusy } from './busy.js';
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
import { Core } from './core.js';
import {
  type ForkOptions,
  type ResetOptions,
  RUN_OPTIONS,
  type RunOptionsFrom,
  type RunResult,
  type StepOptions,
  type StepResult,
  type VecEnvOptions,
} from './options.js';
import { type Counters, countersOf, EnvProperties } from './properties.js';
import { heed, type RunChoice } from './requests.js';
import { type Settings, toSettings } from './settings.js';
import { runInSlices, toRun } from './slices.js';

/** How a run is played, and from where. */
export type RunOptions = RunOptionsFrom<VecEnv>;

/** An option that is left out, without an object for each call. */
const NONE = Object.freeze({});

/** Opens an environment with what a platform can compute with. @throws as `createVecEnv`. */
export function openVecEnv(platform: Platform, options: VecEnvOptions): VecEnv {
  const open = (settings: Settings) => new Core(settings, openBatch(platform, settings, settings));
  return new VecEnv(open(toSettings(options)), open);
}

/**
 * A batch of episodes. Every method but `close` also throws InputError `wrong_type` for an argument of another type, and
 * StateError `outputs_detached` once the memory of a view was transferred away.
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

  /** Since the environment was opened: steps taken by all slots together, and episodes that ended. */
  get counters(): Counters {
    return countersOf(this.#core);
  }

  /**
   * Begins a new episode in every slot, or in those of a mask. @returns the observations, in the object that `step`
   * returns too; a slot that begins shows no result, `finalMask` is 0 everywhere.
   * @throws InputError `bad_seed`, `unknown_name`, `bad_profile`, `bad_grader`, `out_of_range` (of `start`),
   *   `wrong_length`, `unknown_option`; StateError `not_reset` (a mask at the first reset), `closed`. Nothing has changed
   *   then.
   */
  reset(options: ResetOptions = NONE): StepResult {
    const core = this.#core;
    core.requireOpen();
    const request = whileBusy([core], () => core.toReset(options));
    core.batch.reset(request);
    core.batch.read();
    core.hasReset(request);
    return core.shown.afterReset(request.mask);
  }

  /**
   * Takes one action in every slot, or in those of a mask; what `autoreset` says follows.
   * @param actions codes 0..9, one per slot; a Uint8Array is used as it is, without a copy. Those of slots that do not
   *   step are ignored.
   * @throws InputError `illegal_action`, `bad_belief`, `wrong_length`, `unknown_option`; StateError `episode_over`
   *   (a finished slot that the mask does not leave out), `not_reset`, `closed`. No episode was stepped then.
   */
  step(actions: Actions, options: StepOptions = NONE): StepResult {
    const core = this.#core;
    core.requireReset();
    const request = core.toStep(actions, options);
    heed(core.batch.submit(request));
    core.batch.read();
    core.hasStepped(request);
    return core.shown.afterStep(request);
  }

  /**
   * Plays every slot from its present state to its end, or to `stops`, in one call. Nothing begins anew by itself.
   * With `from` each slot first becomes a copy of another environment's, as by `assign`, in the same pass: many
   * rollouts from one state cost little more than their steps, and this environment need not have been reset.
   * @param choice 'random', 'heuristic', or a tape of codes, [numEnvs, 28] by absolute step.
   * @throws InputError `unknown_name`, `illegal_action`, `bad_belief`, `bad_seed` (of `policySeeds`), `out_of_range`,
   *   `wrong_length`, `unknown_option`; StateError `not_reset`, `closed`; with `from` as `assign` (`not_reset` if the
   *   source was not), and InputError `not_alike` for the environment itself; the signal's reason if it was aborted.
   *   From within `onProgress` every method throws StateError `busy`.
   */
  run(choice: RunChoice, options: RunOptions = NONE): RunResult {
    const core = this.#core;
    core.requireOpen();
    const run = whileBusy([core], () => toRun(core, choice, options, RUN_OPTIONS, VecEnv.#coreOf));
    heed(runInSlices(core, run));
    return { ...core.shown.given(), trajectory: run.asked.trajectory ? run.request.trajectory : null };
  }

  /**
   * A new environment of `indices.length` slots that go on from slots of this one, with its options.
   * @param indices slots, in any order, any number of times. @param changes what the fork does otherwise.
   * @throws InputError `out_of_range`, `wrong_length`, `unknown_option`, or for a change as `createVecEnv`; StateError
   *   `not_reset`, `closed`; BackendError `out_of_memory`.
   */
  fork(indices: ArrayLike<number>, changes: ForkOptions = NONE): VecEnv {
    const core = this.#core;
    core.requireReset();
    return whileBusy([core], () => {
      const slots = toIndices(indices, null, core, null);
      const fork = new VecEnv(this.#open(toFork(core, slots, changes)), this.#open);
      fork.#gather(core, slots);
      fork.#core.shown.current();
      return fork;
    });
  }

  /**
   * Slot i becomes a copy of slot indices[i] of `source`: its episode, and what it shows. Nothing is allocated if
   * `indices` is a Uint32Array and the source another environment.
   * @param source of the same backend and world; it may be this one. @param indices one per slot of this environment.
   * @returns what this environment now shows. `finalMask` is 0: this call ended nothing.
   * @throws InputError `not_alike`, `out_of_range`, `wrong_length`; StateError `not_reset` (the source), `closed`, or
   *   `foreign_past` if this environment shows histories, and the source neither shows nor can recompute a slot's.
   */
  assign(source: VecEnv, indices: ArrayLike<number>): StepResult {
    const core = this.#core;
    core.requireOpen();
    const from = VecEnv.#coreOf('source', source);
    from.requireReset();
    checkAlike(core, from);
    const slots = toIndices(indices, core.numEnvs, from, core.written);
    // Getters of the indices may have closed either.
    core.requireOpen();
    from.requireReset();
    this.#gather(from, slots);
    return core.shown.current();
  }

  /** Slot i becomes a copy of slot indices[i] of `source`: state, what it shows, and all that is noted about it. */
  #gather(source: Core<Batch>, indices: Uint32Array): void {
    const core = this.#core;
    checkPasts(core, source, indices);
    core.batch.gather(source.batch, indices);
    hasGathered(core, source, indices, lacksPasts(core, source) ? source.batch.save(indices) : null);
  }

  static #coreOf(what: string, env: VecEnv): Core<Batch> {
    if (env instanceof VecEnv) return env.#core;
    throw new InputError(
      'wrong_type',
      `Expected ${what} to be a VecEnv, got ${describe(env)}. Pass the environment to copy from.`,
    );
  }

  /**
   * The environment's state as bytes, for `restore` here or in another environment, on any backend and kernel. Options
   * are no part of it, nor are the environment's own profiles and graders.
   * @throws StateError `not_reset`, `closed`, or `foreign_past` for slots copied from where other luck rules.
   */
  snapshot(): Uint8Array {
    const core = this.#core;
    core.requireReset();
    requireOwnPasts(core);
    return toBytes(core, core.batch.save());
  }

  /**
   * Goes on from a snapshot. @returns what the slots show. `finalMask` is 0: this call ended nothing.
   * @throws InputError `bad_snapshot` for bytes that are damaged, of another format, world, numEnvs, autoreset,
   *   seedRange or imagination, or hold what no episode can; StateError `closed`. Nothing has changed then.
   */
  restore(bytes: Uint8Array): StepResult {
    const core = this.#core;
    core.requireOpen();
    const snapshot = toSnapshot(core, bytes);
    core.batch.load(snapshot.words);
    core.batch.read();
    hasRestored(core, snapshot);
    return core.shown.current();
  }

  /**
   * The last steps of slot i's episode, the oldest first: up to seven, as a prompt shows them, or up to `last`; none from
   * before a `start` of `reset`. Recomputed from the seed and the actions, some 10 microseconds.
   * @throws InputError `out_of_range`; StateError `not_reset`, `closed`, `foreign_past`.
   */
  history(i: number, last = HISTORY_STEPS): HistoryStep[] {
    const core = this.#core;
    core.requireReset();
    checkInteger('i', i, 0, this.numEnvs - 1);
    checkInteger('last', last, 0, NUM_STEPS);
    requireOwnPast(core, [i]);
    return relive(core.world, core.imagination, core.batch.save(Uint32Array.of(i)), last);
  }

  /**
   * f32 [numEnvs, 3]: what perfect beliefs would be. Newly allocated. For evaluation: an agent must not see it.
   * @throws StateError `not_reset` or `closed`.
   */
  beliefTargets(): Float32Array {
    this.#core.requireReset();
    return this.#core.batch.targets();
  }

  /** u64 [numEnvs], newly allocated: equal where person, time and meters are. @throws StateError as above. */
  stateHash(): BigUint64Array {
    this.#core.requireReset();
    return this.#core.batch.stateHash();
  }

  /** Frees the batch. Views stay readable; calling it again does nothing. @throws StateError `busy`: see `run`. */
  close(): void {
    this.#core.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
