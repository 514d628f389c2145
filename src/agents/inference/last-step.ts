/** The last step of an episode and the posterior before it: the input of a report. */
import type { Params } from '../../world/block.js';
import { NUM_METERS, NUM_TRAITS } from '../../world/fields.js';
import type { Evidence } from './evidence.js';
import { NO_TRAIT } from './responses.js';
import type { TraitBelief } from './traits.js';
import type { WeightBelief } from './weights.js';

export class LastStep {
  readonly #params: Params;
  /** The step count after it; 0 if there was no step. */
  step = 0;
  slot = 0;
  action = 0;
  event = -1;
  reward = 0;
  /** The reward expected from the mean weights before it; NaN for the last step, whose reward includes the grade. */
  expectedReward = 0;
  /** f32 [5]: its anomalies; the trait that affects each meter, or NO_TRAIT; serenity before it. */
  readonly anomalies = new Float32Array(NUM_METERS);
  readonly mover = new Int8Array(NUM_METERS).fill(NO_TRAIT);
  serenity = 0;
  /** f64 [11]: bounds of the traits before it. */
  readonly low = new Float64Array(NUM_TRAITS);
  readonly high = new Float64Array(NUM_TRAITS);
  /** f64 [5]: means of the weights before it. */
  readonly weights = new Float64Array(NUM_METERS);
  /** A bit for each meter whose anomaly contradicted earlier ones, and whether the changes and the reward did. */
  contradictedAnomalies = 0;
  contradictedChanges = false;
  contradictedReward = false;

  constructor(params: Params) {
    this.#params = params;
  }

  forget(): void {
    this.step = 0;
  }

  /** Stores a step. Call it before the posterior is updated with that step. */
  note(evidence: Evidence, traits: TraitBelief, weights: WeightBelief): void {
    this.step = evidence.step + 1;
    this.slot = evidence.slot;
    this.action = evidence.action;
    this.event = evidence.event;
    this.reward = evidence.reward;
    this.anomalies.set(evidence.anomalies);
    this.mover.set(evidence.mover);
    this.serenity = evidence.serenity;
    for (let trait = 0; trait < NUM_TRAITS; trait++) {
      this.low[trait] = traits.lowest(trait);
      this.high[trait] = traits.highest(trait);
    }
    for (let k = 0; k < NUM_METERS; k++) this.weights[k] = weights.mean(k);
    this.expectedReward = evidence.hasWeightEvidence ? this.#expect(evidence) : Number.NaN;
  }

  #expect({ deltas, crashed }: Evidence): number {
    const { rewardScale, rewardBias, crashPenalty } = this.#params;
    let sum = 0;
    for (let k = 0; k < NUM_METERS; k++) sum += (this.weights[k] + rewardBias[k]) * deltas[k];
    return rewardScale * sum - crashPenalty * crashed;
  }

  get contradicted(): boolean {
    return this.contradictedAnomalies !== 0 || this.contradictedChanges || this.contradictedReward;
  }
}
