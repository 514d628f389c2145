/**
 * Bounds of the traits that affect anomalies, in float32. Noise is uniform with known amplitude, so an anomaly gives a lower
 * and an upper bound of the trait that affects it. An anomaly also depends on whether the profile was stressed: whether its
 * serenity was below its stress threshold. If this is unknown, the bounds allow both cases.
 *
 * `Student` of the Python package computes the same, in the same order of float32 operations.
 */
import type { Params } from '../../world/block.js';
import { NUM_ACTIONS, NUM_METERS, NUM_SLOTS, TAGS, TRAIT_NAMES } from '../../world/fields.js';

const f32 = Math.fround;
/** The indices of vitality, cognition, progress and serenity. */
const [VITALITY, COGNITION, PROGRESS, SERENITY] = [0, 1, 2, 3];
const trait = (name: string): number => TRAIT_NAMES.indexOf(name);

/** The traits with bounds: all that affect anomalies. The stress threshold is the last. */
export const BOUNDED_TRAITS: readonly number[] = [
  'social_vitality_multiplier',
  'social_serenity_bonus',
  'morning_focus',
  'night_focus',
  'work_vitality_recovery',
  'progress_serenity_bonus',
  'solo_serenity_bonus',
  'leisure_guilt',
  'stress_threshold',
].map(trait);
/** The number of bounded traits, 9. */
export const NUM_BOUNDED = BOUNDED_TRAITS.length;
const THRESHOLD = NUM_BOUNDED - 1;
const bounded = (name: string): number => BOUNDED_TRAITS.indexOf(trait(name));

/** Marks a meter that no trait affects. */
const NONE = -1;
/**
 * Bound on the float32 rounding of an anomaly in the published world (numbers.ts). Chosen by hand, with a wide margin: an
 * operation with a result below 2 rounds by at most 2^-24.
 */
const ROUNDING = f32(2 ** -18);

/** The data of a step from which `TraitBounds` derives bounds. */
export interface SeenStep {
  readonly slot: number;
  readonly action: number;
  /** f32 [5]: the meters before the step. */
  readonly before: ArrayLike<number>;
  /** f32 [5]. */
  readonly anomalies: ArrayLike<number>;
}

/** Narrows bounds. One object serves all environments: the bounds are the caller's. */
export class TraitBounds {
  readonly #params: Params;
  /** i8 [4 * 10 * 5]: the index in BOUNDED_TRAITS of the trait that affects each meter, or NONE. */
  readonly #affecting: Int8Array;
  /**
   * f32 [4 * 10 * 5]: the anomaly for each unit of the affecting trait. `narrow` multiplies the slope of progress by the
   * vitality factor.
   */
  readonly #slopes: Float32Array;
  /** f32 [9]: the bounded traits of the neutral profile. */
  readonly #neutral: Float32Array;
  /** f32 [5]: the bound on noise and rounding of each meter. */
  readonly #margin: Float32Array;
  /** f32 [5]: anomaly for each unit of the trait in this step. */
  readonly #slope = new Float32Array(NUM_METERS);

  constructor(params: Params) {
    this.#params = params;
    const size = NUM_SLOTS * NUM_ACTIONS * NUM_METERS;
    this.#affecting = new Int8Array(size).fill(NONE);
    this.#slopes = new Float32Array(size);
    this.#neutral = Float32Array.from(BOUNDED_TRAITS, (k) => params.traitNeutral[k]);
    this.#margin = Float32Array.from({ length: NUM_METERS }, (_, k) => f32(params.noiseMeters[k] + ROUNDING));
    for (let slot = 0; slot < NUM_SLOTS; slot++) {
      for (let action = 0; action < NUM_ACTIONS; action++) this.#fillRow(slot, action);
    }
  }

  /** Fills the tables for a slot and an action, from rule 2 of docs/world.md. */
  #fillRow(slot: number, action: number): void {
    const row = (slot * NUM_ACTIONS + action) * NUM_METERS;
    const { effect, tagged, focusCognition } = this.#params;
    const set = (meter: number, name: string, slope: number): void => {
      this.#affecting[row + meter] = bounded(name);
      this.#slopes[row + meter] = slope;
    };
    // `tagged` has a number for each tag, with bit k set if action k has the tag.
    const is = (tag: (typeof TAGS)[number]): boolean => ((tagged[TAGS.indexOf(tag)] >>> action) & 1) === 1;
    if (is('productive')) {
      // Slot 0 is the morning. In the afternoon, slot 1, no trait affects focus.
      const focus = slot === 0 ? 'morning_focus' : 'night_focus';
      if (slot !== 1) {
        set(PROGRESS, focus, effect[row + PROGRESS]);
        set(COGNITION, focus, focusCognition);
      }
      set(VITALITY, 'work_vitality_recovery', 1);
      set(SERENITY, 'progress_serenity_bonus', 1);
    }
    if (is('social')) {
      set(VITALITY, 'social_vitality_multiplier', effect[row + VITALITY]);
      set(SERENITY, 'social_serenity_bonus', 1);
    }
    if (is('solo')) set(SERENITY, 'solo_serenity_bonus', 1);
    if (is('guilty')) set(SERENITY, 'leisure_guilt', -1);
  }

  /** Writes the bounds of the prior. @param low f32 [9]. @param high f32 [9]. */
  reset(low: Float32Array, high: Float32Array): void {
    const { traitLow, traitSpan } = this.#params;
    for (const [k, index] of BOUNDED_TRAITS.entries()) {
      low[k] = traitLow[index];
      high[k] = f32(traitLow[index] + traitSpan[index]);
    }
  }

  /** Narrows the bounds with a step. Evidence that contradicts them is ignored. @param low f32 [9]. @param high f32 [9]. */
  narrow(step: SeenStep, low: Float32Array, high: Float32Array): void {
    const row = (step.slot * NUM_ACTIONS + step.action) * NUM_METERS;
    const { vitalityFactorBase, vitalityFactorSlope } = this.#params;
    const vitalityFactor = f32(vitalityFactorBase + f32(vitalityFactorSlope * step.before[VITALITY]));
    for (let k = 0; k < NUM_METERS; k++) {
      this.#slope[k] = k === PROGRESS ? f32(this.#slopes[row + k] * vitalityFactor) : this.#slopes[row + k];
    }
    const serenity = step.before[SERENITY];
    let mayBeCalm = low[THRESHOLD] <= serenity;
    let mayBeStressed = serenity < high[THRESHOLD];
    if (mayBeCalm && mayBeStressed) {
      const calmFits = this.#fits(step, row, 0, low, high);
      const stressedFits = this.#fits(step, row, 1, low, high);
      if (calmFits && !stressedFits) high[THRESHOLD] = serenity;
      if (stressedFits && !calmFits) low[THRESHOLD] = serenity;
      if (calmFits !== stressedFits) [mayBeCalm, mayBeStressed] = [calmFits, stressedFits];
    }
    for (let k = 0; k < NUM_METERS; k++) {
      if (this.#affecting[row + k] !== NONE)
        this.#narrowTrait(step, row, k, mayBeCalm, mayBeStressed, low, high);
    }
  }

  /**
   * Returns the part of an anomaly that comes from stress: the effect on a stressed (1) or calm (0) profile, minus that on the
   * neutral profile.
   */
  #stressOf(step: SeenStep, k: number, stressed: number): number {
    const neutral = step.before[SERENITY] < this.#neutral[THRESHOLD] ? 1 : 0;
    return f32(this.#params.stress[k] * (stressed - neutral));
  }

  /** Returns whether each anomaly, checked separately, is possible for a stressed (1) or calm (0) profile within the bounds. */
  #fits(step: SeenStep, row: number, stressed: number, low: Float32Array, high: Float32Array): boolean {
    for (let k = 0; k < NUM_METERS; k++) {
      const rest = f32(step.anomalies[k] - this.#stressOf(step, k, stressed));
      const at = this.#affecting[row + k];
      const a = at === NONE ? 0 : f32(this.#slope[k] * f32(low[at] - this.#neutral[at]));
      const b = at === NONE ? 0 : f32(this.#slope[k] * f32(high[at] - this.#neutral[at]));
      if (f32(rest + this.#margin[k]) < Math.min(a, b)) return false;
      if (f32(rest - this.#margin[k]) > Math.max(a, b)) return false;
    }
    return true;
  }

  /** Narrows the bounds of the trait that affects meter `k`. @param row the index of the slot and action in the tables. */
  #narrowTrait(
    step: SeenStep,
    row: number,
    k: number,
    mayBeCalm: boolean,
    mayBeStressed: boolean,
    low: Float32Array,
    high: Float32Array,
  ): void {
    const at = this.#affecting[row + k];
    const slope = this.#slope[k];
    const margin = this.#margin[k];
    const calmRest = f32(step.anomalies[k] - this.#stressOf(step, k, 0));
    const stressedRest = f32(step.anomalies[k] - this.#stressOf(step, k, 1));
    // If the profile may be stressed or calm, the bounds allow both.
    const least = mayBeStressed ? (mayBeCalm ? Math.min(calmRest, stressedRest) : stressedRest) : calmRest;
    const most = mayBeStressed ? (mayBeCalm ? Math.max(calmRest, stressedRest) : stressedRest) : calmRest;
    const a = f32(this.#neutral[at] + f32(f32(least - margin) / slope));
    const b = f32(this.#neutral[at] + f32(f32(most + margin) / slope));
    const newLow = Math.max(low[at], Math.min(a, b));
    const newHigh = Math.min(high[at], Math.max(a, b));
    if (!(newLow <= newHigh)) return;
    low[at] = newLow;
    high[at] = newHigh;
  }
}
