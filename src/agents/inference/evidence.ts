/** The evidence of one step about the hidden profile, with bounds on noise and rounding. */
import { effectAndResponse } from '../../engine/reference/rules.js';
import type { Params } from '../../world/block.js';
import {
  METER,
  NUM_ACTIONS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  NUM_TRAITS,
  OBSERVATION,
  TRAIT,
} from '../../world/fields.js';

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
    meters[METER.vitality] = at & 1;
    for (let trait = 0; trait < NUM_TRAITS; trait++) {
      if (trait === TRAIT.stressThreshold) continue;
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
    this.#lowestTraits[TRAIT.stressThreshold] = this.#highestTraits[TRAIT.stressThreshold] =
      Number.NEGATIVE_INFINITY;
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

/**
 * Bound on the rounding error of one step's sums, relative to the bound of `#magnitudeOf`: eight float32 roundings. With this
 * margin, rounding does not exclude the true profile.
 */
const ROUNDING = 2 ** -21;

/** The evidence of a step, in memory that is reused for every step. Bounds are float64. */
export class Evidence {
  readonly #params: Params;
  readonly #responses: Responses;
  /** The largest magnitude of the factors of decay (the metabolic rate, or 1) and of event effects (the event impact). */
  readonly #largestRate: number;

  /** The step's number (0-27), slot, action code, and event code or -1. */
  step = 0;
  slot = 0;
  action = 0;
  event = -1;
  /** f32 [5]: the meters before and after the action. */
  readonly before = new Float32Array(NUM_METERS);
  readonly after = new Float32Array(NUM_METERS);
  /** f32 [5]: the changes of the meters, and their anomalies. */
  readonly deltas = new Float32Array(NUM_METERS);
  readonly anomalies = new Float32Array(NUM_METERS);
  /** The trait that affects each meter, or NO_TRAIT. */
  readonly affectingTrait: Int8Array;
  /** The effect on each meter of one unit of the trait that affects it. */
  readonly slope: Float64Array;
  /** The observed response of each meter, with noise, minus that of an unstressed profile with the `low` of every trait. */
  readonly excess = new Float64Array(NUM_METERS);
  /** Bounds on noise plus rounding, and on rounding alone, by meter. */
  readonly margin = new Float64Array(NUM_METERS);
  readonly rounding = new Float64Array(NUM_METERS);
  /**
   * The change of each meter by decay and event. If the meter was clamped to 0, an upper bound on this change; if it was
   * clamped to 1, a lower bound.
   */
  readonly rest = new Float64Array(NUM_METERS);
  /** The observed reward, and the number of crashed meters after the step. */
  reward = 0;
  crashed = 0;

  constructor(params: Params, responses: Responses) {
    this.#params = params;
    this.#responses = responses;
    const { traitLow, traitSpan } = params;
    const magnitudes = [TRAIT.metabolicRate, TRAIT.eventImpact].map(
      (trait) => Math.abs(traitLow[trait]) + traitSpan[trait],
    );
    this.#largestRate = Math.max(1, ...magnitudes);
    this.affectingTrait = responses.affectingTrait;
    this.slope = responses.slope;
  }

  /**
   * Reads the step that led to the observation at index `base` of `rows`.
   * @param before f32 [5]: the meters before this step.
   */
  read(rows: Float32Array, base: number, before: ArrayLike<number>): this {
    this.step = rows[base + OBSERVATION.step] - 1;
    this.slot = this.step % NUM_SLOTS;
    this.action = rows[base + OBSERVATION.lastAction];
    this.event = rows[base + OBSERVATION.event];
    this.reward = rows[base + OBSERVATION.reward];
    this.before.set(before);
    this.crashed = 0;
    for (let k = 0; k < NUM_METERS; k++) {
      this.after[k] = rows[base + OBSERVATION.meters + k];
      this.deltas[k] = rows[base + OBSERVATION.deltas + k];
      this.anomalies[k] = rows[base + OBSERVATION.anomalies + k];
      if (this.after[k] < this.#params.crashThreshold) this.crashed++;
    }
    this.#computeBounds();
    return this;
  }

  /** Serenity before the step. A profile is stressed if serenity is below the profile's stress threshold. */
  get serenity(): number {
    return this.before[METER.serenity];
  }

  /** Whether the reward is evidence of the weights. The reward of the 28th step is not, because it includes the grade. */
  get hasWeightEvidence(): boolean {
    return this.step < NUM_STEPS - 1;
  }

  #computeBounds(): void {
    this.#responses.compute(this.slot, this.action, this.before);
    const { lowest, neutral } = this.#responses;
    for (let k = 0; k < NUM_METERS; k++) {
      const anomaly = this.anomalies[k];
      this.excess[k] = anomaly + neutral[k] - lowest[k];
      this.rest[k] = this.deltas[k] - anomaly - neutral[k];
      this.rounding[k] = ROUNDING * this.#magnitudeOf(k);
      this.margin[k] = Math.abs(this.#params.noiseMeters[k]) + this.rounding[k];
    }
  }

  /** Returns an upper bound on the magnitude of every term of a meter's change, for all profiles. */
  #magnitudeOf(k: number): number {
    const { effect, stress, noiseMeters, decay, eventEffect, focusCognition } = this.#params;
    const { lowest, highest, neutral } = this.#responses;
    const row = (this.slot * NUM_ACTIONS + this.action) * NUM_METERS;
    const eventSize = this.event < 0 ? 0 : eventEffect[this.event * NUM_METERS + k];
    return (
      1 +
      Math.abs(this.anomalies[k]) +
      Math.abs(lowest[k]) +
      Math.abs(highest[k]) +
      Math.abs(neutral[k]) +
      Math.abs(effect[row + k]) +
      Math.abs(focusCognition) +
      Math.abs(stress[k]) +
      Math.abs(noiseMeters[k]) +
      this.#largestRate * (Math.abs(decay[k]) + Math.abs(eventSize))
    );
  }
}
