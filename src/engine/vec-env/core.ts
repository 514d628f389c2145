/**
 * The core of a vector environment, which the synchronous and the asynchronous API share: validation, and the bookkeeping
 * around a batch. For each call, the API gets a valid request from the core, passes it to the batch, and commits it in the
 * core.
 */

import { StateError } from '../../shared/errors.js';
import { checkOptions, isFloats, isList, readOptions } from '../../shared/values.js';
import { MODE, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import type { Batch, Outputs, ResetRequest, RunRequest, StepRequest } from '../backends/backend.js';
import type { OpenedBatch } from '../backends/open-batch.js';
import type { HistoryTrajectory, ReplayHistory } from '../observe/history.js';
import { copyIfAliased, type OverwrittenBuffers } from '../validate/copy-arguments.js';
import { type EnvProfiles, toGraders, toProfiles } from '../validate/profiles.js';
import { type SeedSpan, toSeeds } from '../validate/seeds.js';
import { toStart } from '../validate/starts.js';
import {
  type Actions,
  type Mask,
  repeatBelief,
  toActions,
  toBeliefs,
  toGiven,
  toMask,
} from '../validate/steps.js';
import { Autoreset, type AutoresetPlan } from './autoreset.js';
import type { Defaults, Settings } from './check-options.js';
import { StepOutputs } from './step-outputs.js';
import {
  RESET_OPTIONS,
  type ResetOptions,
  STEP_OPTIONS,
  type StepOptions,
  type VecEnvOptions,
} from './vec-env-options.js';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A batch with its options, its outputs and its bookkeeping. */
export class Core implements Defaults {
  /** The options that a fork inherits. */
  readonly inheritedOptions: VecEnvOptions;
  readonly numEnvs: number;
  readonly world: World;
  readonly imagination: boolean;
  readonly replayHistory: ReplayHistory;
  /** The batch. `AsyncVecEnv.reopen` replaces it. */
  batch: Batch;
  readonly backendReason: string;
  readonly outputs: Outputs;
  readonly stepOutputs: StepOutputs;
  readonly span: SeedSpan;
  /** u32 [numEnvs]: the seeds of the current episodes. */
  readonly seeds: Uint32Array;
  readonly autoreset: Autoreset;
  readonly profiles: EnvProfiles;
  readonly graders: Float32Array;
  /**
   * u8 [numEnvs]: 1 if the episode cannot be replayed here, because it was copied from an environment with the other value
   * of `imagination`.
   */
  readonly unreplayable: Uint8Array;
  /** See `EnvProperties.usesHiddenState`. */
  usesHiddenState = true;
  /** The buffers that calls overwrite. */
  readonly overwritten: OverwrittenBuffers;
  phase: 'not-reset' | 'playing' | 'closed' = 'not-reset';
  /** Whether a run is calling the caller's `onProgress`. */
  busy = false;
  /** The request object, reused at every step. */
  readonly #request: Mutable<StepRequest> = {
    actions: new Uint8Array(),
    beliefs: null,
    given: null,
    stepMask: null,
    resetMask: null,
    resetSeeds: null,
  };
  readonly #actions: Uint8Array;
  readonly #given: Uint8Array;
  /** Memory for copies of beliefs that are not a Float32Array; allocated at first use. */
  #beliefs: Float32Array | null = null;

  /** Creates the core of an opened batch. @throws InputError for invalid observation options. */
  constructor(settings: Settings, opened: OpenedBatch, replayHistory: ReplayHistory) {
    const { numEnvs, world, imagination } = settings;
    this.inheritedOptions = settings.inheritedOptions;
    this.numEnvs = numEnvs;
    this.world = world;
    this.imagination = imagination;
    this.replayHistory = replayHistory;
    this.span = settings.span;
    this.profiles = settings.profiles;
    this.graders = settings.graders;
    this.batch = opened.batch;
    this.outputs = opened.outputs;
    this.backendReason = opened.reason;
    this.stepOutputs = new StepOutputs(this.outputs, settings);
    this.seeds = new Uint32Array(numEnvs);
    this.autoreset = new Autoreset(settings.autoreset, this.span, this.seeds);
    this.unreplayable = new Uint8Array(numEnvs);
    // All arrays of `outputs` share the buffer of the rewards.
    const views = [this.outputs.rewards, this.seeds, this.autoreset.episodeNumbers];
    this.overwritten = new Set(views.map((view) => view.buffer));
    this.#actions = new Uint8Array(numEnvs);
    this.#given = new Uint8Array(numEnvs);
  }

  /** Checks that a call may begin. @throws StateError `closed`, `busy` or `outputs_detached`. */
  requireOpen(): void {
    if (this.phase === 'closed') {
      throw new StateError(
        'closed',
        'Expected an open environment, got one that was closed. Create a new environment.',
      );
    }
    this.#requireIdle();
    this.requireAttached();
  }

  /** Checks that all views have their memory. @throws StateError `outputs_detached`. */
  requireAttached(): void {
    if (this.attached) return;
    throw new StateError(
      'outputs_detached',
      'Expected output buffers with memory, got a detached one: it was transferred (to a worker?). ' +
        'Create a new environment, and transfer copies.',
    );
  }

  /** Whether all views have their memory. A transferred buffer leaves its views empty. */
  get attached(): boolean {
    return this.stepOutputs.attached && this.seeds.length > 0 && this.autoreset.episodeNumbers.length > 0;
  }

  /** Checks that a call that needs episodes may begin. @throws StateError as `requireOpen`, or `not_reset`. */
  requireReset(): void {
    this.requireOpen();
    this.requireEpisodes();
  }

  /** Checks that the environments were reset. @throws StateError `not_reset`. */
  requireEpisodes(): void {
    if (this.phase === 'playing') return;
    throw new StateError(
      'not_reset',
      'Expected a reset before this call, got none yet. Call reset({ seed }) first.',
    );
  }

  /** Builds the request of a reset. @throws InputError for an invalid option; StateError `not_reset`. */
  toReset(options: ResetOptions): ResetRequest {
    const { seed, profiles, graders, start, mask } = readOptions('reset options', options, RESET_OPTIONS);
    const { numEnvs, world } = this;
    const resetMask = this.#toMask(mask);
    const { modes, floats } = profiles === undefined ? this.profiles : toProfiles(world, profiles, numEnvs);
    const context = { numEnvs, mask: resetMask, params: world.params, modes, profiles: floats };
    const request = {
      seeds: toSeeds(seed, numEnvs, 'seed', this.span),
      modes,
      profiles: floats,
      graders: graders === undefined ? this.graders : toGraders(world, graders, numEnvs, 'graders'),
      mask: resetMask,
      start: start === undefined ? undefined : toStart(start, context),
    };
    if (request.mask !== null && this.phase === 'not-reset') {
      throw new StateError(
        'not_reset',
        'Expected a first reset of all environments, got one with a mask. Call reset() without a mask first.',
      );
    }
    return request;
  }

  /** Commits a reset that the batch has carried out. */
  commitReset({ mask, seeds, start, modes }: ResetRequest): void {
    const isGiven = this.imagination && modes !== null && this.#isGivenEverywhere(modes, mask);
    this.usesHiddenState = !isGiven || (mask !== null && this.usesHiddenState);
    for (let i = 0; i < this.numEnvs; i++) {
      if (mask !== null && mask[i] === 0) continue;
      this.seeds[i] = seeds[i];
      this.unreplayable[i] = this.autoreset.episodeNumbers[i] = 0;
      this.autoreset.setStepsLeft(i, NUM_STEPS - (start?.steps[i] ?? 0));
    }
    this.phase = 'playing';
  }

  #isGivenEverywhere(modes: Uint8Array, mask: Uint8Array | null): boolean {
    return modes.every((mode, i) => mode === MODE.given || mask?.[i] === 0);
  }

  /**
   * Builds the request of a step. Allocates nothing, unless it must copy an argument.
   * @throws InputError for an invalid argument.
   */
  toStep(actions: Actions, options: StepOptions): StepRequest {
    checkOptions('step options', options, STEP_OPTIONS);
    const { mask, beliefs } = options;
    const { numEnvs, overwritten } = this;
    const request = this.#request;
    const { stepMask, resetMask, resetSeeds } = this.autoreset.plan(this.#toMask(mask));
    request.actions = toActions(actions, numEnvs, 'numEnvs', this.#actions, stepMask, overwritten);
    request.beliefs = request.given = null;
    if (beliefs !== undefined) {
      const isForAll = isList(beliefs) && beliefs.length === NUM_BELIEFS && numEnvs > 1;
      if (isForAll || !isFloats(beliefs)) this.#beliefs ??= new Float32Array(numEnvs * NUM_BELIEFS);
      const list = copyIfAliased(beliefs, overwritten);
      request.beliefs = isForAll
        ? repeatBelief(list, this.#beliefs!)
        : toBeliefs(list, numEnvs, 'numEnvs', this.#beliefs, stepMask);
      request.given = toGiven(request.beliefs, numEnvs, this.#given, stepMask);
    }
    request.stepMask = stepMask;
    request.resetMask = resetMask;
    request.resetSeeds = resetSeeds;
    return request;
  }

  /** Commits a step that the batch has taken, and its resets. */
  commitStep({ resetMask }: Readonly<AutoresetPlan>): void {
    this.autoreset.commit();
    if (resetMask === null) return;
    for (let i = 0; i < this.numEnvs; i++) if (resetMask[i] !== 0) this.unreplayable[i] = 0;
  }

  /** Commits a run of the environments before index `end`. */
  commitRun({ stops, trajectory }: RunRequest, end: number): void {
    if (trajectory !== null) this.stepOutputs.history?.append(trajectory as HistoryTrajectory);
    this.autoreset.commitRun(stops, end);
    if (this.attached) this.stepOutputs.refresh();
  }

  #requireIdle(): void {
    if (!this.busy) return;
    throw new StateError(
      'busy',
      'Expected no call before the run has returned, got one from onProgress. Call after the run, or abort the ' +
        "run's signal to end it early.",
    );
  }

  close(): void {
    this.#requireIdle();
    if (this.phase === 'closed') return;
    this.phase = 'closed';
    this.batch.close();
  }

  #toMask(mask: Mask | undefined): Uint8Array | null {
    return mask === undefined ? null : toMask(mask, this.numEnvs, this.overwritten);
  }
}
