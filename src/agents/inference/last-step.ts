/** The latest step of an episode, for inference reports. */
import type { Params } from '../../world/block.js';
import { NUM_METERS, NUM_TRAITS } from '../../world/fields.js';
import type { Evidence } from './evidence.js';
import { NO_TRAIT } from './responses.js';
import type { TraitPosterior } from './traits.js';
import type { WeightPosterior } from './weights.js';

/** The latest step, and what was known before it about traits and weights. */
export class LastStep {
  readonly #params: Params;
  /** The step count after the step; 0 if there was no step. */
  step = 0;
  slot = 0;
  /** The codes of the action and of the event; -1 for no event. */
  action = 0;
  event = -1;
  /** The observed reward. */
  reward = 0;
  /** The reward that the mean weights before the step predict; NaN for the 28th step, whose reward includes the grade. */
  expectedReward = 0;
  readonly anomalies = new Float32Array(NUM_METERS);
  /** i8 [5]: the trait that affects each meter, or NO_TRAIT. */
  readonly affectingTrait = new Int8Array(NUM_METERS).fill(NO_TRAIT);
  /** Serenity before the step. */
  serenity = 0;
  /** f64 [11] each: bounds of the traits before the step. */
  readonly low = new Float64Array(NUM_TRAITS);
  readonly high = new Float64Array(NUM_TRAITS);
  /** f64 [5]: means of the weights before the step. */
  readonly weights = new Float64Array(NUM_METERS);
  /** Bit k is set if no profile fitted both the anomaly of meter k and the earlier anomalies. */
  contradictedAnomalies = 0;
  /** Whether the changes of the meters, or the reward, contradicted earlier observations. */
  contradictedChanges = false;
  contradictedReward = false;

  constructor(params: Params) {
    this.#params = params;
  }

  reset(): void {
    this.step = 0;
  }

  /** Stores a step. Call it before the posterior is updated with that step. */
  record(evidence: Evidence, traits: TraitPosterior, weights: WeightPosterior): void {
    this.step = evidence.step + 1;
    this.slot = evidence.slot;
    this.action = evidence.action;
    this.event = evidence.event;
    this.reward = evidence.reward;
    this.anomalies.set(evidence.anomalies);
    this.affectingTrait.set(evidence.affectingTrait);
    this.serenity = evidence.serenity;
    for (let trait = 0; trait < NUM_TRAITS; trait++) {
      this.low[trait] = traits.lowest(trait);
      this.high[trait] = traits.highest(trait);
    }
    for (let k = 0; k < NUM_METERS; k++) this.weights[k] = weights.mean(k);
    this.expectedReward = evidence.hasWeightEvidence ? this.#expect(evidence) : Number.NaN;
  }

  /** Returns the reward that the mean weights before the step predict. */
  #expect({ deltas, crashed }: Evidence): number {
    const { rewardScale, rewardBias, crashPenalty } = this.#params;
    let sum = 0;
    for (let k = 0; k < NUM_METERS; k++) sum += (this.weights[k] + rewardBias[k]) * deltas[k];
    return rewardScale * sum - crashPenalty * crashed;
  }

  /** Whether any observation of the step contradicted earlier observations. */
  get contradicted(): boolean {
    return this.contradictedAnomalies !== 0 || this.contradictedChanges || this.contradictedReward;
  }
}
