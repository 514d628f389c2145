/** Draws profiles from a posterior. */
import type { Params } from '../../world/block.js';
import { MIN_MAGNITUDE, NUM_METERS, NUM_TRAITS, PROFILE_SIZE } from '../../world/fields.js';
import type { InferenceDraws } from './inference-draws.js';
import type { ProfilePosterior } from './posterior.js';
import type { Range } from './rates.js';
import { EVENT_IMPACT, METABOLIC_RATE, STRESS_THRESHOLD } from './responses.js';

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

/** Maps units to profiles. All posteriors share one table of units, which `latinUnits` makes. */
export class PosteriorSamples {
  readonly #units: Float64Array;
  /** f64 [11] each: the bounds of the traits. */
  readonly #min: Float64Array;
  readonly #max: Float64Array;
  /** The number of samples in the table. */
  readonly count: number;

  constructor({ traitLow, traitSpan }: Params, count: number, draws: InferenceDraws) {
    this.count = count;
    this.#units = latinUnits(count, draws);
    this.#min = Float64Array.from({ length: NUM_TRAITS }, (_, trait) => traitLow[trait]);
    this.#max = this.#min.map((min, trait) => Math.fround(min + traitSpan[trait]));
  }

  /** Writes sample `p` (0 to `count - 1`) of a posterior at `offset`: f32 [16], a valid profile. */
  write({ traits, rates, weights }: ProfilePosterior, p: number, out: Float32Array, offset: number): void {
    const units = this.#units;
    const at = p * NUM_TRAITS;
    // A cell is a range of stress thresholds, with bounds of the other traits (traits.ts). The position is the index of a cell,
    // plus a fraction of its range.
    const position = traits.positionAt(units[at + STRESS_THRESHOLD]);
    const cell = Math.floor(position);
    const { low, high } = traits;
    for (let trait = 0, box = cell * NUM_TRAITS; trait < NUM_TRAITS; trait++, box++) {
      const u = trait === STRESS_THRESHOLD ? position - cell : units[at + trait];
      out[offset + trait] = this.#valueIn(trait, low[box], high[box], u);
    }
    this.#writeRate(METABOLIC_RATE, rates.metabolism, at, out, offset);
    this.#writeRate(EVENT_IMPACT, rates.impact, at, out, offset);
    // Samples of the weights, [samples, 5].
    const { drawn } = weights;
    for (let k = 0, from = p * NUM_METERS, to = offset + NUM_TRAITS; k < NUM_METERS; k++) {
      const weight = drawn[from + k];
      out[to + k] = weight < MIN_MAGNITUDE ? 0 : weight;
    }
  }

  #writeRate(trait: number, { low, high }: Range, at: number, out: Float32Array, offset: number): void {
    out[offset + trait] = this.#valueIn(trait, low, high, this.#units[at + trait]);
  }

  /** Returns the value at the fraction `u` of [low, high] as a valid trait: a float32 in its range, 0 if too near to 0. */
  #valueIn(trait: number, low: number, high: number, u: number): number {
    const value = Math.fround(low + (high - low) * u);
    const inside = Math.min(Math.max(value, this.#min[trait]), this.#max[trait]);
    return Math.abs(inside) < MIN_MAGNITUDE ? 0 : inside;
  }

  /**
   * Writes `count` samples of a posterior, evenly spaced in the table: f32 [count, 16] from `offset` on. If `count` is larger
   * than the table, samples repeat.
   */
  writeMany(posterior: ProfilePosterior, count: number, out: Float32Array, offset: number): void {
    for (let at = 0; at < count; at++) {
      const p = Math.floor(((at % this.count) * this.count) / Math.min(count, this.count));
      this.write(posterior, p, out, offset + at * PROFILE_SIZE);
    }
  }
}
