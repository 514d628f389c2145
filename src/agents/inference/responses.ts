/** Responses of profiles to actions: which trait affects which meter, and how much. */
import { effectAndResponse } from '../../engine/reference/rules.js';
import type { Params } from '../../world/block.js';
import {
  METER_NAMES,
  NUM_ACTIONS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_TRAITS,
  TRAIT_NAMES,
} from '../../world/fields.js';

/** Indices of meters and traits. */
export const VITALITY = METER_NAMES.indexOf('vitality');
export const SERENITY = METER_NAMES.indexOf('serenity');
export const STRESS_THRESHOLD = TRAIT_NAMES.indexOf('stress_threshold');
export const METABOLIC_RATE = TRAIT_NAMES.indexOf('metabolic_rate');
export const EVENT_IMPACT = TRAIT_NAMES.indexOf('event_impact');
/** Marks a meter that no trait affects. */
export const NO_TRAIT = -1;

/**
 * Returns the trait that affects each meter, [slot][action][meter], NO_TRAIT for none. The stress threshold is omitted,
 * because it may affect all meters. At most one other trait affects a meter (docs/world.md, rule 2).
 */
function affectingTraitsOf(params: Params): Int8Array {
  const affectingTraits = new Int8Array(NUM_SLOTS * NUM_ACTIONS * NUM_METERS).fill(NO_TRAIT);
  const [low, high] = [new Float32Array(NUM_METERS), new Float32Array(NUM_METERS)];
  const meters = new Float32Array(NUM_METERS).fill(1);
  const profile = Float32Array.from(params.traitNeutral);
  // All effects are affine in vitality. An effect that is absent at both ends is absent everywhere. So each slot and action is
  // tried twice: with vitality 0 (even `at`) and 1 (odd `at`).
  for (let at = 0; at < 2 * NUM_SLOTS * NUM_ACTIONS; at++) {
    const row = at >>> 1;
    const [slot, action] = [Math.floor(row / NUM_ACTIONS), row % NUM_ACTIONS];
    meters[VITALITY] = at & 1;
    for (let trait = 0; trait < NUM_TRAITS; trait++) {
      if (trait === STRESS_THRESHOLD) continue;
      profile[trait] = params.traitLow[trait];
      effectAndResponse(params, profile, slot, action, meters, low);
      profile[trait] += params.traitSpan[trait];
      effectAndResponse(params, profile, slot, action, meters, high);
      profile[trait] = params.traitNeutral[trait];
      for (let k = 0; k < NUM_METERS; k++)
        if (low[k] !== high[k]) affectingTraits[row * NUM_METERS + k] = trait;
    }
  }
  return affectingTraits;
}

/** Responses of profiles to an action. The fields hold the result of the last `compute`. */
export class Responses {
  readonly #params: Params;
  readonly #affectingTraits: Int8Array;
  readonly #lowestTraits: Float32Array;
  readonly #highestTraits: Float32Array;

  /**
   * f32 [5] each: the responses of an unstressed profile with the lowest traits, of one with the highest traits, and of the
   * neutral profile.
   */
  readonly lowest = new Float32Array(NUM_METERS);
  readonly highest = new Float32Array(NUM_METERS);
  readonly neutral = new Float32Array(NUM_METERS);
  /** The trait that affects each meter, or NO_TRAIT. */
  readonly affectingTrait = new Int8Array(NUM_METERS);
  /** The effect on each meter of one unit of the trait that affects it; 0 without such a trait. */
  readonly slope = new Float64Array(NUM_METERS);

  constructor(params: Params) {
    this.#params = params;
    this.#affectingTraits = affectingTraitsOf(params);
    this.#lowestTraits = Float32Array.from(params.traitLow);
    this.#highestTraits = this.#lowestTraits.map((low, trait) => low + params.traitSpan[trait]);
    // No serenity is below this threshold, so these profiles are never stressed.
    this.#lowestTraits[STRESS_THRESHOLD] = this.#highestTraits[STRESS_THRESHOLD] = Number.NEGATIVE_INFINITY;
  }

  /** Computes the responses to an action in a slot with these meters. */
  compute(slot: number, action: number, meters: Float32Array): void {
    effectAndResponse(this.#params, this.#lowestTraits, slot, action, meters, this.lowest);
    effectAndResponse(this.#params, this.#highestTraits, slot, action, meters, this.highest);
    effectAndResponse(this.#params, this.#params.traitNeutral, slot, action, meters, this.neutral);
    const row = (slot * NUM_ACTIONS + action) * NUM_METERS;
    for (let k = 0; k < NUM_METERS; k++) {
      const affectingTrait = this.#affectingTraits[row + k];
      this.affectingTrait[k] = affectingTrait;
      this.slope[k] =
        affectingTrait === NO_TRAIT
          ? 0
          : (this.highest[k] - this.lowest[k]) / this.#params.traitSpan[affectingTrait];
    }
  }
}
