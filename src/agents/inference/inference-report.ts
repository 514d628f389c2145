/** Reports an inference about one profile as named numbers. */
import { beliefTarget, clamp01 } from '../../engine/reference/profile.js';
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
import { HIGH, LOW, mean, meanError, median, quantile, shareBelow, spread } from './samples.js';

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

/** Sorted samples of the 16 hidden numbers and of the target's three numbers. */
type Sorted = readonly Float32Array[];

/** Reports posteriors, compared with the prior. */
export class Reporter {
  readonly #world: World;
  readonly #samples: PosteriorSamples;
  readonly #prior: Sorted;

  /** Draws samples of the prior. @param prior the posterior before any observation. */
  constructor(world: World, samples: PosteriorSamples, prior: ProfilePosterior) {
    this.#world = world;
    this.#samples = samples;
    this.#prior = this.#draw(prior);
  }

  /** Returns a report on a posterior. Later observations do not change the report. */
  report(posterior: ProfilePosterior): InferenceReport {
    const samples = this.#draw(posterior);
    const hidden = Array.from({ length: PROFILE_SIZE }, (_, k) =>
      this.#estimate(samples, k, HIDDEN_NAMES[k]),
    );
    return {
      step: posterior.step,
      evidence: posterior.stepsUsed,
      contradicted: posterior.contradicted,
      traits: hidden.slice(0, NUM_TRAITS),
      weights: hidden.slice(NUM_TRAITS),
      targets: BELIEF_NAMES.map((name, k) => this.#targetOf(samples, hidden, k, name)),
      last: posterior.last.step === 0 ? null : this.#findingsOf(posterior),
    };
  }

  /** Draws the samples of a posterior. */
  #draw(posterior: ProfilePosterior): Sorted {
    const { count } = this.#samples;
    const samples = Array.from({ length: PROFILE_SIZE + NUM_BELIEFS }, () => new Float32Array(count));
    const row = new Float32Array(PROFILE_SIZE + NUM_BELIEFS);
    const target = row.subarray(PROFILE_SIZE);
    for (let p = 0; p < count; p++) {
      this.#samples.write(posterior, p, row, 0);
      beliefTarget(this.#world.params, row, target);
      for (let k = 0; k < row.length; k++) samples[k][p] = row[k];
    }
    return samples.map((column) => column.sort());
  }

  #estimate(samples: Sorted, k: number, name: string): Estimate {
    const sorted = samples[k];
    const before = spread(this.#prior[k]);
    return {
      name,
      median: median(sorted),
      low: quantile(sorted, LOW),
      high: quantile(sorted, HIGH),
      share: shareBelow(median(sorted), this.#prior[k]),
      relativeWidth: before > 0 ? Math.min(1, spread(sorted) / before) : 0,
    };
  }

  #targetOf(samples: Sorted, hidden: readonly Estimate[], belief: number, name: string): TargetEstimate {
    const estimate = this.#estimate(samples, PROFILE_SIZE + belief, name);
    const numFactors = this.#world.params.beliefSource.length / NUM_BELIEFS;
    return {
      ...estimate,
      error: meanError(samples[PROFILE_SIZE + belief], estimate.median),
      mean: mean(samples[PROFILE_SIZE + belief]),
      factors: Array.from({ length: numFactors }, (_, k) => this.#factorOf(hidden, belief * numFactors + k)),
    };
  }

  /** Returns one factor of the belief target. @param hidden estimates of the 16 hidden numbers. */
  #factorOf(hidden: readonly Estimate[], factor: number): Factor {
    const { params } = this.#world;
    const source = params.beliefSource[factor];
    const estimate = hidden[source];
    const scale = params.beliefGain * params.beliefShare[factor] * (params.beliefInverted[factor] ? -1 : 1);
    const unit = (value: number): number =>
      source < NUM_TRAITS
        ? (value - params.traitLow[source]) * params.traitInverseSpan[source]
        : clamp01(value * params.beliefWeightScale);
    return {
      ...estimate,
      isWeight: source >= NUM_TRAITS,
      shift: scale * (unit(estimate.median) - 0.5),
      targetWidth: Math.abs(scale * (unit(estimate.high) - unit(estimate.low))),
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
