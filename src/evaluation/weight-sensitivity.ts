/** Computes how a ranking depends on the weights: slopes of each lead, and weights at which neighbours swap. */
import { byName, floatsOf, type GraderLike, type GraderWeights, toGrader } from '../engine/graders/grader.js';
import { gradeAll } from '../engine/graders/regrade.js';
import { CompensatedSum, type Interval, pairedInterval } from '../shared/statistics.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../world/fields.js';
import { type GradedPolicy, gradePolicies, type PolicyComponents } from './ranking.js';

/** The nearest grader under which two policies swap. */
export interface Flip {
  /** The policy that leads after the flip. */
  readonly policy: string;
  /** The policy that led before the flip. */
  readonly passed: string;
  /** The component's weight at the flip. All weights sum to 1; the other weights keep their proportions. */
  readonly weight: number;
  /** The component's weight at the flip if the other weights stay unchanged. Then the sum is not 1. */
  readonly unscaled: number;
  /** The weights at the flip. They sum to 1. */
  readonly weights: GraderWeights;
}

/** The effect of one weight on a policy's lead over the next policy. */
export interface LeadSensitivity {
  /** The policy that leads. */
  readonly ahead: string;
  /** The next policy. */
  readonly behind: string;
  /**
   * The derivative of the lead with respect to the weight, with the other weights unchanged: the mean of the paired
   * differences of the component, with its 95 % interval.
   */
  readonly slope: Interval;
  /** The flip at the nearest smaller weight; null if none was found. */
  readonly below: Flip | null;
  /** The flip at the nearest larger weight; null if none was found. */
  readonly above: Flip | null;
}

/** The effect of one weight on a ranking. */
export interface WeightSensitivity {
  /** A name of COMPONENT_NAMES. */
  readonly component: string;
  /** The component's weight. */
  readonly weight: number;
  /** Each policy's lead over the next policy, the best first. */
  readonly leads: readonly LeadSensitivity[];
  /** The nearest `below` flip over all leads. */
  readonly below: Flip | null;
  /** The nearest `above` flip over all leads. */
  readonly above: Flip | null;
}

/** The precision of a flip's weight. Chosen by hand: a smaller number takes more gradings. */
const RESOLUTION = 1e-6;
/** The smallest weight of a search if the grader's weight is negative, chosen by hand; else the smallest weight is 0. */
const MIN_NEGATIVE = -1;
/** The largest weight of a search: below 1 (chosen by hand), because a flip's `unscaled` would be infinite at 1. */
const MAX_WEIGHT = 1 - 2 ** -20;
/**
 * The number of parts of a searched range if a weight is negative: scores may then be clamped, and leads nonlinear. Chosen by
 * hand: more parts miss fewer flips, and take more gradings.
 */
const PARTS = 64;

/**
 * Returns the effect of each weight of a grader on the ranking. Flips are verified by grading again. If no weight and no
 * episode's `belief_skill` is negative, no score is clamped; then leads are linear, and the flips found are the nearest.
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
      flips.reduce((best, flip) => (isNearer(flip, best, weight) ? flip : best), null);
    const below = nearest(leads.map((lead) => lead.below));
    return { component, weight, leads, below, above: nearest(leads.map((lead) => lead.above)) };
  });
}

const isNearer = (flip: Flip | null, best: Flip | null, weight: number): boolean =>
  flip !== null && (best === null || Math.abs(flip.weight - weight) < Math.abs(best.weight - weight));

/** Two neighbouring policies of a ranking. */
class Neighbours {
  readonly #ahead: GradedPolicy;
  readonly #behind: GradedPolicy;
  /** By COMPONENT_NAMES. */
  readonly #weights: readonly number[];
  /** Paired differences of each component: the leader's minus the other's. */
  readonly #slopes: readonly Interval[];

  constructor(ahead: GradedPolicy, behind: GradedPolicy, weights: GraderWeights) {
    this.#ahead = ahead;
    this.#behind = behind;
    this.#weights = COMPONENT_NAMES.map((name) => weights[name]);
    this.#slopes = COMPONENT_NAMES.map((_, k) =>
      pairedInterval(column(ahead.components, k), column(behind.components, k)),
    );
  }

  /** Returns the effect of component k's weight on this lead. */
  sensitivity(k: number): LeadSensitivity {
    const weight = this.#weights[k];
    // If the weight is above MAX_WEIGHT, the others sum to about 0 or less. They cannot be scaled, so no flip is searched for.
    const isFixed = 1 - weight < 1 - MAX_WEIGHT;
    const min = weight < 0 ? MIN_NEGATIVE : 0;
    return {
      ahead: this.#ahead.name,
      behind: this.#behind.name,
      slope: this.#slopes[k],
      below: isFixed ? null : this.#flip(k, min),
      above: isFixed ? null : this.#flip(k, MAX_WEIGHT),
    };
  }

  /** Returns the first flip found from component k's weight towards `end`; null if none is found. */
  #flip(k: number, end: number): Flip | null {
    let unswapped = this.#weights[k];
    for (const weight of this.#weightsToTry(k, end)) {
      if (this.#areSwapped(k, weight)) return this.#flipAt(k, this.#boundary(k, unswapped, weight));
      unswapped = weight;
    }
    return null;
  }

  /**
   * Returns the weights to try: both sides of the weight at which a linear lead is 0, and the ends of all parts of the
   * range if a weight is negative.
   */
  #weightsToTry(k: number, end: number): number[] {
    const start = this.#weights[k];
    const direction = Math.sign(end - start);
    const root = this.#root(k);
    // Scores are rounded to float32, so the policies may swap beyond the root. The distances of the tries beyond it grow from
    // RESOLUTION to 65536 times RESOLUTION; they are chosen by hand.
    const nearRoot = Array.from(
      { length: 10 },
      (_, j) => root + direction * RESOLUTION * (j === 0 ? -1 : 4 ** (j - 1)),
    );
    const mayClamp = end < 0 || this.#weights.some((weight) => weight < 0);
    const parts = Array.from(
      { length: mayClamp ? PARTS : 0 },
      (_, i) => start + ((end - start) * (i + 1)) / PARTS,
    );
    return [...nearRoot, ...parts]
      .filter((weight) => (weight - start) * direction > 0 && (end - weight) * direction >= 0)
      .sort((a, b) => (a - b) * direction);
  }

  /**
   * Returns the weight at which the unclamped mean scores are equal. Not finite if no weight or every weight makes them equal.
   */
  #root(k: number): number {
    const lead = this.#slopes.reduce((sum, { mean }, j) => sum + this.#weights[j] * mean, 0);
    const slope = this.#slopes[k].mean;
    // At a weight w of component k, the lead is w * slope + (1 - w) * others.
    const others = (lead - this.#weights[k] * slope) / (1 - this.#weights[k]);
    return others / (others - slope);
  }

  /** Bisects between a weight without a swap and one with a swap. Returns one with a swap, within RESOLUTION of one without. */
  #boundary(k: number, unswapped: number, swapped: number): number {
    if (Math.abs(swapped - unswapped) <= RESOLUTION) return swapped;
    const middle = (unswapped + swapped) / 2;
    return this.#areSwapped(k, middle)
      ? this.#boundary(k, unswapped, middle)
      : this.#boundary(k, middle, swapped);
  }

  /** Returns whether the policy behind leads at a weight of component k. */
  #areSwapped(k: number, weight: number): boolean {
    const weights = this.#weightsAt(k, weight);
    return meanScore(this.#behind, weights) > meanScore(this.#ahead, weights);
  }

  /** Returns weights f32 [8] that sum to 1, with this weight of component k and the others in proportion. */
  #weightsAt(k: number, weight: number): Float32Array {
    const scale = (1 - weight) / (1 - this.#weights[k]);
    return Float32Array.from(this.#weights, (other, j) => (j === k ? weight : other * scale));
  }

  /** Returns the flip at a weight of component k. */
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

/** Returns component k of every episode, f32 [n]. */
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
