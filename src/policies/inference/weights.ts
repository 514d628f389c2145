/**
 * What is believed of the five reward weights: people drawn from the prior of whom every reward so far may have come.
 * A reward's luck is uniform and of known amplitude, so each reward cuts two slices off the simplex of weights. Who is
 * cut off is replaced by a copy of somebody who is not, whom moves along the simplex's edges and along differences of the
 * others then make another.
 *
 * Sources of the method: Gilks and Berzuini, "Following a moving target", JRSS B 63, 2001 (resample and move); Gilks,
 * Roberts and George, "Adaptive direction sampling", The Statistician 43, 1994 (differences of others).
 */
import type { Params } from '../../world/block.js';
import { NUM_METERS, NUM_STEPS } from '../../world/fields.js';
import type { Draws } from './draws.js';
import type { Evidence } from './evidence.js';

/** A reward is bounded on both sides. */
const MAX_CUTS = 2 * NUM_STEPS;
/** So many rounds of moves along every edge make a copy somebody else. */
const SWEEPS = 2;
/** So many moves along differences of others go with each round: few cuts leave room along edges, many may not. */
const STRIDES = 6;
/** Of fewer survivors than one in so many, a cut is made in stages. */
const SCARCE = 8;
/** A stage that leaves more than this of the way to a cut was in vain; so many of them, and it contradicts earlier ones. */
const [PROGRESS, PATIENCE] = [0.8, 3];
const MAX_STAGES = 40;
/** How far float32 may round a reward, as a share of what it adds up. */
const ROUNDING = 2 ** -20;

/** The edges of the simplex: two weights, of which one grows by what the other loses. */
const EDGES = Array.from({ length: NUM_METERS * NUM_METERS }, (_, at) => [
  Math.floor(at / NUM_METERS),
  at % NUM_METERS,
])
  .filter(([i, j]) => i < j)
  .flat();

/** Weights as the prior has them, Dirichlet(2, 2, 2, 2, 2): spacings of nine sorted units (world page, Who the person is). */
export function priorWeights(people: number, draws: Draws): Float64Array {
  const weights = new Float64Array(people * NUM_METERS);
  const units = new Float64Array(2 * NUM_METERS - 1);
  for (let at = 0; at < weights.length; at += NUM_METERS) {
    for (let k = 0; k < units.length; k++) units[k] = draws.next();
    units.sort();
    let cut = 0;
    for (let k = 0; k < NUM_METERS; k++) {
      const next = k === NUM_METERS - 1 ? 1 : units[2 * k + 1];
      weights[at + k] = next - cut;
      cut = next;
    }
  }
  return weights;
}

/** Memory to work in, for as many people as a belief draws. */
export class Scratch {
  readonly felt = new Float64Array(NUM_METERS);
  readonly slack = new Float64Array(MAX_CUTS);
  readonly way = new Float64Array(NUM_METERS);
  readonly steep = new Float64Array(MAX_CUTS);
  readonly alongCut: Float64Array;
  readonly inside: Int32Array;
  readonly outside: Int32Array;

  constructor(people: number) {
    this.alongCut = new Float64Array(people);
    this.inside = new Int32Array(people);
    this.outside = new Int32Array(people);
  }
}

export class WeightBelief {
  readonly #params: Params;
  readonly #prior: Float64Array;
  readonly #scratch: Scratch;
  readonly #people: number;
  /** f64 [people, 5]: weights of as many people, all of them as likely. */
  readonly drawn: Float64Array;
  /** The cuts: f64 [cuts, 5] normals and f64 [cuts] bounds; weights . normal <= bound. */
  readonly #normal = new Float64Array(MAX_CUTS * NUM_METERS);
  readonly #bound = new Float64Array(MAX_CUTS);
  #cuts = 0;

  /** @param prior f64 [people, 5]. @param scratch memory for as many people, which others may use between calls. */
  constructor(params: Params, prior: Float64Array, scratch: Scratch) {
    this.#params = params;
    this.#prior = prior;
    this.#scratch = scratch;
    this.#people = prior.length / NUM_METERS;
    this.drawn = prior.slice();
  }

  /** Forgets everything: the prior. */
  reset(): void {
    this.drawn.set(this.#prior);
    this.#cuts = 0;
  }

  /** @param weights f32 [5]. @returns whether every reward may have come of somebody with these. */
  allows(weights: ArrayLike<number>): boolean {
    for (let cut = 0; cut < this.#cuts; cut++) {
      let along = 0;
      for (let k = 0; k < NUM_METERS; k++) along += this.#normal[cut * NUM_METERS + k] * weights[k];
      if (along > this.#bound[cut]) return false;
    }
    return true;
  }

  /** Mean of a weight. */
  mean(k: number): number {
    let sum = 0;
    for (let at = k; at < this.drawn.length; at += NUM_METERS) sum += this.drawn[at];
    return sum / this.#people;
  }

  /** Takes a step's reward as evidence. @returns whether it fits the earlier ones; if not, it counts as far as it does. */
  observe(evidence: Evidence, draws: Draws): boolean {
    const { rewardScale, rewardBias, crashPenalty, noiseReward } = this.#params;
    const { felt } = this.#scratch;
    let known = -crashPenalty * evidence.crashed;
    let size = 1 + Math.abs(evidence.reward) + Math.abs(known);
    for (let k = 0; k < NUM_METERS; k++) {
      felt[k] = rewardScale * evidence.deltas[k];
      known += felt[k] * rewardBias[k];
      size += Math.abs(felt[k]) * (1 + Math.abs(rewardBias[k]));
    }
    const margin = Math.abs(noiseReward) + ROUNDING * size;
    const rest = evidence.reward - known;
    const upper = this.#cut(rest + margin, 1, draws);
    return this.#cut(margin - rest, -1, draws) && upper;
  }

  /** Cuts off who has `sign * weights . felt > bound`. @returns false if nobody is left however one looks for them. */
  #cut(bound: number, sign: number, draws: Draws): boolean {
    const from = this.#cuts * NUM_METERS;
    let most = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < NUM_METERS; k++) {
      this.#normal[from + k] = sign * this.#scratch.felt[k];
      most = Math.max(most, this.#normal[from + k]);
    }
    if (most <= bound || this.#cuts === MAX_CUTS) return true;
    const cut = this.#cuts++;
    let left = Number.POSITIVE_INFINITY;
    for (let stage = 0, vain = 0; stage < MAX_STAGES && vain < PATIENCE; stage++) {
      this.#bound[cut] = this.#reachable(cut, bound);
      this.#replaceCutOff(cut, draws);
      if (this.#bound[cut] === bound) return true;
      if (!(this.#bound[cut] - bound < PROGRESS * left)) vain++;
      left = this.#bound[cut] - bound;
    }
    return false;
  }

  /** The bound itself, or one on the way to it that leaves enough people. */
  #reachable(cut: number, bound: number): number {
    const along = this.#scratch.alongCut;
    let inside = 0;
    for (let p = 0; p < this.#people; p++) {
      along[p] = this.#along(cut, p);
      if (along[p] <= bound) inside++;
    }
    if (inside * SCARCE >= this.#people) return bound;
    along.sort();
    return Math.max(bound, along[Math.floor(this.#people / SCARCE)]);
  }

  #along(cut: number, p: number): number {
    let sum = 0;
    for (let k = 0; k < NUM_METERS; k++)
      sum += this.#normal[cut * NUM_METERS + k] * this.drawn[p * NUM_METERS + k];
    return sum;
  }

  #replaceCutOff(cut: number, draws: Draws): void {
    const { inside, outside } = this.#scratch;
    let [insiders, outsiders] = [0, 0];
    for (let p = 0; p < this.#people; p++) {
      if (this.#along(cut, p) <= this.#bound[cut]) inside[insiders++] = p;
      else outside[outsiders++] = p;
    }
    for (let at = 0; at < outsiders; at++) {
      const model = inside[Math.floor(((at + 0.5) * insiders) / outsiders)] * NUM_METERS;
      this.drawn.copyWithin(outside[at] * NUM_METERS, model, model + NUM_METERS);
      this.#stir(outside[at], insiders, draws);
    }
  }

  /** Makes somebody else of one of the people, within all cuts. @param insiders how many others were inside before. */
  #stir(p: number, insiders: number, draws: Draws): void {
    const { slack, inside } = this.#scratch;
    for (let cut = 0; cut < this.#cuts; cut++) slack[cut] = this.#bound[cut] - this.#along(cut, p);
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      for (let e = 0; e < EDGES.length; e += 2) this.#slide(p * NUM_METERS, EDGES[e], EDGES[e + 1], draws);
      for (let stride = 0; stride < STRIDES; stride++)
        this.#stride(p * NUM_METERS, inside[draws.below(insiders)], inside[draws.below(insiders)], draws);
    }
  }

  /** Moves along the difference of two others, which fits what the cuts leave however thin that is. */
  #stride(from: number, one: number, other: number, draws: Draws): void {
    const { drawn } = this;
    const { way, steep } = this.#scratch;
    let [least, most] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let k = 0; k < NUM_METERS; k++) {
      way[k] = drawn[one * NUM_METERS + k] - drawn[other * NUM_METERS + k];
      if (way[k] > 0) least = Math.max(least, -drawn[from + k] / way[k]);
      else if (way[k] < 0) most = Math.min(most, -drawn[from + k] / way[k]);
    }
    if (most === Number.POSITIVE_INFINITY) return;
    this.#steepen();
    for (let cut = 0; cut < this.#cuts; cut++) {
      const room = Math.max(0, this.#scratch.slack[cut]);
      if (steep[cut] > 0) most = Math.min(most, room / steep[cut]);
      else if (steep[cut] < 0) least = Math.max(least, room / steep[cut]);
    }
    if (least < most) this.#jump(from, least + (most - least) * draws.next(), draws);
  }

  /** By how much each cut's side is neared along the way. */
  #steepen(): void {
    const { way, steep } = this.#scratch;
    for (let cut = 0; cut < this.#cuts; cut++) {
      let sum = 0;
      for (let k = 0; k < NUM_METERS; k++) sum += this.#normal[cut * NUM_METERS + k] * way[k];
      steep[cut] = sum;
    }
  }

  /** Goes so far along the way, unless the prior has people less likely there and chance is against it. */
  #jump(from: number, far: number, draws: Draws): void {
    const { drawn } = this;
    const { way, steep, slack } = this.#scratch;
    let [here, there] = [1, 1];
    for (let k = 0; k < NUM_METERS; k++) {
      here *= drawn[from + k];
      there *= drawn[from + k] + far * way[k];
    }
    if (!(draws.next() * here < there)) return;
    for (let k = 0; k < NUM_METERS; k++) drawn[from + k] = Math.max(0, drawn[from + k] + far * way[k]);
    for (let cut = 0; cut < this.#cuts; cut++) slack[cut] -= far * steep[cut];
  }

  /** Draws weight `i` anew from what its prior and the cuts leave, at the cost of weight `j`. */
  #slide(from: number, i: number, j: number, draws: Draws): void {
    const { drawn } = this;
    const normal = this.#normal;
    const { slack } = this.#scratch;
    const both = drawn[from + i] + drawn[from + j];
    let least = -drawn[from + i];
    let most = drawn[from + j];
    for (let cut = 0, at = 0; cut < this.#cuts; cut++, at += NUM_METERS) {
      const slope = normal[at + i] - normal[at + j];
      // Rounding may leave next to nothing, and on the wrong side.
      const room = Math.max(0, slack[cut]);
      if (slope > 0 && slope * most > room) most = room / slope;
      else if (slope < 0 && slope * least > room) least = room / slope;
    }
    const moved = drawProduct(drawn[from + i] + least, drawn[from + i] + most, both, draws) - drawn[from + i];
    drawn[from + i] += moved;
    drawn[from + j] = both - drawn[from + i];
    for (let cut = 0, at = 0; cut < this.#cuts; cut++, at += NUM_METERS)
      slack[cut] -= moved * (normal[at + i] - normal[at + j]);
  }
}

/** A draw of x in [low, high] with density x * (both - x): what Dirichlet(2, ...) says of two weights with that sum. */
function drawProduct(low: number, high: number, both: number, draws: Draws): number {
  const mode = Math.min(Math.max(0.5 * both, low), high);
  const top = mode * (both - mode);
  if (!(top > 0) || !(high > low)) return mode;
  for (;;) {
    const x = low + (high - low) * draws.next();
    if (draws.next() * top <= x * (both - x)) return x;
  }
}
