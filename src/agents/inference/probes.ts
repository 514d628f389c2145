/** Computes the value of information: the expected reduction of the belief's error by each action. */

import { clamp01 } from '../../engine/reference/profile.js';
import { effectAndResponse } from '../../engine/reference/rules.js';
import type { Params } from '../../world/block.js';
import {
  METER,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  NUM_TRAITS,
  PROFILE_SIZE,
  TRAIT,
} from '../../world/fields.js';
import { NO_TRAIT, type Responses } from './evidence.js';
import type { ProfilePosterior } from './posterior.js';
import type { BeliefError } from './samples.js';
import { type TraitPosterior, UNIFORM_VARIANCE_DIVISOR } from './traits.js';

/**
 * Returns the share of a uniform variable's variance that is expected to remain after observing the variable plus uniform
 * noise. This share is the expected squared width of the remaining range, divided by the initial squared width.
 * @param width the full width of the variable. @param noise the full width of the noise.
 */
export function remainingVariance(width: number, noise: number): number {
  if (width <= noise) return noise > 0 ? 1 - width / (2 * noise) : 1;
  const share = noise / width;
  return share * share * (1 - share / 2);
}

/**
 * Estimates the value of each action without a search. Each trait is treated as if it were the only hidden number. Rewards
 * are predicted from the mean profile's meter changes. Absolute errors are assumed proportional to the standard deviation.
 */
export class Probes {
  readonly #params: Params;
  readonly #responses: Responses;
  /** f32 [16]: the traits of the mean profile; its weights stay 0. f32 [5]: the changes of its meters. */
  readonly #mean = new Float32Array(PROFILE_SIZE);
  readonly #changes = new Float32Array(NUM_METERS);
  /** f64 [16]: the variance of each hidden number, scaled as in the belief target, and its expected reduction. */
  readonly #variance = new Float64Array(PROFILE_SIZE);
  readonly #reduction = new Float64Array(PROFILE_SIZE);
  /** f64 [5, samples] each: the deviations of the samples' weights and factors from their means. */
  readonly #deviations: Float64Array;
  readonly #factorDeviations: Float64Array;
  /** f64 [5, 5]: covariances of the weights. */
  readonly #covariance = new Float64Array(NUM_METERS * NUM_METERS);
  /** f64 [5, 5]: covariances of factors (row) and weights (column). */
  readonly #factorCovariance = new Float64Array(NUM_METERS * NUM_METERS);

  /** @param samples the number of samples of each posterior's weights. */
  constructor(params: Params, responses: Responses, samples: number) {
    this.#params = params;
    this.#responses = responses;
    this.#deviations = new Float64Array(NUM_METERS * samples);
    this.#factorDeviations = new Float64Array(NUM_METERS * samples);
  }

  /**
   * Writes the value of each action after the last observation: f32 [10] at `offset`. All are 0 before the first observation.
   * They are also 0 if at most one step is left, because no graded belief can follow.
   * @param error the kind of error whose reduction is the value.
   * @param errors the expected error of each number of the current belief: three numbers from index `from` on.
   */
  write(
    posterior: ProfilePosterior,
    error: BeliefError,
    errors: Float32Array,
    from: number,
    out: Float32Array,
    offset: number,
  ): void {
    out.fill(0, offset, offset + NUM_ACTIONS);
    if (posterior.step < 0 || posterior.step >= NUM_STEPS - 1) return;
    this.#computeTraitVariances(posterior);
    this.#computeWeightVariances(posterior.weights.drawn);
    for (let action = 0; action < NUM_ACTIONS; action++) {
      this.#responses.compute(posterior.step % NUM_SLOTS, action, posterior.meters);
      this.#reduceTraits(posterior.traits);
      this.#reduceWeights(posterior, action);
      out[offset + action] = this.#errorReduction(error, errors, from);
    }
  }

  /** Computes the mean of each trait, and its variance divided by its squared range. */
  #computeTraitVariances({ traits, rates }: ProfilePosterior): void {
    for (let trait = 0; trait < NUM_TRAITS; trait++) {
      this.#mean[trait] = traits.mean(trait);
      this.#variance[trait] =
        traits.variance(trait) * this.#params.traitInverseSpan[trait] * this.#params.traitInverseSpan[trait];
    }
    this.#mean[TRAIT.metabolicRate] = rates.metabolism.middle;
    this.#mean[TRAIT.eventImpact] = rates.impact.middle;
  }

  /** Computes covariances of the weights and factors, and the factors' variances. @param drawn f64 [samples, 5]. */
  #computeWeightVariances(drawn: Float64Array): void {
    for (let k = 0; k < NUM_METERS; k++) this.#computeDeviations(drawn, k);
    for (let k = 0; k < NUM_METERS; k++)
      for (let other = 0; other < NUM_METERS; other++) this.#computeCovariances(k, other);
  }

  /** Computes the covariances of weight `k` and of its factor with another weight, in one loop, which takes as long as one. */
  #computeCovariances(k: number, other: number): void {
    const [weights, factors] = [this.#deviations, this.#factorDeviations];
    const samples = weights.length / NUM_METERS;
    const share = 1 / samples;
    let [covariance, factorCovariance] = [0, 0];
    for (let p = 0, at = k * samples, otherAt = other * samples; p < samples; p++, at++, otherAt++) {
      covariance += weights[at] * weights[otherAt] * share;
      factorCovariance += factors[at] * weights[otherAt] * share;
    }
    this.#covariance[k * NUM_METERS + other] = covariance;
    this.#factorCovariance[k * NUM_METERS + other] = factorCovariance;
  }

  /**
   * Computes the deviations of weight `k` and of its factor, which is the weight scaled as in the belief target, and the variance
   * of the factor.
   */
  #computeDeviations(drawn: Float64Array, k: number): void {
    const scale = this.#params.beliefWeightScale;
    const samples = drawn.length / NUM_METERS;
    const share = 1 / samples;
    let [mean, meanFactor] = [0, 0];
    for (let p = 0, from = k; p < samples; p++, from += NUM_METERS) {
      mean += drawn[from] * share;
      meanFactor += clamp01(drawn[from] * scale) * share;
    }
    let variance = 0;
    for (let p = 0, from = k; p < samples; p++, from += NUM_METERS) {
      const deviation = clamp01(drawn[from] * scale) - meanFactor;
      this.#deviations[k * samples + p] = drawn[from] - mean;
      this.#factorDeviations[k * samples + p] = deviation;
      variance += deviation * deviation * share;
    }
    this.#variance[NUM_TRAITS + k] = variance;
  }

  /** Computes how much the anomalies reduce the variance of each trait that affects a meter. */
  #reduceTraits(traits: TraitPosterior): void {
    this.#reduction.fill(0);
    const { affectingTrait, slope } = this.#responses;
    for (let k = 0; k < NUM_METERS; k++) {
      // A trait that affects several meters is handled once, at the first of them.
      if (affectingTrait[k] === NO_TRAIT || affectingTrait.indexOf(affectingTrait[k]) < k) continue;
      // A cell is a range of stress thresholds, with bounds of all traits (traits.ts).
      for (let cell = 0; cell < traits.numCells; cell++) {
        const width =
          traits.width(cell, affectingTrait[k]) * this.#params.traitInverseSpan[affectingTrait[k]];
        // The share of the trait's variance that remains after the anomalies of the meters so far.
        let remaining = 1;
        for (let meter = k; meter < NUM_METERS; meter++) {
          if (affectingTrait[meter] !== affectingTrait[k]) continue;
          const effectSpan = Math.abs(slope[meter]) * this.#params.traitSpan[affectingTrait[k]];
          remaining *= remainingVariance(
            effectSpan * width * Math.sqrt(remaining),
            2 * Math.abs(this.#params.noiseMeters[meter]),
          );
        }
        this.#reduction[affectingTrait[k]] +=
          (traits.chance[cell] * (width * width * (1 - remaining))) / UNIFORM_VARIANCE_DIVISOR;
      }
    }
  }

  /** Computes how much the reward reduces the variance of each weight's factor, using the mean profile's meter changes. */
  #reduceWeights({ step, meters }: ProfilePosterior, action: number): void {
    this.#expectChanges(step % NUM_SLOTS, action, meters);
    const { rewardScale, noiseReward } = this.#params;
    const changes = this.#changes;
    // The variance that the unknown weights give the reward, divided by the square of `rewardScale`.
    let variance = 0;
    for (let k = 0, at = 0; k < NUM_METERS; k++)
      for (let other = 0; other < NUM_METERS; other++)
        variance += changes[k] * changes[other] * this.#covariance[at++];
    if (!(variance > 0)) return;
    const width = Math.abs(rewardScale) * Math.sqrt(UNIFORM_VARIANCE_DIVISOR * variance);
    const share = 1 - remainingVariance(width, 2 * Math.abs(noiseReward));
    for (let k = 0; k < NUM_METERS; k++) {
      let projection = 0;
      for (let other = 0; other < NUM_METERS; other++)
        projection += this.#factorCovariance[k * NUM_METERS + other] * changes[other];
      this.#reduction[NUM_TRAITS + k] = (share * projection * projection) / variance;
    }
  }

  /** Computes the changes of the mean profile's meters, without noise and events. */
  #expectChanges(slot: number, action: number, meters: Float32Array): void {
    const { decay } = this.#params;
    effectAndResponse(this.#params, this.#mean, slot, action, meters, this.#changes);
    for (let k = 0; k < NUM_METERS; k++) {
      const rate = k === METER.vitality ? this.#mean[TRAIT.metabolicRate] : 1;
      this.#changes[k] = clamp01(meters[k] + this.#changes[k] - decay[k] * rate) - meters[k];
    }
  }

  /** Returns the expected reduction of the mean error. */
  #errorReduction(error: BeliefError, errors: Float32Array, from: number): number {
    const { beliefSource, beliefShare } = this.#params;
    const numFactors = beliefSource.length / NUM_BELIEFS;
    let total = 0;
    for (let belief = 0; belief < NUM_BELIEFS; belief++) {
      let [variance, reduction] = [0, 0];
      for (let at = belief * numFactors; at < (belief + 1) * numFactors; at++) {
        const squaredShare = beliefShare[at] * beliefShare[at];
        variance += squaredShare * this.#variance[beliefSource[at]];
        reduction += squaredShare * this.#reduction[beliefSource[at]];
      }
      if (!(variance > 0)) continue;
      const remaining = Math.max(0, 1 - reduction / variance);
      total += errors[from + belief] * (1 - (error === 'squared' ? remaining : Math.sqrt(remaining)));
    }
    return total / NUM_BELIEFS;
  }
}
