/**
 * Autoreset: which slots begin anew, when, and with which seed.
 *
 * An episode ends at its 28th step and nowhere else, so nobody has to be asked who ends: a clock of steps is enough.
 * The clock never looks at what slots show: views are the caller's, who may write into them.
 */
import type { AutoresetMode } from '../validate/autoreset-modes.js';
import type { SeedSpan } from '../validate/seeds.js';
import { NUM_STEPS } from '../world/fields.js';

/** What a step is to do besides stepping. */
export interface AutoresetPlan {
  stepMask: Uint8Array | null;
  resetMask: Uint8Array | null;
  resetSeeds: Uint32Array | null;
}

/** More ticks than any episode can still take. */
const RING = 32;

/** From 0 on: a copied episode's seed may lie below the range that its slot goes on in. */
const modulo = (a: number, n: number): number => ((a % n) + n) % n;

export class Autoreset {
  readonly mode: AutoresetMode;
  /** u32 [numEnvs]: how many episodes each slot has begun by itself since its reset. */
  readonly episodeNumbers: Uint32Array;
  /** What was done since the environment was opened: steps taken by all slots, episodes that ended. */
  steps = 0;
  episodes = 0;
  readonly #span: SeedSpan;
  readonly #seeds: Uint32Array;
  #tick = 0;
  /** The tick at which each slot takes its last step if it misses none; not after the present one if it has. */
  readonly #ends: Float64Array;
  /** How many slots end at a coming tick, by tick modulo RING. */
  readonly #due = new Uint32Array(RING);
  /** How many slots have ended and not begun anew. */
  #over = 0;
  readonly #stepMask: Uint8Array;
  readonly #resetMask: Uint8Array;
  readonly #resetSeeds: Uint32Array;
  readonly #plan: AutoresetPlan = { stepMask: null, resetMask: null, resetSeeds: null };

  /** @param seeds u32 [numEnvs], of the present episodes; kept up to date. */
  constructor(mode: AutoresetMode, span: SeedSpan, seeds: Uint32Array) {
    const numEnvs = seeds.length;
    const resets = mode === 'disabled' ? 0 : numEnvs;
    this.mode = mode;
    this.#span = span;
    this.#seeds = seeds;
    this.episodeNumbers = new Uint32Array(numEnvs);
    this.#ends = new Float64Array(numEnvs);
    this.#over = numEnvs;
    this.#stepMask = new Uint8Array(resets);
    this.#resetMask = new Uint8Array(resets);
    this.#resetSeeds = new Uint32Array(resets);
  }

  /** What a step of the slots in `mask` (null for all) comes to. The plan is reused; nothing has changed yet. */
  plan(mask: Uint8Array | null): Readonly<AutoresetPlan> {
    const plan = this.#plan;
    plan.stepMask = mask;
    plan.resetMask = plan.resetSeeds = null;
    if (this.mode === 'same-step' && this.#due[(this.#tick + 1) % RING] > 0) {
      this.#planResets(mask, this.#tick + 1, this.#tick + 1);
    } else if (this.mode === 'next-step' && this.#over > 0) {
      this.#planResets(mask, 0, this.#tick);
      plan.stepMask = this.#stepMask;
    }
    return plan;
  }

  /** Plans to reset the slots of the mask whose last tick is in [from, to]; the mask's others only step. */
  #planResets(mask: Uint8Array | null, from: number, to: number): void {
    const { low, size } = this.#span;
    const numEnvs = this.#ends.length;
    for (let i = 0; i < numEnvs; i++) {
      const takesPart = mask === null || mask[i] !== 0;
      const resets = takesPart && this.#ends[i] >= from && this.#ends[i] <= to;
      this.#resetMask[i] = Number(resets);
      this.#stepMask[i] = Number(takesPart && !resets);
      if (resets) this.#resetSeeds[i] = low + modulo(this.#seeds[i] - low + numEnvs, size);
    }
    this.#plan.resetMask = this.#resetMask;
    this.#plan.resetSeeds = this.#resetSeeds;
  }

  /** Notes that the last plan was carried out. */
  commit(): void {
    const { stepMask, resetMask } = this.#plan;
    this.#tick++;
    this.steps += stepMask === null ? this.#ends.length : this.#delay(stepMask);
    const ended = this.#due[this.#tick % RING];
    this.#due[this.#tick % RING] = 0;
    this.#over += ended;
    this.episodes += ended;
    if (resetMask === null) return;
    for (let i = 0; i < resetMask.length; i++) {
      if (resetMask[i] !== 0) this.#begin(i);
    }
  }

  #begin(slot: number): void {
    this.place(slot, NUM_STEPS);
    this.#seeds[slot] = this.#resetSeeds[slot];
    this.episodeNumbers[slot]++;
  }

  /** Who does not step ends a tick later. @returns how many do. */
  #delay(stepMask: Uint8Array): number {
    let steps = 0;
    for (let i = 0; i < this.#ends.length; i++) {
      if (stepMask[i] !== 0) steps++;
      else if (this.#ends[i] >= this.#tick) {
        this.#due[this.#ends[i] % RING]--;
        this.#ends[i]++;
        this.#due[this.#ends[i] % RING]++;
      }
    }
    return steps;
  }

  /** Steps that a slot can still take before its episode ends. */
  #left(slot: number): number {
    return Math.max(0, this.#ends[slot] - this.#tick);
  }

  /** Sets a slot's clock: `left` steps (0 to 28) before its episode ends. */
  place(slot: number, left: number): void {
    if (this.#left(slot) > 0) this.#due[this.#ends[slot] % RING]--;
    else this.#over--;
    const end = this.#tick + left;
    this.#ends[slot] = end;
    if (left > 0) this.#due[end % RING]++;
    else this.#over++;
  }

  /** Slot i's clock and episode number become those of `source`'s slot indices[i]. */
  gather(source: Autoreset, indices: Uint32Array): void {
    const ends = source === this ? source.#ends.slice() : source.#ends;
    const numbers = source === this ? source.episodeNumbers.slice() : source.episodeNumbers;
    for (let i = 0; i < indices.length; i++) {
      this.place(i, Math.max(0, ends[indices[i]] - source.#tick));
      this.episodeNumbers[i] = numbers[indices[i]];
    }
  }

  /** Notes that the slots before `end` ran to their stops, null for their episodes' ends. */
  ran(stops: Uint8Array | null, end: number): void {
    for (let i = 0; i < end; i++) {
      const before = this.#left(i);
      const left = Math.min(before, NUM_STEPS - (stops?.[i] ?? NUM_STEPS));
      this.place(i, left);
      this.steps += before - left;
      this.episodes += Number(before > 0 && left === 0);
    }
  }
}
