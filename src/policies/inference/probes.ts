/** What an action would tell: by how much taking it now is expected to bring a belief nearer the target. */
import { clamp01 } from '../../reference/profile.js';
import { respond } from '../../reference/step.js';
import type { Params } from '../../world/block.js';
import {
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  NUM_TRAITS,
  PROFILE_SIZE,
} from '../../world/fields.js';
import type { PersonBelief } from './person.js';
import { EVENT_IMPACT, METABOLIC_RATE, NOBODY, type Responses, VITALITY } from './responses.js';
import { type TraitBelief, VARIANCES } from './traits.js';

/**
 * What is expected to be left of the variance of a number that is uniform over a range, once its sum with uniform luck
 * was seen: the mean square of the widths that are left, as a share. @param luck the luck's width, from end to end.
 */
export function varianceLeft(width: number, luck: number): number {
  if (width <= luck) return luck > 0 ? 1 - width / (2 * luck) : 1;
  const share = luck / width;
  return share * share * (1 - share / 2);
}

/**
 * An estimate, not a search: each trait by its own range as if nothing else were hidden, the weights by what the mean
 * person's changes would make of a reward, errors as wide as the root of a variance.
 */
export class Probes {
  readonly #params: Params;
  readonly #responses: Responses;
  /** f32 [16] and [5]: the mean person, and what changes for it. */
  readonly #mean = new Float32Array(PROFILE_SIZE);
  readonly #changes = new Float32Array(NUM_METERS);
  /** f64 [16]: the variance of what a belief makes of each hidden number, and by how much a probe would reduce it. */
  readonly #variance = new Float64Array(PROFILE_SIZE);
  readonly #told = new Float64Array(PROFILE_SIZE);
  /** f64 [5]: means of the weights, and of what a belief makes of them; f64 [5, 5]: covariances of weights, and of both. */
  readonly #weight = new Float64Array(NUM_METERS);
  readonly #factor = new Float64Array(NUM_METERS);
  readonly #covariance = new Float64Array(NUM_METERS * NUM_METERS);
  readonly #withFactor = new Float64Array(NUM_METERS * NUM_METERS);

  constructor(params: Params, responses: Responses) {
    this.#params = params;
    this.#responses = responses;
  }

  /**
   * Writes the worth of each action at the moment that was seen last: f32 [10] at `offset`. It is 0 for all before the
   * last action and after it: when they tell something, no belief is asked for any more.
   * @param errors expected absolute errors of the present belief, three of them from `from` on.
   */
  write(person: PersonBelief, errors: Float32Array, from: number, out: Float32Array, offset: number): void {
    out.fill(0, offset, offset + NUM_ACTIONS);
    if (person.step < 0 || person.step >= NUM_STEPS - 1) return;
    this.#weighTraits(person);
    this.#weighWeights(person.weights.drawn);
    for (let action = 0; action < NUM_ACTIONS; action++) {
      this.#responses.ask(person.step % NUM_SLOTS, action, person.meters);
      this.#tellTraits(person.traits);
      this.#tellWeights(person, action);
      out[offset + action] = this.#errorsSaved(errors, from);
    }
  }

  #weighTraits({ traits, rates }: PersonBelief): void {
    for (let trait = 0; trait < NUM_TRAITS; trait++) {
      this.#mean[trait] = traits.mean(trait);
      this.#variance[trait] =
        traits.variance(trait) * this.#params.traitInverseSpan[trait] * this.#params.traitInverseSpan[trait];
    }
    this.#mean[METABOLIC_RATE] = rates.metabolism.middle;
    this.#mean[EVENT_IMPACT] = rates.impact.middle;
  }

  #weighWeights(drawn: Float64Array): void {
    const people = drawn.length / NUM_METERS;
    for (const sums of [this.#weight, this.#factor, this.#covariance, this.#withFactor]) sums.fill(0);
    this.#variance.fill(0, NUM_TRAITS);
    for (let at = 0; at < drawn.length; at++) {
      this.#weight[at % NUM_METERS] += drawn[at] / people;
      this.#factor[at % NUM_METERS] += this.#factorOf(drawn[at]) / people;
    }
    for (let at = 0; at < drawn.length; at++) {
      const k = at % NUM_METERS;
      const off = drawn[at] - this.#weight[k];
      const offFactor = this.#factorOf(drawn[at]) - this.#factor[k];
      this.#variance[NUM_TRAITS + k] += (offFactor * offFactor) / people;
      for (let other = 0, from = at - k; other < NUM_METERS; other++) {
        const offOther = drawn[from + other] - this.#weight[other];
        this.#covariance[k * NUM_METERS + other] += (off * offOther) / people;
        this.#withFactor[k * NUM_METERS + other] += (offFactor * offOther) / people;
      }
    }
  }

  #factorOf(weight: number): number {
    return clamp01(weight * this.#params.beliefWeightScale);
  }

  /** Anomalies: of each trait that moves a meter. */
  #tellTraits(traits: TraitBelief): void {
    this.#told.fill(0);
    const { mover, slope } = this.#responses;
    for (let k = 0; k < NUM_METERS; k++) {
      // A trait that moves several meters is told by all of them at the first.
      if (mover[k] === NOBODY || mover.indexOf(mover[k]) < k) continue;
      for (let cell = 0; cell < traits.cells; cell++) {
        const width = traits.width(cell, mover[k]) * this.#params.traitInverseSpan[mover[k]];
        let left = 1;
        for (let meter = k; meter < NUM_METERS; meter++) {
          if (mover[meter] !== mover[k]) continue;
          const span = Math.abs(slope[meter]) * this.#params.traitSpan[mover[k]];
          left *= varianceLeft(span * width * Math.sqrt(left), 2 * Math.abs(this.#params.noiseMeters[meter]));
        }
        this.#told[mover[k]] += (traits.chance[cell] * (width * width * (1 - left))) / VARIANCES;
      }
    }
  }

  /** The reward: of all weights together, as the changes of the mean person weigh them. */
  #tellWeights({ step, meters }: PersonBelief, action: number): void {
    this.#foresee(step % NUM_SLOTS, action, meters);
    const { rewardScale, noiseReward } = this.#params;
    const changes = this.#changes;
    let variance = 0;
    for (let at = 0; at < this.#covariance.length; at++)
      variance += changes[Math.floor(at / NUM_METERS)] * changes[at % NUM_METERS] * this.#covariance[at];
    if (!(variance > 0)) return;
    const width = Math.abs(rewardScale) * Math.sqrt(VARIANCES * variance);
    const told = 1 - varianceLeft(width, 2 * Math.abs(noiseReward));
    for (let k = 0; k < NUM_METERS; k++) {
      let along = 0;
      for (let other = 0; other < NUM_METERS; other++)
        along += this.#withFactor[k * NUM_METERS + other] * changes[other];
      this.#told[NUM_TRAITS + k] = (told * along * along) / variance;
    }
  }

  /** What would change for the mean person, without luck and events. */
  #foresee(slot: number, action: number, meters: Float32Array): void {
    const { decay } = this.#params;
    respond(this.#params, this.#mean, slot, action, meters, this.#changes);
    for (let k = 0; k < NUM_METERS; k++) {
      const rate = k === VITALITY ? this.#mean[METABOLIC_RATE] : 1;
      this.#changes[k] = clamp01(meters[k] + this.#changes[k] - decay[k] * rate) - meters[k];
    }
  }

  /** How much smaller the mean of the expected errors would be. */
  #errorsSaved(errors: Float32Array, from: number): number {
    const { beliefSource, beliefShare } = this.#params;
    const factors = beliefSource.length / NUM_BELIEFS;
    let saved = 0;
    for (let belief = 0; belief < NUM_BELIEFS; belief++) {
      let [variance, told] = [0, 0];
      for (let at = belief * factors; at < (belief + 1) * factors; at++) {
        const share = beliefShare[at] * beliefShare[at];
        variance += share * this.#variance[beliefSource[at]];
        told += share * this.#told[beliefSource[at]];
      }
      if (variance > 0) saved += errors[from + belief] * (1 - Math.sqrt(Math.max(0, 1 - told / variance)));
    }
    return saved / NUM_BELIEFS;
  }
}
