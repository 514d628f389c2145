/** VecEnv: a batch of episodes behind Gymnasium's vector vocabulary. Validation above the seam, computing below it. */
import type { Batch } from './backends/backend.js';
import { openBatch } from './backends/open.js';
import { allocateTrajectory } from './backends/outputs.js';
import { StateError } from './errors.js';
import { type GraderChoice, type ProfileChoice, toGraders, toProfiles } from './validate/persons.js';
import { heed, type RunChoice, toRunBeliefs, toRunPolicy } from './validate/requests.js';
import { toSeeds } from './validate/seeds.js';
import { type Actions, toActions, toBeliefs, toStops } from './validate/steps.js';
import { checkBoolean, checkInteger, checkOptions } from './validate/values.js';
import {
  OPTIONS,
  RESET_OPTIONS,
  type ResetOptions,
  RUN_OPTIONS,
  type RunOptions,
  type RunResult,
  STEP_OPTIONS,
  type StepOptions,
  type StepResult,
  type VecEnvOptions,
} from './vec-env-options.js';
import { MAX_ENVS, MAX_THREADS } from './world/fields.js';
import { createWorld, type World } from './world/world.js';

/**
 * Opens a batch of episodes. Call `reset` before anything else, `close` when done.
 * @throws InputError for an option that is unknown, of a wrong type or out of range, or a malformed world;
 *   BackendError if the backend or kernel asked for cannot be used here.
 */
export function createVecEnv(options: VecEnvOptions): VecEnv {
  checkOptions('options', options, OPTIONS);
  return new VecEnv(options);
}

export class VecEnv {
  readonly numEnvs: number;
  /** Which backend and kernel run, on how many threads at most, and why this backend. */
  readonly backend: string;
  readonly kernel: string;
  readonly threads: number;
  readonly backendReason: string;
  readonly world: World;
  /** u32 [numEnvs]: the seed of each slot's episode. A view that changes with `reset`. */
  readonly seeds: Uint32Array;
  readonly #batch: Batch;
  readonly #result: StepResult;
  readonly #profiles: ProfileChoice;
  readonly #graders: GraderChoice;
  #actionScratch: Uint8Array | null = null;
  #givenScratch: Uint8Array | null = null;
  #phase: 'fresh' | 'open' | 'closed' = 'fresh';

  /** Use `createVecEnv`. */
  constructor(options: VecEnvOptions) {
    this.numEnvs = checkInteger('numEnvs', options.numEnvs, 1, MAX_ENVS);
    this.world = createWorld(options.world);
    const imagination = checkBoolean('imagination', options.imagination ?? false);
    const threads =
      options.threads === undefined ? null : checkInteger('threads', options.threads, 1, MAX_THREADS);
    this.#profiles = options.profiles ?? 'sampled';
    this.#graders = options.grader ?? 'v2';
    toProfiles(this.world, this.#profiles, this.numEnvs);
    toGraders(this.world, this.#graders, this.numEnvs);
    const { numEnvs, world } = this;
    const { batch, outputs, reason } = openBatch(options, {
      numEnvs,
      world,
      imagination,
      threads,
      layout: { columnMajor: false, finalObservations: false },
    });
    this.#batch = batch;
    this.#result = Object.freeze({ ...outputs, truncated: new Uint8Array(this.numEnvs) });
    this.seeds = new Uint32Array(this.numEnvs);
    this.backend = batch.backend;
    this.kernel = batch.kernel;
    this.threads = batch.threads;
    this.backendReason = reason;
  }

  /**
   * Begins a new episode in every slot. @returns the first observations, in the object that `step` returns too.
   * @throws InputError `bad_seed`, `unknown_name`, `bad_profile`, `bad_grader`, `wrong_length`, `unknown_option`;
   *   StateError `closed`. Nothing has changed then.
   */
  reset(options: ResetOptions = {}): StepResult {
    this.#requireOpen();
    checkOptions('reset options', options, RESET_OPTIONS);
    const seeds = toSeeds(options.seed, this.numEnvs);
    const { modes, floats } = toProfiles(this.world, options.profiles ?? this.#profiles, this.numEnvs);
    const graders = toGraders(this.world, options.graders ?? this.#graders, this.numEnvs);
    this.#batch.reset({ mask: null, seeds, modes, profiles: floats, graders });
    this.seeds.set(seeds);
    this.#phase = 'open';
    return this.#read();
  }

  /**
   * Takes one action in every slot.
   * @param actions codes 0..9, one per slot; a Uint8Array is used as it is, without a copy.
   * @throws InputError `illegal_action`, `bad_belief`, `wrong_length`, `unknown_option`; StateError `episode_over`,
   *   `not_reset`, `closed`. No episode was stepped then.
   */
  step(actions: Actions, options: StepOptions = {}): StepResult {
    this.#requireReset();
    checkOptions('step options', options, STEP_OPTIONS);
    const { beliefs } = options;
    const codes = toActions(actions, this.numEnvs, 'numEnvs', () => this.#actions());
    const believed =
      beliefs === undefined ? null : toBeliefs(beliefs, this.numEnvs, 'numEnvs', this.#given());
    heed(
      this.#batch.submit({
        actions: codes,
        beliefs: believed?.beliefs ?? null,
        given: believed?.given ?? null,
        stepMask: null,
        resetMask: null,
        resetSeeds: null,
      }),
    );
    return this.#read();
  }

  /**
   * Plays every slot from its present state to its end, or to `stops`, in one call.
   * @throws as `step`.
   */
  run(choice: RunChoice, options: RunOptions = {}): RunResult {
    this.#requireReset();
    checkOptions('run options', options, RUN_OPTIONS);
    const policy = toRunPolicy(choice, options.policySeeds, this.numEnvs);
    const beliefs = options.beliefs === undefined ? null : toRunBeliefs(options.beliefs, this.numEnvs);
    const stops = options.stops === undefined ? null : toStops(options.stops, this.numEnvs);
    const wanted = checkBoolean('trajectory', options.trajectory ?? false);
    const trajectory = wanted ? allocateTrajectory(this.numEnvs) : null;
    heed(this.#batch.run({ policy, beliefs, stops, trajectory }));
    return { ...this.#read(), trajectory };
  }

  /**
   * f32 [numEnvs, 3]: what perfect beliefs would be. Newly allocated. For evaluation: an agent must not see it.
   * @throws StateError `not_reset` or `closed`.
   */
  beliefTargets(): Float32Array {
    this.#requireReset();
    return this.#batch.targets();
  }

  /** u64 [numEnvs], newly allocated: equal where person, time and meters are. @throws StateError as above. */
  stateHash(): BigUint64Array {
    this.#requireReset();
    return this.#batch.stateHash();
  }

  /** Frees the batch. Views stay readable; calling it again does nothing. */
  close(): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#batch.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #requireOpen(): void {
    if (this.#phase === 'closed') {
      throw new StateError(
        'closed',
        'Expected an open environment, got one that was closed. Create a new one.',
      );
    }
    if (this.#result.rewards.length !== this.numEnvs) {
      throw new StateError(
        'outputs_detached',
        'Expected the output arrays where they were allocated, got a detached buffer: it was transferred. ' +
          'Create a new environment, and transfer copies.',
      );
    }
  }

  #requireReset(): void {
    this.#requireOpen();
    if (this.#phase === 'fresh') {
      throw new StateError(
        'not_reset',
        'Expected a reset before this call, got none yet. Call reset({ seed }) first.',
      );
    }
  }

  #read(): StepResult {
    this.#batch.read();
    return this.#result;
  }

  #actions(): Uint8Array {
    this.#actionScratch ??= new Uint8Array(this.numEnvs);
    return this.#actionScratch;
  }

  #given(): Uint8Array {
    this.#givenScratch ??= new Uint8Array(this.numEnvs);
    return this.#givenScratch;
  }
}
