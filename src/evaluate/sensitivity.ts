/** How near a ranking is to another: what each weight adds to each lead, and the weight at which neighbours change places. */
import { byName, floatsOf, type GraderLike, type GraderWeights, toGrader } from '../graders/grader.js';
import { gradeAll } from '../graders/regrade.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../world/fields.js';
import { type GradedPolicy, gradePolicies, type PolicyComponents, pairedInterval } from './ranking.js';
import { CompensatedSum, type Interval } from './statistics.js';

/** A grader that is just far enough from another for two policies to have changed places. */
export interface Flip {
  /** Who now leads, and whom it has passed. */
  readonly policy: string;
  readonly passed: string;
  /** What the component weighs there, the other five in their old proportions and all six summing to 1. */
  readonly weight: number;
  /** What it weighs with the other five as they were: before all six are divided by their sum. */
  readonly unscaled: number;
  /** The six weights there, which sum to 1. */
  readonly weights: GraderWeights;
}

/** What one weight does to the lead of a policy over the next in the ranking. */
export interface LeadSensitivity {
  readonly ahead: string;
  readonly behind: string;
  /**
   * The lead's derivative by the weight, the other five as they are, with its 95 % interval: the mean of the paired
   * differences of the component.
   */
  readonly slope: Interval;
  /** The nearest smaller and the nearest larger weight at which the two have changed places; null where there is none. */
  readonly below: Flip | null;
  readonly above: Flip | null;
}

/** What one weight does to a ranking. */
export interface WeightSensitivity {
  /** Of COMPONENT_NAMES. */
  readonly component: string;
  readonly weight: number;
  /** Each policy's lead over the next, the best first. */
  readonly leads: readonly LeadSensitivity[];
  /** The nearest of all their flips. */
  readonly below: Flip | null;
  readonly above: Flip | null;
}

/** How closely flips are found. */
const RESOLUTION = 1e-6;
/** A weight is searched down to 0, or to this if it is negative already, and up to nearly 1, where only it counts. */
const LEAST_NEGATIVE = -1;
const MOST = 1 - 2 ** -20;
/** In how many parts a range is looked at where scores may be clamped, so that a lead need not be linear. */
const PARTS = 64;

/**
 * What each weight of a grader does to the ranking of policies. Flips are verified by grading again; without negative
 * weights no score is clamped, a lead is linear, and the flip that is found is the nearest one.
 * @throws InputError as `rankPolicies`.
 */
export function weightSensitivity(
  policies: readonly PolicyComponents[],
  grader: GraderLike,
): WeightSensitivity[] {
  const { weights } = toGrader(grader);
  const ranked = gradePolicies(policies, floatsOf(weights));
  const pairs = ranked.slice(1).map((behind, place) => new Neighbours(ranked[place], behind, weights));
  return COMPONENT_NAMES.map((component, k) => {
    const leads = pairs.map((pair) => pair.sensitivity(k));
    const weight = weights[component];
    const nearest = (flips: readonly (Flip | null)[]): Flip | null =>
      flips.reduce((best, flip) => (nearer(flip, best, weight) ? flip : best), null);
    const below = nearest(leads.map((lead) => lead.below));
    return { component, weight, leads, below, above: nearest(leads.map((lead) => lead.above)) };
  });
}

const nearer = (flip: Flip | null, best: Flip | null, weight: number): boolean =>
  flip !== null && (best === null || Math.abs(flip.weight - weight) < Math.abs(best.weight - weight));

/** Two policies, one right behind the other. */
class Neighbours {
  readonly #ahead: GradedPolicy;
  readonly #behind: GradedPolicy;
  /** By COMPONENT_NAMES. */
  readonly #weights: readonly number[];
  /** By how much the one ahead has more of each component. */
  readonly #slopes: readonly Interval[];

  constructor(ahead: GradedPolicy, behind: GradedPolicy, weights: GraderWeights) {
    this.#ahead = ahead;
    this.#behind = behind;
    this.#weights = COMPONENT_NAMES.map((name) => weights[name]);
    this.#slopes = COMPONENT_NAMES.map((_, k) =>
      pairedInterval(column(ahead.components, k), column(behind.components, k)),
    );
  }

  sensitivity(k: number): LeadSensitivity {
    const weight = this.#weights[k];
    // Without a share left for the others they have no proportions.
    const fixed = 1 - weight < 1 - MOST;
    const least = weight < 0 ? LEAST_NEGATIVE : 0;
    return {
      ahead: this.#ahead.name,
      behind: this.#behind.name,
      slope: this.#slopes[k],
      below: fixed ? null : this.#flip(k, least),
      above: fixed ? null : this.#flip(k, MOST),
    };
  }

  /** The nearest weight of component k on the way to `end` at which the two have changed places. */
  #flip(k: number, end: number): Flip | null {
    let kept = this.#weights[k];
    for (const weight of this.#weightsToTry(k, end)) {
      if (this.#reversed(k, weight)) return this.#flipAt(k, this.#boundary(k, kept, weight));
      kept = weight;
    }
    return null;
  }

  /** On both sides of where the lead would be 0 if it were linear, and at every part of the way if it may not be. */
  #weightsToTry(k: number, end: number): number[] {
    const start = this.#weights[k];
    const way = Math.sign(end - start);
    const root = this.#root(k);
    const around = Array.from(
      { length: 10 },
      (_, j) => root + way * RESOLUTION * (j === 0 ? -1 : 4 ** (j - 1)),
    );
    const clamped = end < 0 || this.#weights.some((weight) => weight < 0);
    const parts = Array.from(
      { length: clamped ? PARTS : 0 },
      (_, i) => start + ((end - start) * (i + 1)) / PARTS,
    );
    return [...around, ...parts]
      .filter((weight) => (weight - start) * way > 0 && (end - weight) * way >= 0)
      .sort((a, b) => (a - b) * way);
  }

  /** Where the mean of scores that are not clamped is the same; not finite where it is nowhere, or everywhere. */
  #root(k: number): number {
    const lead = this.#slopes.reduce((sum, { mean }, j) => sum + this.#weights[j] * mean, 0);
    const slope = this.#slopes[k].mean;
    const others = (lead - this.#weights[k] * slope) / (1 - this.#weights[k]);
    return others / (others - slope);
  }

  /** Between a weight at which they have not changed places and one at which they have. */
  #boundary(k: number, kept: number, reversed: number): number {
    if (Math.abs(reversed - kept) <= RESOLUTION) return reversed;
    const middle = (kept + reversed) / 2;
    return this.#reversed(k, middle) ? this.#boundary(k, kept, middle) : this.#boundary(k, middle, reversed);
  }

  #reversed(k: number, weight: number): boolean {
    const weights = this.#weightsAt(k, weight);
    return meanScore(this.#behind, weights) > meanScore(this.#ahead, weights);
  }

  /** f32 [6] that sum to 1: component k weighs so much, the others keep their proportions. */
  #weightsAt(k: number, weight: number): Float32Array {
    const scale = (1 - weight) / (1 - this.#weights[k]);
    return Float32Array.from(this.#weights, (other, j) => (j === k ? weight : other * scale));
  }

  #flipAt(k: number, weight: number): Flip {
    return {
      policy: this.#behind.name,
      passed: this.#ahead.name,
      weight,
      unscaled: (weight * (1 - this.#weights[k])) / (1 - weight),
      weights: byName(this.#weightsAt(k, weight)),
    };
  }
}

/** f32 [n]: component k of every episode. */
const column = (components: Float32Array, k: number): Float32Array =>
  Float32Array.from(
    { length: components.length / NUM_COMPONENTS },
    (_, i) => components[i * NUM_COMPONENTS + k],
  );

function meanScore({ components }: GradedPolicy, weights: Float32Array): number {
  const scores = gradeAll(components, weights);
  const sum = new CompensatedSum();
  sum.addColumn(scores, 0, 1);
  return sum.value / scores.length;
}
