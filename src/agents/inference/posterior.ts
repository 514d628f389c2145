/** The posterior over one profile, from one stream of observations, and profiles drawn from it. */

import type { Params } from '../../world/block.js';
import {
  MIN_MAGNITUDE,
  NUM_METERS,
  NUM_TRAITS,
  OBSERVATION,
  PROFILE_SIZE,
  TRAIT,
} from '../../world/fields.js';
import { type Evidence, NO_TRAIT } from './evidence.js';
import { type Range, RatePosterior } from './rates.js';
import { type InferenceDraws, latinUnits, sortSamples } from './samples.js';
import { rangeOf, TraitPosterior } from './traits.js';
import { type Scratch, WeightPosterior } from './weights.js';

/** The latest step of an episode, for inference reports, and what was known before it about traits and weights. */
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

/** Maps units to profiles. All posteriors share one table of units, which `latinUnits` makes. */
export class PosteriorSamples {
  readonly #units: Float64Array;
  /** f64 [11] each: the bounds of the traits. */
  readonly #min: Float64Array;
  readonly #max: Float64Array;
  /** The number of samples in the table. */
  readonly count: number;
  /** u32 [count] for each hidden number: the samples, for a trait in the order of its units. */
  readonly #orders: readonly Uint32Array[];
  /** u32: the samples that the last call of `writeMany` wrote. */
  #spaced: Uint32Array = new Uint32Array(0);

  constructor(params: Params, count: number, draws: InferenceDraws) {
    this.count = count;
    this.#units = latinUnits(count, draws);
    this.#min = Float64Array.from({ length: NUM_TRAITS }, (_, trait) => rangeOf(params, trait)[0]);
    this.#max = this.#min.map((_, trait) => rangeOf(params, trait)[1]);
    this.#orders = Array.from({ length: PROFILE_SIZE }, () =>
      Uint32Array.from({ length: count }, (_, p) => p),
    );
    // The units of a trait are (0.5, 1.5, ...) / count.
    this.#units.forEach((u, at) => {
      this.#orders[at % NUM_TRAITS][Math.floor(u * count)] = Math.floor(at / NUM_TRAITS);
    });
  }

  /**
   * Writes `count` samples of a posterior, evenly spaced in the table: f32 [count, 16] from `offset` on, valid profiles. If
   * `count` is larger than the table, samples repeat.
   * @param hidden the hidden numbers to write. Default: all.
   */
  writeMany(
    posterior: ProfilePosterior,
    count: number,
    out: Float32Array,
    offset: number,
    hidden: Iterable<number> = this.#orders.keys(),
  ): void {
    if (this.#spaced.length !== count) this.#spaced = spacedSamples(this.count, count);
    for (const k of hidden) this.#write(posterior, k, this.#spaced, out, offset + k, PROFILE_SIZE);
  }

  /** Writes the table's samples of hidden number `k`, 0 to 15, in ascending order: f32 [count]. */
  writeSorted(posterior: ProfilePosterior, k: number, out: Float32Array): void {
    this.#write(posterior, k, this.#orders[k], out, 0, 1);
    if (k >= NUM_TRAITS) sortSamples(out);
    else if (k !== TRAIT.stressThreshold && boundsOf(posterior, k) === null) out.sort();
  }

  /** Writes hidden number `k` of samples from index `at` on, at a distance of `stride`. */
  #write(
    posterior: ProfilePosterior,
    k: number,
    samples: Uint32Array,
    out: Float32Array,
    at: number,
    stride: number,
  ): void {
    const { drawn } = posterior.weights;
    const bounds = k < NUM_TRAITS ? boundsOf(posterior, k) : null;
    if (bounds !== null) this.#writeTrait(k, bounds, samples, out, at, stride);
    else if (k < NUM_TRAITS) this.#writeByCell(posterior.traits, k, samples, out, at, stride);
    else
      for (let i = 0, from = k - NUM_TRAITS; i < samples.length; i++) {
        const weight = drawn[samples[i] * NUM_METERS + from];
        out[at + i * stride] = weight < MIN_MAGNITUDE ? 0 : weight;
      }
  }

  /** Does the same for a trait within bounds. */
  #writeTrait(
    trait: number,
    { low, high }: Bounds,
    samples: Uint32Array,
    out: Float32Array,
    at: number,
    stride: number,
  ): void {
    const [units, min, max] = [this.#units, this.#min[trait], this.#max[trait]];
    for (let i = 0; i < samples.length; i++)
      out[at + i * stride] = traitAt(units[samples[i] * NUM_TRAITS + trait], low, high, min, max);
  }

  /** Does the same for a trait whose bounds depend on the cell: a range of stress thresholds (traits.ts). */
  #writeByCell(
    traits: TraitPosterior,
    trait: number,
    samples: Uint32Array,
    out: Float32Array,
    at: number,
    stride: number,
  ): void {
    const [units, min, max] = [this.#units, this.#min[trait], this.#max[trait]];
    const { low, high } = traits;
    for (let i = 0; i < samples.length; i++) {
      const row = samples[i] * NUM_TRAITS;
      // The index of a cell, plus a fraction of its range.
      const position = traits.positionAt(units[row + TRAIT.stressThreshold]);
      const cell = Math.floor(position);
      const box = cell * NUM_TRAITS + trait;
      const u = trait === TRAIT.stressThreshold ? position - cell : units[row + trait];
      out[at + i * stride] = traitAt(u, low[box], high[box], min, max);
    }
  }
}

/** Returns the indices of `count` samples, evenly spaced among `available` samples: u32 [count]. */
const spacedSamples = (available: number, count: number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, at) =>
    Math.floor(((at % available) * available) / Math.min(count, available)),
  );

type Bounds = Pick<Range, 'low' | 'high'>;

/** Returns the value at the fraction `u` of [low, high] as a valid trait: a float32 in [min, max], 0 if too near to 0. */
function traitAt(u: number, low: number, high: number, min: number, max: number): number {
  const value = Math.fround(low + (high - low) * u);
  const inside = value < min ? min : value > max ? max : value;
  return Math.abs(inside) < MIN_MAGNITUDE ? 0 : inside;
}

/** Returns the bounds of a trait, or null if they differ between cells. */
function boundsOf({ rates, traits }: ProfilePosterior, trait: number): Bounds | null {
  if (trait === TRAIT.metabolicRate) return rates.metabolism;
  if (trait === TRAIT.eventImpact) return rates.impact;
  return traits.haveEqualBounds(trait) ? { low: traits.low[trait], high: traits.high[trait] } : null;
}
