/**
 * Autoreset: decides which environments to reset, when, and with which seed.
 *
 * An episode always ends at its 28th step, so this file counts steps to know which episodes end. It does not read the
 * outputs, because the caller may write to the views.
 */

import { NUM_STEPS } from '../../world/fields.js';
import type { SeedSpan } from '../validate/seeds.js';

/** What a call of `step` does in each environment. */
export interface AutoresetPlan {
  /** u8 [numEnvs]: the environments that take the step; null for all. */
  stepMask: Uint8Array | null;
  /** u8 [numEnvs]: the environments that are reset; null or all zeros for none. */
  resetMask: Uint8Array | null;
  /** u32 [numEnvs]: the seeds of the new episodes; null if `resetMask` is null. */
  resetSeeds: Uint32Array | null;
}

/** The size of the ring buffer `#numEnding`. It exceeds the number of steps of an episode. */
const RING_SIZE = 32;

/** Returns the non-negative remainder. `a` may be negative: `seeds` is a view that the caller may write to. */
const modulo = (a: number, n: number): number => ((a % n) + n) % n;

/** The steps left and the counters of a batch's environments. Plans and commits their autoresets. */
export class Autoreset {
  readonly mode: AutoresetMode;
  /** u32 [numEnvs]: the number of autoresets of each environment since its last `reset`. */
  readonly episodeNumbers: Uint32Array;
  /** The number of steps since opening, of all environments together. `restore` sets it and `episodes`. */
  steps = 0;
  /** The number of episodes that have ended since opening. */
  episodes = 0;
  readonly #span: SeedSpan;
  readonly #seeds: Uint32Array;
  /** The number of committed steps of the batch. */
  #tick = 0;
  /**
   * The tick at which each environment takes its last step, if it takes part in every step until then. At most the
   * current tick if the episode has ended.
   */
  readonly #ends: Float64Array;
  /** The number of environments whose episodes end at a future tick, by tick modulo RING_SIZE. */
  readonly #numEnding = new Uint32Array(RING_SIZE);
  /** The number of environments whose episodes have ended and that were not reset. */
  #numEnded = 0;
  readonly #stepMask: Uint8Array;
  readonly #resetMask: Uint8Array;
  readonly #resetSeeds: Uint32Array;
  readonly #plan: AutoresetPlan = { stepMask: null, resetMask: null, resetSeeds: null };

  /** Counts all episodes as ended. @param seeds u32 [numEnvs]: the seeds of the current episodes, updated by `commit`. */
  constructor(mode: AutoresetMode, span: SeedSpan, seeds: Uint32Array) {
    const numEnvs = seeds.length;
    const maskLength = mode === 'disabled' ? 0 : numEnvs;
    this.mode = mode;
    this.#span = span;
    this.#seeds = seeds;
    this.episodeNumbers = new Uint32Array(numEnvs);
    this.#ends = new Float64Array(numEnvs);
    // Before the first reset no episode runs.
    this.#numEnded = numEnvs;
    this.#stepMask = new Uint8Array(maskLength);
    this.#resetMask = new Uint8Array(maskLength);
    this.#resetSeeds = new Uint32Array(maskLength);
  }

  /**
   * Returns the plan of a step of the environments in `mask` (null for all). Changes nothing until `commit`. The plan
   * object is reused.
   */
  plan(mask: Uint8Array | null): Readonly<AutoresetPlan> {
    const plan = this.#plan;
    plan.stepMask = mask;
    plan.resetMask = plan.resetSeeds = null;
    if (this.mode === 'same-step' && this.#numEnding[(this.#tick + 1) % RING_SIZE] > 0) {
      this.#planResets(mask, this.#tick + 1, this.#tick + 1);
    } else if (this.mode === 'next-step' && this.#numEnded > 0) {
      this.#planResets(mask, 0, this.#tick);
      plan.stepMask = this.#stepMask;
    }
    return plan;
  }

  /**
   * Plans resets of the environments of the mask whose end is in [from, to] (ticks). In next-step mode only the mask's
   * other environments step; in same-step mode all environments of the mask step.
   */
  #planResets(mask: Uint8Array | null, from: number, to: number): void {
    const { low, size } = this.#span;
    const numEnvs = this.#ends.length;
    for (let i = 0; i < numEnvs; i++) {
      const takesPart = mask === null || mask[i] !== 0;
      const isReset = takesPart && this.#ends[i] >= from && this.#ends[i] <= to;
      this.#resetMask[i] = Number(isReset);
      this.#stepMask[i] = Number(takesPart && !isReset);
      // The next seed is the last one plus numEnvs, wrapped around within the seed range.
      if (isReset) this.#resetSeeds[i] = low + modulo(this.#seeds[i] - low + numEnvs, size);
    }
    this.#plan.resetMask = this.#resetMask;
    this.#plan.resetSeeds = this.#resetSeeds;
  }

  /** Commits the last plan. */
  commit(): void {
    const { stepMask, resetMask } = this.#plan;
    this.#tick++;
    this.steps += stepMask === null ? this.#ends.length : this.#delayEnds(stepMask);
    const ended = this.#numEnding[this.#tick % RING_SIZE];
    this.#numEnding[this.#tick % RING_SIZE] = 0;
    this.#numEnded += ended;
    this.episodes += ended;
    if (resetMask === null) return;
    for (let i = 0; i < resetMask.length; i++) {
      if (resetMask[i] !== 0) this.#beginEpisode(i);
    }
  }

  #beginEpisode(env: number): void {
    this.setStepsLeft(env, NUM_STEPS);
    this.#seeds[env] = this.#resetSeeds[env];
    this.episodeNumbers[env]++;
  }

  /** Delays by one tick the ends of environments that do not step. @returns the number of environments that step. */
  #delayEnds(stepMask: Uint8Array): number {
    let steps = 0;
    for (let i = 0; i < this.#ends.length; i++) {
      if (stepMask[i] !== 0) steps++;
      else if (this.#ends[i] >= this.#tick) {
        this.#numEnding[this.#ends[i] % RING_SIZE]--;
        this.#ends[i]++;
        this.#numEnding[this.#ends[i] % RING_SIZE]++;
      }
    }
    return steps;
  }

  /** Returns the number of steps left in an environment's episode. */
  #stepsLeft(env: number): number {
    return Math.max(0, this.#ends[env] - this.#tick);
  }

  /** Sets the number of steps, 0 to 28, left in an environment's episode. */
  setStepsLeft(env: number, left: number): void {
    if (this.#stepsLeft(env) > 0) this.#numEnding[this.#ends[env] % RING_SIZE]--;
    else this.#numEnded--;
    const end = this.#tick + left;
    this.#ends[env] = end;
    if (left > 0) this.#numEnding[end % RING_SIZE]++;
    else this.#numEnded++;
  }

  /** Copies the steps left and the episode number of `source`'s environment indices[i] to environment i. */
  gather(source: Autoreset, indices: Uint32Array): void {
    const ends = source === this ? source.#ends.slice() : source.#ends;
    const numbers = source === this ? source.episodeNumbers.slice() : source.episodeNumbers;
    for (let i = 0; i < indices.length; i++) {
      this.setStepsLeft(i, Math.max(0, ends[indices[i]] - source.#tick));
      this.episodeNumbers[i] = numbers[indices[i]];
    }
  }

  /** Commits a run of the environments before index `end`. @param stops the steps at which they stop; null for 28. */
  commitRun(stops: Uint8Array | null, end: number): void {
    for (let i = 0; i < end; i++) {
      const before = this.#stepsLeft(i);
      const left = Math.min(before, NUM_STEPS - (stops?.[i] ?? NUM_STEPS));
      this.setStepsLeft(i, left);
      this.steps += before - left;
      this.episodes += Number(before > 0 && left === 0);
    }
  }
}

/** The autoreset modes. */
export const AUTORESET_MODES = Object.freeze(['disabled', 'same-step', 'next-step'] as const);
/**
 * An autoreset mode, as in Gymnasium's `AutoresetMode`. 'disabled': a finished environment waits for `reset`.
 * 'same-step': the step that ends an episode also resets the environment; `finalObservations` has the last observation of
 * the episode. 'next-step': the environment's next step is a reset.
 */
export type AutoresetMode = (typeof AUTORESET_MODES)[number];
