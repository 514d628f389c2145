/** What an inference would say of one person, in numbers with names. */
import { beliefTarget, clamp01 } from '../../reference/profile.js';
import {
  ACTION_NAMES,
  BELIEF_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  NUM_BELIEFS,
  NUM_TRAITS,
  PROFILE_SIZE,
  TRAIT_NAMES,
} from '../../world/fields.js';
import type { World } from '../../world/world.js';
import type { LastStep } from './last-step.js';
import type { People } from './people.js';
import type { PersonBelief } from './person.js';
import { HIGH, LOW, meanError, median, quantile, rankOf, spread } from './quantiles.js';
import { NOBODY, STRESS_THRESHOLD } from './responses.js';

/** What is believed of one number. */
export interface Estimate {
  /** Of TRAIT_NAMES, METER_NAMES (a weight's meter) or BELIEF_NAMES. */
  readonly name: string;
  readonly median: number;
  /** The 10 % and the 90 % quantile. */
  readonly low: number;
  readonly high: number;
  /** How far 10 % to 90 % is from one to the other, as a share of what it is before anything was seen: 1 for nothing known. */
  readonly open: number;
  /** What share of all people have less of it than the median. */
  readonly share: number;
}

/** One of the hidden numbers that a number of the target is made of. */
export interface Factor extends Estimate {
  /** A reward weight, named by its meter, or else a trait. */
  readonly isWeight: boolean;
  /** How far its median moves the target from the middle, and how far apart its 10 % and 90 % quantile would. */
  readonly pull: number;
  readonly blur: number;
}

/** What is believed of a number of the target. */
export interface TargetEstimate extends Estimate {
  /** Expected absolute error of the median. */
  readonly error: number;
  /** In the order of the world. */
  readonly factors: readonly Factor[];
}

/** What one meter's anomaly said in the last step. */
export interface Finding {
  /** Of METER_NAMES. */
  readonly meter: string;
  readonly anomaly: number;
  /** How far luck alone may take it, either way. */
  readonly luck: number;
  /** Of TRAIT_NAMES: what it is about; null where no trait moves the meter, so that it is luck, or stress. */
  readonly trait: string | null;
  /** What share of the trait's range, as it was before the step, is still possible: 1 if nothing was learned. */
  readonly left: number;
  /** Whether nobody could have shown this who showed the earlier anomalies. */
  readonly contradiction: boolean;
}

/** What the last step showed. */
export interface StepFindings {
  /** Of ACTION_NAMES, of the slots' names and of EVENT_NAMES. */
  readonly action: string;
  readonly slot: string;
  readonly event: string | null;
  readonly reward: number;
  /** What the weights believed in before it made expect; null for the last step, whose reward holds the grade. */
  readonly expectedReward: number | null;
  /** How far luck alone may take the reward, either way. */
  readonly rewardLuck: number;
  /** The weight whose mean it changed most, of METER_NAMES, and by how much. */
  readonly rewardSays: { readonly meter: string; readonly change: number };
  readonly findings: readonly Finding[];
  /** Whether the stress threshold was narrowed down, and the serenity that did it. */
  readonly stress: { readonly serenity: number; readonly left: number };
  /** Whether the changes, or the reward, contradict earlier ones. */
  readonly contradictions: { readonly changes: boolean; readonly reward: boolean };
}

export interface InferenceReport {
  /** Steps taken, -1 before anything was observed. */
  readonly step: number;
  /** Steps that were seen, and in how many of them something contradicted the earlier ones. */
  readonly evidence: number;
  readonly contradicted: number;
  /** [11], [5] and [3], in the order of the tables of names. */
  readonly traits: readonly Estimate[];
  readonly weights: readonly Estimate[];
  readonly targets: readonly TargetEstimate[];
  /** Null before the first step. */
  readonly last: StepFindings | null;
}

/** Sorted draws of the 16 hidden numbers and of the target's three. */
type Sorted = readonly Float32Array[];

/** Makes reports: what is open is measured against what was before anything was seen. */
export class Reporter {
  readonly #world: World;
  readonly #people: People;
  readonly #prior: Sorted;

  /** @param nobody what is believed before anything is seen. */
  constructor(world: World, people: People, nobody: PersonBelief) {
    this.#world = world;
    this.#people = people;
    this.#prior = this.#draw(nobody);
  }

  /** @returns numbers alone: nothing of it changes when more is observed. */
  report(person: PersonBelief): InferenceReport {
    const drawn = this.#draw(person);
    const hidden = Array.from({ length: PROFILE_SIZE }, (_, k) => this.#estimate(drawn, k, HIDDEN_NAMES[k]));
    return {
      step: person.step,
      evidence: person.evidence,
      contradicted: person.contradicted,
      traits: hidden.slice(0, NUM_TRAITS),
      weights: hidden.slice(NUM_TRAITS),
      targets: BELIEF_NAMES.map((name, k) => this.#targetOf(drawn, hidden, k, name)),
      last: person.last.step === 0 ? null : this.#findingsOf(person),
    };
  }

  #draw(person: PersonBelief): Sorted {
    const { count } = this.#people;
    const drawn = Array.from({ length: PROFILE_SIZE + NUM_BELIEFS }, () => new Float32Array(count));
    const row = new Float32Array(PROFILE_SIZE + NUM_BELIEFS);
    const target = row.subarray(PROFILE_SIZE);
    for (let p = 0; p < count; p++) {
      this.#people.write(person, p, row, 0);
      beliefTarget(this.#world.params, row, target);
      for (let k = 0; k < row.length; k++) drawn[k][p] = row[k];
    }
    return drawn.map((column) => column.sort());
  }

  #estimate(drawn: Sorted, k: number, name: string): Estimate {
    const sorted = drawn[k];
    const before = spread(this.#prior[k]);
    return {
      name,
      median: median(sorted),
      low: quantile(sorted, LOW),
      high: quantile(sorted, HIGH),
      share: rankOf(median(sorted), this.#prior[k]),
      open: before > 0 ? Math.min(1, spread(sorted) / before) : 0,
    };
  }

  #targetOf(drawn: Sorted, hidden: readonly Estimate[], belief: number, name: string): TargetEstimate {
    const estimate = this.#estimate(drawn, PROFILE_SIZE + belief, name);
    const factors = this.#world.params.beliefSource.length / NUM_BELIEFS;
    return {
      ...estimate,
      error: meanError(drawn[PROFILE_SIZE + belief], estimate.median),
      factors: Array.from({ length: factors }, (_, k) => this.#factorOf(hidden, belief * factors + k)),
    };
  }

  #factorOf(hidden: readonly Estimate[], factor: number): Factor {
    const { params } = this.#world;
    const source = params.beliefSource[factor];
    const estimate = hidden[source];
    const reach = params.beliefGain * params.beliefShare[factor] * (params.beliefInverted[factor] ? -1 : 1);
    const unit = (value: number): number =>
      source < NUM_TRAITS
        ? (value - params.traitLow[source]) * params.traitInverseSpan[source]
        : clamp01(value * params.beliefWeightScale);
    return {
      ...estimate,
      isWeight: source >= NUM_TRAITS,
      pull: reach * (unit(estimate.median) - 0.5),
      blur: Math.abs(reach * (unit(estimate.high) - unit(estimate.low))),
    };
  }

  #findingsOf(person: PersonBelief): StepFindings {
    const { last } = person;
    const { slots } = this.#world.spec;
    return {
      action: ACTION_NAMES[last.action],
      slot: slots[last.slot],
      event: last.event < 0 ? null : EVENT_NAMES[last.event],
      reward: last.reward,
      expectedReward: Number.isNaN(last.expectedReward) ? null : last.expectedReward,
      rewardLuck: Math.abs(this.#world.params.noiseReward),
      rewardSays: rewardSaysOf(person),
      findings: METER_NAMES.map((_, k) => this.#findingOf(person, k)),
      stress: { serenity: last.serenity, left: leftOf(person, last, STRESS_THRESHOLD) },
      contradictions: { changes: last.contradictedChanges, reward: last.contradictedReward },
    };
  }

  #findingOf(person: PersonBelief, k: number): Finding {
    const { last } = person;
    const trait = last.mover[k];
    return {
      meter: METER_NAMES[k],
      anomaly: last.anomalies[k],
      luck: Math.abs(this.#world.params.noiseMeters[k]),
      trait: trait === NOBODY ? null : TRAIT_NAMES[trait],
      left: trait === NOBODY ? 1 : leftOf(person, last, trait),
      contradiction: ((last.contradictedAnomalies >>> k) & 1) === 1,
    };
  }
}

const HIDDEN_NAMES: readonly string[] = [...TRAIT_NAMES, ...METER_NAMES];

function leftOf({ traits }: PersonBelief, last: LastStep, trait: number): number {
  const before = last.high[trait] - last.low[trait];
  return before > 0 ? Math.min(1, (traits.highest(trait) - traits.lowest(trait)) / before) : 1;
}

function rewardSaysOf({ weights, last }: PersonBelief): StepFindings['rewardSays'] {
  const changes = METER_NAMES.map((_, k) => weights.mean(k) - last.weights[k]);
  const most = changes.reduce(
    (best, change, k) => (Math.abs(change) > Math.abs(changes[best]) ? k : best),
    0,
  );
  return { meter: METER_NAMES[most], change: changes[most] };
}
