/// <reference lib="esnext.disposable" preserve="true" />
/** VecEnv: a batch of episodes behind Gymnasium's vector vocabulary. Validation above the seam, computing below it. */
import { InputError } from './errors.js';
import type { EncodedField } from './observe/fields.js';
import { HISTORY_STEPS, type HistoryStep } from './observe/record.js';
import { ACTION_SPACE, type ActionSpace, type ObservationSpace, observationSpace } from './observe/spaces.js';
import type { AutoresetMode } from './validate/autoreset-modes.js';
import type { Actions } from './validate/steps.js';
import { checkInteger, describe, readOptions } from './validate/values.js';
import { whileBusy } from './vec-env/busy.js';
import {
  checkAlike,
  gather,
  historyOf,
  openFork,
  type RunOrigin,
  restoreSnapshot,
  takeSnapshot,
  toIndices,
  toOrigin,
} from './vec-env/copying.js';
import { Core } from './vec-env/core.js';
import {
  type ForkOptions,
  FROM_OPTIONS,
  type ResetOptions,
  RUN_OPTIONS,
  type RunOptionsFrom,
  type RunResult,
  type StepOptions,
  type StepResult,
  type VecEnvOptions,
} from './vec-env/options.js';
import { heed, type RunChoice } from './vec-env/requests.js';
import { checkLongCall, runInSlices } from './vec-env/slices.js';
import { NUM_STEPS } from './world/fields.js';
import type { World } from './world/world.js';

/** What is fixed by the world's version and numbers. */
export interface EnvSpec {
  readonly id: string;
  /** Of the world: it rises when episodes change. */
  readonly version: string;
  /** SHA-256 of the world's numbers, hexadecimal. */
  readonly worldDigest: string;
  readonly maxEpisodeSteps: number;
}

/** How a run is played, and from where. */
export type RunOptions = RunOptionsFrom<VecEnv>;

/** An option that is left out, without an object for each call. */
const NONE = Object.freeze({});

/**
 * Opens a batch of episodes. Call `reset` before anything else, `close` when done.
 * @throws InputError for an option that is unknown, of a wrong type or out of range, or a malformed world;
 *   BackendError if the backend or kernel asked for cannot be used here, or there is no memory.
 */
export function createVecEnv(options: VecEnvOptions): VecEnv {
  return new VecEnv(new Core(options));
}

/**
 * A batch of episodes. Every method but `close` also throws InputError `wrong_type` for an argument of another type, and
 * StateError `outputs_detached` once the memory of a view was transferred away.
 */
export class VecEnv {
  readonly numEnvs: number;
  /** Which backend and kernel run, on how many threads at most, and why this backend. */
  readonly backend: string;
  readonly kernel: string;
  readonly threads: number;
  readonly backendReason: string;
  readonly world: World;
  readonly spec: EnvSpec;
  /** What follows an episode's end, under the name that Gymnasium's metadata has. */
  readonly metadata: { readonly autoresetMode: AutoresetMode };
  /** What one slot shows, number by number: names, offsets, sizes, bounds, meaning. */
  readonly observationFields: readonly EncodedField[];
  /** The space of one slot's observation. */
  readonly observationSpace: ObservationSpace;
  readonly actionSpace: ActionSpace = ACTION_SPACE;
  /** u32 [numEnvs]: the seed of each slot's present episode. A view, kept up to date: autoreset goes on from it. */
  readonly seeds: Uint32Array;
  /** u32 [numEnvs]: how many episodes each slot has begun by autoreset since its reset. A view, kept up to date. */
  readonly episodeNumbers: Uint32Array;
  readonly #core: Core;

  /** Use `createVecEnv`. */
  constructor(core: Core) {
    const { batch, world, autoreset, shown } = core;
    this.#core = core;
    this.numEnvs = core.numEnvs;
    this.backend = batch.backend;
    this.kernel = batch.kernel;
    this.threads = batch.threads;
    this.backendReason = core.backendReason;
    this.world = world;
    this.spec = Object.freeze({
      id: 'rhythm',
      version: world.spec.version,
      worldDigest: world.digest,
      maxEpisodeSteps: NUM_STEPS,
    });
    this.metadata = Object.freeze({ autoresetMode: autoreset.mode });
    this.observationFields = shown.fields;
    this.observationSpace = observationSpace(shown.fields);
    this.seeds = core.seeds;
    this.episodeNumbers = autoreset.episodeNumbers;
  }

  /** Since the environment was opened: steps taken by all slots together, and episodes that ended. */
  get counters(): { readonly steps: number; readonly episodes: number } {
    const { steps, episodes } = this.#core.autoreset;
    return { steps, episodes };
  }

  /**
   * Begins a new episode in every slot, or in those of a mask. @returns the observations, in the object that `step`
   * returns too; a slot that begins shows no result, `finalMask` is 0 everywhere.
   * @throws InputError `bad_seed`, `unknown_name`, `bad_profile`, `bad_grader`, `wrong_length`, `unknown_option`;
   *   StateError `not_reset` (a mask at the first reset), `closed`. Nothing has changed then.
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
    const { request, origin, asked } = whileBusy([core], () => VecEnv.#toRun(core, choice, options));
    heed(runInSlices(core, request, origin, asked));
    return { ...core.shown.given(), trajectory: asked.trajectory ? request.trajectory : null };
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
      const fork = new VecEnv(openFork(core, slots, changes));
      gather(fork.#core, core, slots);
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
    gather(core, from, slots);
    return core.shown.current();
  }

  static #toRun(core: Core, choice: RunChoice, options: RunOptions) {
    const asked = readOptions('run options', options, RUN_OPTIONS);
    checkLongCall(asked);
    if (asked.from === undefined) core.requireEpisodes();
    const origin = asked.from === undefined ? null : VecEnv.#toOrigin(core, asked.from);
    const request = core.toRun(choice, asked);
    // A getter of an argument may have closed the source.
    origin?.source.requireReset();
    return { request, origin, asked };
  }

  static #toOrigin(core: Core, from: NonNullable<RunOptions['from']>): RunOrigin {
    const { source, indices } = readOptions('from', from, FROM_OPTIONS);
    return toOrigin(core, VecEnv.#coreOf('from.source', source), indices);
  }

  static #coreOf(what: string, env: VecEnv): Core {
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
    this.#core.requireReset();
    return takeSnapshot(this.#core);
  }

  /**
   * Goes on from a snapshot. @returns what the slots show. `finalMask` is 0: this call ended nothing.
   * @throws InputError `bad_snapshot` for bytes that are damaged, of another format, world, numEnvs, autoreset,
   *   seedRange or imagination, or hold what no episode can; StateError `closed`. Nothing has changed then.
   */
  restore(bytes: Uint8Array): StepResult {
    this.#core.requireOpen();
    restoreSnapshot(this.#core, bytes);
    return this.#core.shown.current();
  }

  /**
   * The last steps of slot i's episode, the oldest first: up to seven, as a prompt shows them, or up to `last`.
   * Recomputed from the seed and the actions, some 10 microseconds.
   * @throws InputError `out_of_range`; StateError `not_reset`, `closed`, `foreign_past`.
   */
  history(i: number, last = HISTORY_STEPS): HistoryStep[] {
    this.#core.requireReset();
    checkInteger('i', i, 0, this.numEnvs - 1);
    return historyOf(this.#core, i, checkInteger('last', last, 0, NUM_STEPS));
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
