/** Draws profiles from a posterior. */
import type { Params } from '../../world/block.js';
import { MIN_MAGNITUDE, NUM_METERS, NUM_TRAITS, PROFILE_SIZE } from '../../world/fields.js';
import type { Draws } from './inference-draws.js';
import type { ProfilePosterior } from './posterior.js';
import { EVENT_IMPACT, METABOLIC_RATE, STRESS_THRESHOLD } from './responses.js';

/**
 * Returns a Latin hypercube, f64 [samples, 11]: for each trait, units evenly spread over (0, 1) in a separate random
 * order, so that few samples cover the space.
 */
export function latinUnits(count: number, draws: Draws): Float64Array {
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

/** Maps units to profiles. All posteriors share one table of units. */
export class PosteriorSamples {
  readonly #params: Params;
  readonly #units: Float64Array;
  readonly count: number;

  constructor(params: Params, count: number, draws: Draws) {
    this.#params = params;
    this.count = count;
    this.#units = latinUnits(count, draws);
  }

  /** Writes sample `p` of a posterior: f32 [16], a valid profile. */
  write(posterior: ProfilePosterior, p: number, out: Float32Array, offset: number): void {
    const { traits, rates, weights } = posterior;
    const at = p * NUM_TRAITS;
    const position = traits.cellAt(this.#units[at + STRESS_THRESHOLD]);
    const cell = Math.floor(position);
    for (let trait = 0; trait < NUM_TRAITS; trait++) {
      const box = cell * NUM_TRAITS + trait;
      const u = trait === STRESS_THRESHOLD ? position - cell : this.#units[at + trait];
      out[offset + trait] = this.#valueIn(trait, traits.low[box], traits.high[box], u);
    }
    const { metabolism, impact } = rates;
    out[offset + METABOLIC_RATE] = this.#valueIn(
      METABOLIC_RATE,
      metabolism.low,
      metabolism.high,
      this.#units[at + METABOLIC_RATE],
    );
    out[offset + EVENT_IMPACT] = this.#valueIn(
      EVENT_IMPACT,
      impact.low,
      impact.high,
      this.#units[at + EVENT_IMPACT],
    );
    for (let k = 0; k < NUM_METERS; k++) {
      const weight = weights.drawn[p * NUM_METERS + k];
      out[offset + NUM_TRAITS + k] = weight < MIN_MAGNITUDE ? 0 : weight;
    }
  }

  #valueIn(trait: number, low: number, high: number, u: number): number {
    const min = this.#params.traitLow[trait];
    const max = Math.fround(min + this.#params.traitSpan[trait]);
    const value = Math.fround(low + (high - low) * u);
    const inside = Math.min(Math.max(value, min), max);
    return Math.abs(inside) < MIN_MAGNITUDE ? 0 : inside;
  }

  /** Writes `count` evenly spaced samples of a posterior: f32 [count, 16] from `offset` on. */
  writeMany(posterior: ProfilePosterior, count: number, out: Float32Array, offset: number): void {
    for (let at = 0; at < count; at++) {
      const p = Math.floor(((at % this.count) * this.count) / Math.min(count, this.count));
      this.write(posterior, p, out, offset + at * PROFILE_SIZE);
    }
  }
}
