/** Random numbers of an inference, draws from the prior, and statistics of samples. */
import { type Draw, threefry, unit } from '../../engine/reference/threefry.js';
import { COMPONENT, NUM_METERS, NUM_TRAITS } from '../../world/fields.js';

/** The second word of Threefry's key: "INFR" in ASCII. No stream of the published world has this number. */
const STREAM = 0x494e4652;

/** The length of the table of `InferenceDraws`. Chosen by hand: one step of a profile rarely draws more numbers. */
const TABLE = 2 ** 15;

/**
 * Draws numbers, for one step at a time. Each is a function of the seed, the step, and the number of earlier draws for that
 * step. Keeps them in a table, because all profiles of a batch draw the same numbers.
 */
export class InferenceDraws {
  readonly #seed: number;
  readonly #block: Draw = { x0: 0, x1: 0 };
  #step = 0;
  /** The numbers of the step from the index `#first` on, exact as float32. The first `#known` of them are computed. */
  readonly #table = new Float32Array(TABLE);
  #first = 0;
  #known = 0;
  /** The place in the table of the next number. */
  #next = 0;

  /** @param seed u32. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /**
   * Restarts the draws for a step.
   * @param step the step, or a number above the last step for draws that belong to no step. @returns this object.
   */
  begin(step: number): this {
    if (step !== this.#step || this.#first !== 0) this.#known = 0;
    this.#step = step;
    this.#first = 0;
    this.#next = 0;
    return this;
  }

  /** Returns a number in [0, 1), a multiple of 2^-24. */
  next(): number {
    if (this.#next === this.#known) this.#compute();
    return this.#table[this.#next++];
  }

  /** Computes the next two numbers, which one block of Threefry gives. A full table begins again. */
  #compute(): void {
    if (this.#known === TABLE) {
      this.#first += TABLE;
      this.#known = 0;
      this.#next = 0;
    }
    const { x0, x1 } = threefry(
      this.#seed,
      STREAM,
      this.#step,
      (this.#first + this.#known) >>> 1,
      this.#block,
    );
    this.#table[this.#known++] = unit(x0);
    this.#table[this.#known++] = unit(x1);
  }

  /** Returns an integer in [0, n), n far below 2^24. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }
}

/**
 * Draws weights from the prior, Dirichlet(2, 2, 2, 2, 2): spacings of nine sorted uniform numbers (docs/world.md, Profiles).
 * Returns f64 [samples, 5].
 */
export function priorWeights(samples: number, draws: InferenceDraws): Float64Array {
  const weights = new Float64Array(samples * NUM_METERS);
  const units = new Float64Array(2 * NUM_METERS - 1);
  for (let at = 0; at < weights.length; at += NUM_METERS) {
    for (let k = 0; k < units.length; k++) units[k] = draws.next();
    units.sort();
    let previous = 0;
    for (let k = 0; k < NUM_METERS; k++) {
      const next = k === NUM_METERS - 1 ? 1 : units[2 * k + 1];
      weights[at + k] = next - previous;
      previous = next;
    }
  }
  return weights;
}

/**
 * Returns a Latin hypercube, f64 [count, 11]: for each trait, numbers evenly spread over (0, 1), called units, in a
 * separate random order, so that few samples cover the space.
 */
export function latinUnits(count: number, draws: InferenceDraws): Float64Array {
  const units = new Float64Array(count * NUM_TRAITS);
  const order = Int32Array.from({ length: count }, (_, p) => p);
  for (let trait = 0; trait < NUM_TRAITS; trait++) {
    for (let p = count - 1; p > 0; p--) {
      const other = draws.below(p + 1);
      [order[p], order[other]] = [order[other], order[p]];
    }
    for (let p = 0; p < count; p++) units[p * NUM_TRAITS + trait] = (order[p] + 0.5) / count;
  }
  return units;
}

/** The number of samples with each value of a byte, and then the place of the next of them, for `sortSamples`. */
const places = new Uint32Array(256);

/** Sorts samples that are not negative, nor -0, by each byte of their bits, the lowest first: twice as fast as `sort`. */
export function sortSamples(samples: Float32Array): void {
  let from: Uint32Array = new Uint32Array(samples.buffer, samples.byteOffset, samples.length);
  let to: Uint32Array = new Uint32Array(samples.length);
  for (let shift = 0; shift < 32; shift += 8) {
    places.fill(0);
    for (let p = 0; p < from.length; p++) places[(from[p] >>> shift) & 0xff]++;
    for (let byte = 0, next = 0; byte < places.length; byte++) {
      next += places[byte];
      places[byte] = next - places[byte];
    }
    for (let p = 0; p < from.length; p++) to[places[(from[p] >>> shift) & 0xff]++] = from[p];
    [from, to] = [to, from];
  }
}

// The functions need at least one sample. Samples named `sorted` are in ascending order.

/** The error of a belief: its distance from the target, which the median minimises, or the square, which the mean minimises. */
export type BeliefError = (typeof BELIEF_ERRORS)[number];

/** The names of the errors of a belief. */
export const BELIEF_ERRORS = ['absolute', 'squared'] as const;

/**
 * Returns the belief error that a grader counts: 'squared' if `belief_skill` weighs more than `belief_accuracy`, else
 * 'absolute'. @param grader f32 [8]: the weights of the components.
 */
export const errorCountedBy = (grader: Float32Array): BeliefError =>
  grader[COMPONENT.beliefSkill] > grader[COMPONENT.beliefAccuracy] ? 'squared' : 'absolute';

/** The quantiles of the 80 % interval of an estimate. */
export const [LOW, HIGH] = [0.1, 0.9];

/** Returns the quantile at `share` in [0, 1]. */
export const quantile = (sorted: Float32Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/** Returns the median, rounded to float32. */
export function median(sorted: Float32Array): number {
  const half = sorted.length / 2;
  return Math.fround(0.5 * (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]));
}

/** Returns the mean of the samples. */
export function mean(samples: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < samples.length; k++) sum += samples[k];
  return sum / samples.length;
}

/** Returns the mean squared distance of the samples to their mean. */
export function variance(samples: Float32Array): number {
  const middle = mean(samples);
  let sum = 0;
  for (let k = 0; k < samples.length; k++) sum += (samples[k] - middle) ** 2;
  return sum / samples.length;
}

/** Returns the mean distance of the samples to a value. */
export function meanError(samples: Float32Array, value: number): number {
  let sum = 0;
  for (let k = 0; k < samples.length; k++) sum += Math.abs(samples[k] - value);
  return sum / samples.length;
}

/** Returns the share of the samples below a value. */
export function shareBelow(value: number, sorted: Float32Array): number {
  let [below, end] = [0, sorted.length];
  while (below < end) {
    const middle = (below + end) >>> 1;
    if (sorted[middle] < value) below = middle + 1;
    else end = middle;
  }
  return below / sorted.length;
}
