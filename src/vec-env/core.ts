/**
 * What every face of a vector environment shares: validation, and the bookkeeping around a batch. A face asks it for a
 * clean request, hands that to the batch, and tells it what was done.
 */
import type { Batch, Outputs, ResetRequest, RunRequest, StepRequest } from '../backends/backend.js';
import type { Opened } from '../backends/open.js';
import { allocateTrajectory } from '../backends/outputs.js';
import { StateError } from '../errors.js';
import { type Mask, toMask } from '../validate/masks.js';
import { settled, type Written } from '../validate/memory.js';
import { type SlotProfiles, toGraders, toProfiles } from '../validate/persons.js';
import { type SeedSpan, toSeeds } from '../validate/seeds.js';
import { type StartStates, toStart } from '../validate/starts.js';
import { type Actions, toActions, toBeliefs, toGiven, toStops } from '../validate/steps.js';
import { checkLength, checkOptions, isFloats, lengthOf, readOptions, toFlag } from '../validate/values.js';
import { NUM_BELIEFS, NUM_STEPS } from '../world/fields.js';
import type { World } from '../world/world.js';
import { Autoreset, type AutoresetPlan } from './autoreset.js';
import {
  RESET_OPTIONS,
  type ResetOptions,
  type RunOptionsFrom,
  STEP_OPTIONS,
  type StepOptions,
  type VecEnvOptions,
} from './options.js';
import { checkTape, type RunChoice, toRunBeliefs, toRunPolicy } from './requests.js';
import type { Defaults, Settings } from './settings.js';
import { Shown } from './shown.js';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** What is known of a batch, whichever seam it sits behind. */
export type AnyBatch = Pick<Batch, 'backend' | 'kernel' | 'threads' | 'close'>;

/** @typeParam Kind the seam's batch, which only a face calls. */
export class Core<Kind extends AnyBatch = AnyBatch> implements Defaults {
  /** Those that a fork shares, checked. */
  readonly options: VecEnvOptions;
  readonly numEnvs: number;
  readonly world: World;
  readonly imagination: boolean;
  /** Another one once an environment was opened again. */
  batch: Kind;
  readonly backendReason: string;
  readonly outputs: Outputs;
  readonly shown: Shown;
  readonly span: SeedSpan;
  /** u32 [numEnvs], of the present episodes. */
  readonly seeds: Uint32Array;
  readonly autoreset: Autoreset;
  readonly profiles: SlotProfiles;
  readonly graders: Float32Array;
  /** u8 [numEnvs]: slots that were copied from where other luck rules, so that their past cannot be lived again. */
  readonly foreign: Uint8Array;
  /** What calls overwrite. */
  readonly written: Written;
  phase: 'fresh' | 'open' | 'closed' = 'fresh';
  /** Whether a call is under way that may call the caller's code. */
  busy = false;
  /** Reused at every step, and so are the arrays that it may point to. */
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
  /** For beliefs in other arrays than a Float32Array: there once such came. */
  #beliefs: Float32Array | null = null;

  /** @throws InputError for the observation's options. */
  constructor(settings: Settings, opened: Opened<Kind>) {
    const { numEnvs, world, imagination } = settings;
    this.options = settings.shared;
    this.numEnvs = numEnvs;
    this.world = world;
    this.imagination = imagination;
    this.span = settings.span;
    this.profiles = settings.profiles;
    this.graders = settings.graders;
    this.batch = opened.batch;
    this.outputs = opened.outputs;
    this.backendReason = opened.reason;
    this.shown = new Shown(this.outputs, settings);
    this.seeds = new Uint32Array(numEnvs);
    this.autoreset = new Autoreset(settings.autoreset, this.span, this.seeds);
    this.foreign = new Uint8Array(numEnvs);
    const views = [this.outputs.rewards, this.seeds, this.autoreset.episodeNumbers];
    this.written = new Set(views.map((view) => view.buffer));
    this.#actions = new Uint8Array(numEnvs);
    this.#given = new Uint8Array(numEnvs);
  }

  requireOpen(): void {
    if (this.phase === 'closed') {
      throw new StateError(
        'closed',
        'Expected an open environment, got one that was closed. Create a new one.',
      );
    }
    this.#requireIdle();
    this.requireAttached();
  }

  requireAttached(): void {
    if (this.attached) return;
    throw new StateError(
      'outputs_detached',
      'Expected the views where they were allocated, got a detached buffer: it was transferred. ' +
        'Create a new environment, and transfer copies.',
    );
  }

  get attached(): boolean {
    return this.shown.attached && this.seeds.length > 0 && this.autoreset.episodeNumbers.length > 0;
  }

  requireReset(): void {
    this.requireOpen();
    this.requireEpisodes();
  }

  requireEpisodes(): void {
    if (this.phase === 'open') return;
    throw new StateError(
      'not_reset',
      'Expected a reset before this call, got none yet. Call reset({ seed }) first.',
    );
  }

  toReset(options: ResetOptions): ResetRequest {
    const { seed, profiles, graders, start, mask } = readOptions('reset options', options, RESET_OPTIONS);
    const { numEnvs, world } = this;
    const { modes, floats } = profiles === undefined ? this.profiles : toProfiles(world, profiles, numEnvs);
    const request = {
      seeds: toSeeds(seed, numEnvs, 'seed', this.span),
      modes,
      profiles: floats,
      graders: graders === undefined ? this.graders : toGraders(world, graders, numEnvs),
      // Last, since it may be used where it lies: entries of others may be getters, which could take its memory away.
      ...this.#toBeginning(start, this.#toMask(mask)),
    };
    if (request.mask !== null && this.phase === 'fresh') {
      throw new StateError(
        'not_reset',
        'Expected a first reset of all slots, got one with a mask. Call reset() without a mask first.',
      );
    }
    this.requireAttached();
    return request;
  }

  #toBeginning(
    start: StartStates | undefined,
    mask: Uint8Array | null,
  ): Pick<ResetRequest, 'mask' | 'start'> {
    if (start === undefined) return { mask };
    // Whose entries are read under a mask must not be able to change it.
    const own = mask === null ? null : new Uint8Array(mask);
    return { mask: own, start: toStart(start, this.numEnvs, own) };
  }

  hasReset({ mask, seeds, start }: ResetRequest): void {
    for (let i = 0; i < this.numEnvs; i++) {
      if (mask !== null && mask[i] === 0) continue;
      this.seeds[i] = seeds[i];
      this.foreign[i] = this.autoreset.episodeNumbers[i] = 0;
      this.autoreset.place(i, NUM_STEPS - (start?.steps[i] ?? 0));
    }
    this.phase = 'open';
  }

  /** Nothing is allocated per step. */
  toStep(actions: Actions, options: StepOptions): StepRequest {
    // As by `whileBusy`, which would want a function.
    this.busy = true;
    try {
      return this.#readStep(actions, options);
    } finally {
      this.busy = false;
    }
  }

  #readStep(actions: Actions, options: StepOptions): StepRequest {
    checkOptions('step options', options, STEP_OPTIONS);
    // Each read once, and before any is used: a getter may say something else the next time.
    const { mask, beliefs } = options;
    const { numEnvs, written } = this;
    const request = this.#request;
    const { stepMask, resetMask, resetSeeds } = this.autoreset.plan(this.#toMask(mask));
    request.actions = toActions(actions, numEnvs, 'numEnvs', this.#actions, stepMask, written);
    request.beliefs = request.given = null;
    if (beliefs !== undefined) {
      if (!isFloats(beliefs)) this.#beliefs ??= new Float32Array(numEnvs * NUM_BELIEFS);
      request.beliefs = toBeliefs(settled(beliefs, written), numEnvs, 'numEnvs', this.#beliefs, stepMask);
      request.given = toGiven(request.beliefs, numEnvs, this.#given, stepMask);
    }
    request.stepMask = stepMask;
    request.resetMask = resetMask;
    request.resetSeeds = resetSeeds;
    this.#requireWhole(request);
    return request;
  }

  /** Entries of one array may be getters that take away the memory of another, which is used where it lies. */
  #requireWhole({ actions, stepMask }: StepRequest): void {
    checkLength('actions', lengthOf(actions), this.numEnvs, 'numEnvs');
    if (stepMask !== null) checkLength('entries in mask', lengthOf(stepMask), this.numEnvs, 'numEnvs');
    this.requireAttached();
  }

  hasStepped({ resetMask }: Readonly<AutoresetPlan>): void {
    this.autoreset.commit();
    if (resetMask === null) return;
    for (let i = 0; i < this.numEnvs; i++) if (resetMask[i] !== 0) this.foreign[i] = 0;
  }

  /** @param options as `readOptions` gives them: this asks for some more than once. */
  toRun(choice: RunChoice, options: RunOptionsFrom<unknown>): RunRequest {
    const { numEnvs } = this;
    const wanted = toFlag('trajectory', options.trajectory);
    const stops = options.stops === undefined ? null : toStops(options.stops, numEnvs);
    // What may be used where it lies comes last: entries of others may be getters, which could change it.
    const own = <T>(array: T): T => settled(array, this.written, options.onProgress !== undefined);
    const policy = toRunPolicy(own(choice), options.policySeeds, numEnvs);
    const beliefs = options.beliefs === undefined ? null : toRunBeliefs(own(options.beliefs), numEnvs);
    if (policy.kind === 'tape') checkTape(policy.actions, numEnvs);
    this.requireAttached();
    // A history is made of what a trajectory records.
    const trajectory = wanted || this.shown.history !== null ? allocateTrajectory(numEnvs) : null;
    return { policy, beliefs, stops, trajectory };
  }

  /** @param end the slots before it have run. */
  hasRun({ stops, trajectory }: RunRequest, end: number): void {
    if (trajectory !== null) this.shown.history?.append(trajectory);
    this.autoreset.ran(stops, end);
    if (this.attached) this.shown.refresh();
  }

  #requireIdle(): void {
    if (!this.busy) return;
    throw new StateError(
      'busy',
      'Expected this call after the one under way has returned, got it from within: from onProgress, or from a ' +
        'getter of an argument. Call it afterwards; aborting the signal ends a run early.',
    );
  }

  close(): void {
    this.#requireIdle();
    if (this.phase === 'closed') return;
    this.phase = 'closed';
    this.batch.close();
  }

  #toMask(mask: Mask | undefined): Uint8Array | null {
    return mask === undefined ? null : toMask(mask, this.numEnvs, this.written);
  }
}
