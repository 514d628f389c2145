/**
 * The posterior over the five reward weights, as equally likely samples. The noise of a reward is uniform with known amplitude.
 * So each reward cuts the simplex of weights by two half-spaces. Each sample that is cut off is replaced by a copy of a
 * remaining sample. The copy then moves at random within the cuts: along edges of the simplex and along differences of
 * other samples.
 *
 * Sources of the method: Gilks and Berzuini, "Following a moving target", JRSS B 63, 2001 (resample and move); Gilks,
 * Roberts and George, "Adaptive direction sampling", The Statistician 43, 1994 (differences of others).
 */
import type { Params } from '../../world/block.js';
import { NUM_METERS, NUM_STEPS } from '../../world/fields.js';
import type { Evidence } from './evidence.js';
import type { InferenceDraws } from './samples.js';

/** The maximum number of cuts: each reward makes two. */
const MAX_CUTS = 2 * NUM_STEPS;
// The numbers from SWEEPS to MAX_STAGES are chosen by hand: more moves and more stages take more time.
/** The number of sweeps of moves for each copy. A sweep moves once along every edge. */
const SWEEPS = 2;
/** The number of moves along differences in each sweep. They follow a thin region, where moves along edges can be short. */
const DIFFERENCE_MOVES = 6;
/** A cut is made in stages, each with a tighter bound, if fewer than one in this many samples satisfies it. */
const SCARCE = 8;
/**
 * A stage fails if the distance from its bound to the wanted bound is at least PROGRESS times the distance in the stage before.
 * After PATIENCE failures the cut is a contradiction.
 */
const [PROGRESS, PATIENCE] = [0.8, 3];
/** The maximum number of stages of a cut. */
const MAX_STAGES = 40;
/** Bound on the rounding error of a reward, relative to the sum of its terms: sixteen float32 roundings. */
const ROUNDING = 2 ** -20;

/**
 * The edges of the simplex: pairs of indices of weights, one pair after the other. Along an edge one weight grows by as much as
 * the other shrinks.
 */
const EDGES = Array.from({ length: NUM_METERS * NUM_METERS }, (_, at) => [
  Math.floor(at / NUM_METERS),
  at % NUM_METERS,
])
  .filter(([i, j]) => i < j)
  .flat();

/** Reusable memory for `samples` samples. */
export class Scratch {
  /** f64 [5]: the reward for each unit of a weight, in the step of the cut. */
  readonly scaled = new Float64Array(NUM_METERS);
  /** f64 [cuts]: the distance of the moved sample from the bound of each cut. */
  readonly slack = new Float64Array(MAX_CUTS);
  /** f64 [5]: the direction of a move. f64 [cuts]: how fast the move approaches each bound. */
  readonly direction = new Float64Array(NUM_METERS);
  readonly slopes = new Float64Array(MAX_CUTS);
  /** f64 [samples]: the dot product of each sample's weights and the normal of one cut. */
  readonly projections: Float64Array;
  /** i32 [samples] each: the indices of the samples that satisfy a cut, and of the other samples. */
  readonly inside: Int32Array;
  readonly outside: Int32Array;

  constructor(samples: number) {
    this.projections = new Float64Array(samples);
    this.inside = new Int32Array(samples);
    this.outside = new Int32Array(samples);
  }
}

/** The posterior over the weights of one profile. */
export class WeightPosterior {
  readonly #params: Params;
  readonly #prior: Float64Array;
  readonly #scratch: Scratch;
  readonly #samples: number;
  /** f64 [samples, 5]: equally likely weights. */
  readonly drawn: Float64Array;
  /**
   * The cuts: f64 [cuts, 5] normals and f64 [cuts] bounds. Weights satisfy a cut if their dot product with its normal is at
   * most its bound.
   */
  readonly #normal = new Float64Array(MAX_CUTS * NUM_METERS);
  readonly #bound = new Float64Array(MAX_CUTS);
  #numCuts = 0;

  /** Begins with the prior. @param prior f64 [samples, 5]. @param scratch memory for as many samples, which can be shared. */
  constructor(params: Params, prior: Float64Array, scratch: Scratch) {
    this.#params = params;
    this.#prior = prior;
    this.#scratch = scratch;
    this.#samples = prior.length / NUM_METERS;
    this.drawn = prior.slice();
  }

  /** Resets to the prior. */
  reset(): void {
    this.drawn.set(this.#prior);
    this.#numCuts = 0;
  }

  /** Returns whether weights satisfy every cut. @param weights f32 [5]. */
  allows(weights: ArrayLike<number>): boolean {
    for (let cut = 0; cut < this.#numCuts; cut++)
      if (this.#project(cut, weights, 0) > this.#bound[cut]) return false;
    return true;
  }

  /** Returns the mean of a weight. */
  mean(k: number): number {
    let sum = 0;
    for (let at = k; at < this.drawn.length; at += NUM_METERS) sum += this.drawn[at];
    return sum / this.#samples;
  }

  /**
   * Updates the posterior with a step's reward.
   * @returns false if the reward contradicts earlier rewards. Then a cut keeps a weaker bound than the reward gives.
   */
  observe(evidence: Evidence, draws: InferenceDraws): boolean {
    const { rewardScale, rewardBias, crashPenalty, noiseReward } = this.#params;
    const { scaled } = this.#scratch;
    // The part of the reward that does not depend on the weights.
    let knownReward = -crashPenalty * evidence.crashed;
    let size = 1 + Math.abs(evidence.reward) + Math.abs(knownReward);
    for (let k = 0; k < NUM_METERS; k++) {
      scaled[k] = rewardScale * evidence.deltas[k];
      knownReward += scaled[k] * rewardBias[k];
      size += Math.abs(scaled[k]) * (1 + Math.abs(rewardBias[k]));
    }
    // The dot product of `scaled` and the weights differs from `rest` by at most `margin`.
    const margin = Math.abs(noiseReward) + ROUNDING * size;
    const rest = evidence.reward - knownReward;
    const upper = this.#cut(rest + margin, 1, draws);
    return this.#cut(margin - rest, -1, draws) && upper;
  }

  /**
   * Cuts off the samples whose weights have a dot product with `sign * scaled` above `bound`.
   * @returns false if the bound was not reached. Then the cut keeps the last stage's weaker bound.
   */
  #cut(bound: number, sign: number, draws: InferenceDraws): boolean {
    const from = this.#numCuts * NUM_METERS;
    let max = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < NUM_METERS; k++) {
      this.#normal[from + k] = sign * this.#scratch.scaled[k];
      max = Math.max(max, this.#normal[from + k]);
    }
    // If no entry of the normal exceeds the bound, all weights satisfy the cut, because they sum to 1.
    if (max <= bound || this.#numCuts === MAX_CUTS) return true;
    const cut = this.#numCuts++;
    let remaining = Number.POSITIVE_INFINITY;
    for (let stage = 0, failed = 0; stage < MAX_STAGES && failed < PATIENCE; stage++) {
      this.#bound[cut] = this.#reachableBound(cut, bound);
      this.#replaceCutOff(cut, draws);
      if (this.#bound[cut] === bound) return true;
      if (!(this.#bound[cut] - bound < PROGRESS * remaining)) failed++;
      remaining = this.#bound[cut] - bound;
    }
    return false;
  }

  /** Returns the bound, or a weaker bound that at least one in `SCARCE` samples satisfies. */
  #reachableBound(cut: number, bound: number): number {
    const { projections } = this.#scratch;
    let inside = 0;
    for (let p = 0; p < this.#samples; p++) {
      projections[p] = this.#project(cut, this.drawn, p * NUM_METERS);
      if (projections[p] <= bound) inside++;
    }
    if (inside * SCARCE >= this.#samples) return bound;
    projections.sort();
    return Math.max(bound, projections[Math.floor(this.#samples / SCARCE)]);
  }

  /** Returns the dot product of a cut's normal and the five numbers from index `from` on. */
  #project(cut: number, numbers: ArrayLike<number>, from: number): number {
    let sum = 0;
    for (let k = 0; k < NUM_METERS; k++) sum += this.#normal[cut * NUM_METERS + k] * numbers[from + k];
    return sum;
  }

  /** Replaces each sample that a cut excludes by a moved copy of a remaining sample. */
  #replaceCutOff(cut: number, draws: InferenceDraws): void {
    const { drawn } = this;
    const { inside, outside } = this.#scratch;
    let [numInside, numOutside] = [0, 0];
    for (let p = 0; p < this.#samples; p++) {
      if (this.#project(cut, this.drawn, p * NUM_METERS) <= this.#bound[cut]) inside[numInside++] = p;
      else outside[numOutside++] = p;
    }
    // The copied samples are evenly spaced among the remaining samples.
    for (let at = 0; at < numOutside; at++) {
      const source = inside[Math.floor(((at + 0.5) * numInside) / numOutside)] * NUM_METERS;
      for (let k = 0; k < NUM_METERS; k++) drawn[outside[at] * NUM_METERS + k] = drawn[source + k];
      this.#moveSample(outside[at], numInside, draws);
    }
  }

  /** Moves sample `p` at random within all cuts. @param numInside the number of samples that satisfied the last cut. */
  #moveSample(p: number, numInside: number, draws: InferenceDraws): void {
    const { slack, inside } = this.#scratch;
    for (let cut = 0; cut < this.#numCuts; cut++)
      slack[cut] = this.#bound[cut] - this.#project(cut, this.drawn, p * NUM_METERS);
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      for (let e = 0; e < EDGES.length; e += 2)
        this.#moveAlongEdge(p * NUM_METERS, EDGES[e], EDGES[e + 1], draws);
      for (let move = 0; move < DIFFERENCE_MOVES; move++)
        this.#moveAlongDifference(
          p * NUM_METERS,
          inside[draws.below(numInside)],
          inside[draws.below(numInside)],
          draws,
        );
    }
  }

  /**
   * Moves along the difference of two other samples, `one` and `other`. Such differences follow the allowed region, even if the
   * region is thin. @param from the index of the moved sample's first weight.
   */
  #moveAlongDifference(from: number, one: number, other: number, draws: InferenceDraws): void {
    const { drawn } = this;
    const { direction, slopes } = this.#scratch;
    let [min, max] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let k = 0; k < NUM_METERS; k++) {
      direction[k] = drawn[one * NUM_METERS + k] - drawn[other * NUM_METERS + k];
      if (direction[k] > 0) min = Math.max(min, -drawn[from + k] / direction[k]);
      else if (direction[k] < 0) max = Math.min(max, -drawn[from + k] / direction[k]);
    }
    // The two samples are equal: there is no direction.
    if (max === Number.POSITIVE_INFINITY) return;
    for (let cut = 0; cut < this.#numCuts; cut++) {
      // How fast the move approaches the cut.
      slopes[cut] = this.#project(cut, direction, 0);
      const available = Math.max(0, this.#scratch.slack[cut]);
      if (slopes[cut] > 0) max = Math.min(max, available / slopes[cut]);
      else if (slopes[cut] < 0) min = Math.max(min, available / slopes[cut]);
    }
    if (min < max) this.#moveIfAccepted(from, min + (max - min) * draws.next(), draws);
  }

  /** Moves by `distance` along the direction, with the Metropolis acceptance probability of the prior. */
  #moveIfAccepted(from: number, distance: number, draws: InferenceDraws): void {
    const { drawn } = this;
    const { direction, slopes, slack } = this.#scratch;
    let [density, newDensity] = [1, 1];
    for (let k = 0; k < NUM_METERS; k++) {
      density *= drawn[from + k];
      newDensity *= drawn[from + k] + distance * direction[k];
    }
    if (!(draws.next() * density < newDensity)) return;
    for (let k = 0; k < NUM_METERS; k++)
      drawn[from + k] = Math.max(0, drawn[from + k] + distance * direction[k]);
    for (let cut = 0; cut < this.#numCuts; cut++) slack[cut] -= distance * slopes[cut];
  }

  /**
   * Draws weight `i` from its distribution under prior and cuts, with the sum of weights `i` and `j` fixed.
   * @param from the index of the moved sample's first weight.
   */
  #moveAlongEdge(from: number, i: number, j: number, draws: InferenceDraws): void {
    const { drawn } = this;
    const normal = this.#normal;
    const { slack } = this.#scratch;
    const sum = drawn[from + i] + drawn[from + j];
    let min = -drawn[from + i];
    let max = drawn[from + j];
    for (let cut = 0, at = 0; cut < this.#numCuts; cut++, at += NUM_METERS) {
      const slope = normal[at + i] - normal[at + j];
      // Rounding can make a small slack negative.
      const available = Math.max(0, slack[cut]);
      if (slope > 0 && slope * max > available) max = available / slope;
      else if (slope < 0 && slope * min > available) min = available / slope;
    }
    const change = drawProduct(drawn[from + i] + min, drawn[from + i] + max, sum, draws) - drawn[from + i];
    drawn[from + i] += change;
    drawn[from + j] = sum - drawn[from + i];
    for (let cut = 0, at = 0; cut < this.#numCuts; cut++, at += NUM_METERS)
      slack[cut] -= change * (normal[at + i] - normal[at + j]);
  }
}

/**
 * Draws x in [low, high] with density x * (sum - x), by rejection: the Dirichlet(2, ...) density of two weights with a fixed
 * sum.
 */
function drawProduct(low: number, high: number, sum: number, draws: InferenceDraws): number {
  const mode = Math.min(Math.max(0.5 * sum, low), high);
  const top = mode * (sum - mode);
  if (!(top > 0) || !(high > low)) return mode;
  for (;;) {
    const x = low + (high - low) * draws.next();
    if (draws.next() * top <= x * (sum - x)) return x;
  }
}
