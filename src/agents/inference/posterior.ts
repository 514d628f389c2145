/** The posterior over one profile, from one stream of observations. */
import type { Params } from '../../world/block.js';
import { NUM_METERS, NUM_TRAITS, OBSERVATION } from '../../world/fields.js';
import type { Evidence } from './evidence.js';
import type { InferenceDraws } from './inference-draws.js';
import { LastStep } from './last-step.js';
import { RatePosterior } from './rates.js';
import { TraitPosterior } from './traits.js';
import { type Scratch, WeightPosterior } from './weights.js';

/** The step count before the first observation. */
const NEVER = -1;

/** The posteriors of one profile: traits that affect anomalies, the two other traits (rates.ts), and reward weights. */
export class ProfilePosterior {
  readonly traits: TraitPosterior;
  readonly rates: RatePosterior;
  readonly weights: WeightPosterior;
  readonly last: LastStep;
  /** The step count of the last observation. */
  step = NEVER;
  /** f32 [5], from the last observation. */
  readonly meters = new Float32Array(NUM_METERS);
  /** The number of steps used as evidence, and the number of these that contradicted earlier steps. */
  stepsUsed = 0;
  contradicted = 0;

  /** Begins with the prior. @param prior f64 [samples, 5]: weights. @param scratch memory for the same number of samples. */
  constructor(params: Params, prior: Float64Array, scratch: Scratch) {
    this.traits = new TraitPosterior(params);
    this.rates = new RatePosterior(params);
    this.weights = new WeightPosterior(params, prior, scratch);
    this.last = new LastStep(params);
  }

  #reset(): void {
    this.traits.reset();
    this.rates.reset();
    this.weights.reset();
    this.last.reset();
    this.stepsUsed = 0;
    this.contradicted = 0;
  }

  /**
   * Updates the posterior with the observation at `base` of `rows`. Step 0, or a step below the last observed
   * one, begins another episode. A second observation of the same step is ignored, except at step 0.
   * @param evidence memory for the step's evidence, overwritten. @returns whether the posterior may have changed.
   */
  observe(rows: Float32Array, base: number, evidence: Evidence, draws: InferenceDraws): boolean {
    const step = rows[base + OBSERVATION.step];
    if (step === this.step && step !== 0) return false;
    if (step < this.step || step === 0) this.#reset();
    if (step > 0) {
      // If steps were not observed, the meters before this step are not known.
      if (step !== this.step + 1) this.#computeMetersBefore(rows, base);
      this.#update(evidence.read(rows, base, this.meters), draws.begin(step));
    }
    this.step = step;
    for (let k = 0; k < NUM_METERS; k++) this.meters[k] = rows[base + OBSERVATION.meters + k];
    return true;
  }

  /** Returns whether a profile is consistent with all evidence. @param profile f32 [16]. */
  allows(profile: Float32Array): boolean {
    return (
      this.traits.allows(profile) &&
      this.rates.allows(profile) &&
      this.weights.allows(profile.subarray(NUM_TRAITS))
    );
  }

  /** Computes the meters before a step: the meters after the step minus the changes, up to rounding. */
  #computeMetersBefore(rows: Float32Array, base: number): void {
    for (let k = 0; k < NUM_METERS; k++)
      this.meters[k] = rows[base + OBSERVATION.meters + k] - rows[base + OBSERVATION.deltas + k];
  }

  #update(evidence: Evidence, draws: InferenceDraws): void {
    const { last } = this;
    last.record(evidence, this.traits, this.weights);
    // A bit mask of the contradicted meters. The other two calls return whether the evidence was consistent.
    last.contradictedAnomalies = this.traits.observe(evidence);
    last.contradictedChanges = !this.rates.observe(evidence);
    last.contradictedReward = evidence.hasWeightEvidence && !this.weights.observe(evidence, draws);
    this.stepsUsed++;
    if (last.contradicted) this.contradicted++;
  }
}
