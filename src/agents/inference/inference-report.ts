/** Reports an inference about one profile as named numbers. */
import { clamp01 } from '../../engine/reference/profile.js';
import {
  ACTION_NAMES,
  BELIEF_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  NUM_BELIEFS,
  NUM_TRAITS,
  PROFILE_SIZE,
  TRAIT,
  TRAIT_NAMES,
} from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { NO_TRAIT } from './evidence.js';
import type { LastStep, PosteriorSamples, ProfilePosterior } from './posterior.js';
import { HIGH, LOW, mean, meanError, median, quantile, shareBelow, variance } from './samples.js';

/** The posterior of one number. */
export interface Estimate {
  /** A name of TRAIT_NAMES, METER_NAMES (the meter of a weight) or BELIEF_NAMES. */
  readonly name: string;
  /** The posterior median. */
  readonly median: number;
  /** The 10 % quantile. */
  readonly low: number;
  /** The 90 % quantile. */
  readonly high: number;
  /**
   * The distance between the 10 % and the 90 % quantile, relative to their distance in the prior, at most 1; 0 if the prior has
   * no spread.
   */
  readonly relativeWidth: number;
  /** The share of the prior below the posterior median. */
  readonly share: number;
}

/** A hidden number that contributes to a number of the belief target (docs/world.md, Profiles). */
export interface Factor extends Estimate {
  /** Whether this is a reward weight, named by its meter. Otherwise it is a trait. */
  readonly isWeight: boolean;
  /** How far the median of this hidden number moves the target from 0.5. */
  readonly shift: number;
  /** The distance between the targets for the 10 % and the 90 % quantile of this hidden number. */
  readonly targetWidth: number;
}

/** The posterior of a number of the belief target. */
export interface TargetEstimate extends Estimate {
  /** Expected absolute error of the median. */
  readonly error: number;
  /** The posterior mean. */
  readonly mean: number;
  /** In the order of the belief factors in docs/world.md. */
  readonly factors: readonly Factor[];
}

/** The evidence of one meter's anomaly in the latest step. */
export interface Finding {
  /** A name of METER_NAMES. */
  readonly meter: string;
  /** The anomaly that was observed. */
  readonly anomaly: number;
  /** The largest anomaly from noise alone, in either direction. */
  readonly noise: number;
  /** The trait that affects the meter, a name of TRAIT_NAMES. Null if none does: then the anomaly is noise or stress. */
  readonly trait: string | null;
  /** The share of the trait's earlier range that is still possible after the step: 1 if nothing was learned. */
  readonly remaining: number;
  /** Whether no profile is consistent with this and the earlier anomalies. */
  readonly contradiction: boolean;
}

/** The evidence of the latest step. */
export interface StepFindings {
  /** A name of ACTION_NAMES. */
  readonly action: string;
  /** The name of the time of day. */
  readonly slot: string;
  /** A name of EVENT_NAMES; null without an event. */
  readonly event: string | null;
  /** The reward that was observed. */
  readonly reward: number;
  /** The reward that the mean weights before the step predict; null for the 28th step, whose reward includes the grade. */
  readonly expectedReward: number | null;
  /** The largest change of the reward from noise alone, in either direction. */
  readonly rewardNoise: number;
  /** The weight whose mean changed most, by its meter's name, and the change of the mean. */
  readonly weightChange: { readonly meter: string; readonly change: number };
  /** One for each meter, in the order of METER_NAMES. */
  readonly findings: readonly Finding[];
  /** Serenity before the step, and the share of the stress threshold's earlier range that is still possible. */
  readonly stress: { readonly serenity: number; readonly remaining: number };
  /** Whether the changes of the meters, or the reward, contradict earlier observations. */
  readonly contradictions: { readonly changes: boolean; readonly reward: boolean };
}

/** The posterior over one profile, in numbers. */
export interface InferenceReport {
  /** Steps taken, -1 before anything was observed. */
  readonly step: number;
  /** The number of steps used as evidence. */
  readonly evidence: number;
  /** The number of these steps whose observations contradicted earlier observations. */
  readonly contradicted: number;
  /** [11], by TRAIT_NAMES. */
  readonly traits: readonly Estimate[];
  /** [5], by METER_NAMES. */
  readonly weights: readonly Estimate[];
  /** [3], by BELIEF_NAMES. */
  readonly targets: readonly TargetEstimate[];
  /** The findings of the latest step; null before the first step. */
  readonly last: StepFindings | null;
}

/** Quantiles of a number's samples. */
type Quantiles = Pick<Estimate, 'median' | 'low' | 'high'>;

/** Statistics of the samples of a number of the belief target: `error` and `mean` as in `TargetEstimate`, and the variance. */
export interface TargetStatistics extends Quantiles, Pick<TargetEstimate, 'error' | 'mean'> {
  readonly variance: number;
}

/** Returns the statistics of sorted samples of a number of the belief target. */
export function statisticsOf(sorted: Float32Array): TargetStatistics {
  const quantiles = quantilesOf(sorted);
  const error = meanError(sorted, quantiles.median);
  return { ...quantiles, error, mean: mean(sorted), variance: variance(sorted) };
}

const quantilesOf = (sorted: Float32Array): Quantiles => ({
  median: median(sorted),
  low: quantile(sorted, LOW),
  high: quantile(sorted, HIGH),
});

/** Reports posteriors, compared with the prior. */
export class Reporter {
  readonly #world: World;
  readonly #samples: PosteriorSamples;
  /** Sorted samples of the prior: of the 16 hidden numbers, then of the target's three numbers. */
  readonly #prior: readonly Float32Array[];
  /** f32 [samples], reused. */
  readonly #sorted: Float32Array;

  /**
   * Draws samples of the prior. @param prior the posterior before any observation.
   * @param priorTargets sorted samples of the target's numbers.
   */
  constructor(
    world: World,
    samples: PosteriorSamples,
    prior: ProfilePosterior,
    priorTargets: readonly Float32Array[],
  ) {
    this.#world = world;
    this.#samples = samples;
    this.#sorted = new Float32Array(samples.count);
    this.#prior = [...HIDDEN_NAMES.map((_, k) => this.#sort(prior, k).slice()), ...priorTargets];
  }

  /** Returns a report on a posterior. Later observations do not change the report. @param targets statistics of the target. */
  report(posterior: ProfilePosterior, targets: readonly TargetStatistics[]): InferenceReport {
    const hidden = HIDDEN_NAMES.map((name, k) =>
      this.#estimate(quantilesOf(this.#sort(posterior, k)), k, name),
    );
    return {
      step: posterior.step,
      evidence: posterior.stepsUsed,
      contradicted: posterior.contradicted,
      traits: hidden.slice(0, NUM_TRAITS),
      weights: hidden.slice(NUM_TRAITS),
      targets: targets.map((statistics, k) => this.#targetOf(statistics, hidden, k)),
      last: posterior.last.step === 0 ? null : this.#findingsOf(posterior),
    };
  }

  /** Returns the sorted samples of hidden number `k`, valid until the next call. */
  #sort(posterior: ProfilePosterior, k: number): Float32Array {
    this.#samples.writeSorted(posterior, k, this.#sorted);
    return this.#sorted;
  }

  /** @param k the index of the number's samples in `#prior`. */
  #estimate({ median, low, high }: Quantiles, k: number, name: string): Estimate {
    const prior = quantilesOf(this.#prior[k]);
    const before = prior.high - prior.low;
    return {
      name,
      median,
      low,
      high,
      share: shareBelow(median, this.#prior[k]),
      relativeWidth: before > 0 ? Math.min(1, (high - low) / before) : 0,
    };
  }

  #targetOf(statistics: TargetStatistics, hidden: readonly Estimate[], belief: number): TargetEstimate {
    const numFactors = this.#world.params.beliefSource.length / NUM_BELIEFS;
    return {
      ...this.#estimate(statistics, PROFILE_SIZE + belief, BELIEF_NAMES[belief]),
      error: statistics.error,
      mean: statistics.mean,
      factors: Array.from({ length: numFactors }, (_, k) => this.#factorOf(hidden, belief * numFactors + k)),
    };
  }

  /** Returns one factor of the belief target. @param hidden estimates of the 16 hidden numbers. */
  #factorOf(hidden: readonly Estimate[], factor: number): Factor {
    const { params } = this.#world;
    const source = params.beliefSource[factor];
    const { name, median, low, high, share, relativeWidth } = hidden[source];
    const scale = params.beliefGain * params.beliefShare[factor] * (params.beliefInverted[factor] ? -1 : 1);
    const unit = (value: number): number =>
      source < NUM_TRAITS
        ? (value - params.traitLow[source]) * params.traitInverseSpan[source]
        : clamp01(value * params.beliefWeightScale);
    // No spread: V8 adds properties to copied objects slowly.
    return {
      name,
      median,
      low,
      high,
      share,
      relativeWidth,
      isWeight: source >= NUM_TRAITS,
      shift: scale * (unit(median) - 0.5),
      targetWidth: Math.abs(scale * (unit(high) - unit(low))),
    };
  }

  #findingsOf(posterior: ProfilePosterior): StepFindings {
    const { last } = posterior;
    const { slots } = this.#world.spec;
    return {
      action: ACTION_NAMES[last.action],
      slot: slots[last.slot],
      event: last.event < 0 ? null : EVENT_NAMES[last.event],
      reward: last.reward,
      expectedReward: Number.isNaN(last.expectedReward) ? null : last.expectedReward,
      rewardNoise: Math.abs(this.#world.params.noiseReward),
      weightChange: weightChangeOf(posterior),
      findings: METER_NAMES.map((_, k) => this.#findingOf(posterior, k)),
      stress: { serenity: last.serenity, remaining: remainingOf(posterior, last, TRAIT.stressThreshold) },
      contradictions: { changes: last.contradictedChanges, reward: last.contradictedReward },
    };
  }

  #findingOf(posterior: ProfilePosterior, k: number): Finding {
    const { last } = posterior;
    const trait = last.affectingTrait[k];
    return {
      meter: METER_NAMES[k],
      anomaly: last.anomalies[k],
      noise: Math.abs(this.#world.params.noiseMeters[k]),
      trait: trait === NO_TRAIT ? null : TRAIT_NAMES[trait],
      remaining: trait === NO_TRAIT ? 1 : remainingOf(posterior, last, trait),
      contradiction: ((last.contradictedAnomalies >>> k) & 1) === 1,
    };
  }
}

const HIDDEN_NAMES: readonly string[] = [...TRAIT_NAMES, ...METER_NAMES];

/** Returns the share of a trait's earlier range that is still possible. */
function remainingOf({ traits }: ProfilePosterior, last: LastStep, trait: number): number {
  const before = last.high[trait] - last.low[trait];
  return before > 0 ? Math.min(1, (traits.highest(trait) - traits.lowest(trait)) / before) : 1;
}

/** Returns the weight whose mean changed most in the latest step. */
function weightChangeOf({ weights, last }: ProfilePosterior): StepFindings['weightChange'] {
  const changes = METER_NAMES.map((_, k) => weights.mean(k) - last.weights[k]);
  const largest = changes.reduce(
    (best, change, k) => (Math.abs(change) > Math.abs(changes[best]) ? k : best),
    0,
  );
  return { meter: METER_NAMES[largest], change: changes[largest] };
}
