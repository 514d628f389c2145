/**
 * The posterior of the traits that affect anomalies. An anomaly is a meter's response minus that of the neutral profile, plus
 * noise, which is uniform with known amplitude. So an anomaly bounds the one trait that affects its meter, from below and
 * above, if it is known whether serenity was below the profile's stress threshold. The observed serenities divide the stress
 * thresholds into ranges. The posterior is exact: for each range it is uniform in a box of traits.
 */
import type { Params } from '../../world/block.js';
import { NUM_METERS, NUM_STEPS, NUM_TRAITS, TRAIT } from '../../world/fields.js';
import { type Evidence, NO_TRAIT } from './evidence.js';

/** A step splits at most one range of thresholds. */
const MAX_CELLS = NUM_STEPS + 1;

/** The variance of a uniform range is its squared width divided by this number. */
export const UNIFORM_VARIANCE_DIVISOR = 12;

/** Returns the range of a trait in a world: two float32s. */
export const rangeOf = ({ traitLow, traitSpan }: Params, trait: number): [low: number, high: number] => [
  traitLow[trait],
  Math.fround(traitLow[trait] + traitSpan[trait]),
];

/**
 * Bounds of the traits, in cells. A cell is a range of stress thresholds. The box of a cell has the bounds of all traits for
 * thresholds in this range. Cells are in ascending order.
 */
export class TraitPosterior {
  readonly #params: Params;
  /** The result of `#bound`. */
  #least = 0;
  #most = 0;
  /** The number of cells. */
  numCells = 0;
  /** f64 [cells, 11] each: bounds of each cell's box. The bounds of the stress threshold are the range of the cell. */
  readonly low = new Float64Array(MAX_CELLS * NUM_TRAITS);
  readonly high = new Float64Array(MAX_CELLS * NUM_TRAITS);
  /** f64 [cells]: probabilities, which sum to 1. */
  readonly chance = new Float64Array(MAX_CELLS);

  constructor(params: Params) {
    this.#params = params;
    this.reset();
  }

  /** Resets to the prior. */
  reset(): void {
    this.numCells = 1;
    for (let trait = 0; trait < NUM_TRAITS; trait++)
      [this.low[trait], this.high[trait]] = rangeOf(this.#params, trait);
    this.chance[0] = 1;
  }

  /**
   * Updates the posterior with a step's anomalies.
   * @returns a bit mask: bit k is set if no profile fits both the anomaly of meter k and the earlier anomalies. Then the bounds
   *   of the trait that affects this meter are widened, within the trait's range, to allow this anomaly too.
   */
  observe(evidence: Evidence): number {
    this.#splitAt(evidence.serenity);
    let contradicted = 0;
    for (let k = 0; k < NUM_METERS; k++) {
      if (this.#isPossibleInAny(evidence, k)) this.#narrow(evidence, k);
      else {
        contradicted |= 1 << k;
        this.#widen(evidence, k);
      }
    }
    this.#updateChances();
    return contradicted;
  }

  /** Splits the cell that contains serenity `s`: a profile with a higher threshold is stressed at `s`. */
  #splitAt(s: number): void {
    for (let cell = 0; cell < this.numCells; cell++) {
      const at = cell * NUM_TRAITS;
      if (!(this.low[at + TRAIT.stressThreshold] < s && s < this.high[at + TRAIT.stressThreshold])) continue;
      if (this.numCells === MAX_CELLS) return;
      const end = this.numCells * NUM_TRAITS;
      this.low.copyWithin(at + NUM_TRAITS, at, end);
      this.high.copyWithin(at + NUM_TRAITS, at, end);
      this.numCells++;
      this.high[at + TRAIT.stressThreshold] = s;
      this.low[at + NUM_TRAITS + TRAIT.stressThreshold] = s;
      return;
    }
  }

  /**
   * Sets `#least` and `#most` to the bounds, from this step alone, of the trait that affects meter `k`. If none does, they bound
   * the rise: the response of a profile in the cell minus that of a profile with the lowest traits, both without stress.
   */
  #bound(evidence: Evidence, k: number, cell: number): void {
    const stressed = this.low[cell * NUM_TRAITS + TRAIT.stressThreshold] >= evidence.serenity;
    const excess = evidence.excess[k] - (stressed ? this.#params.stress[k] : 0);
    const minRise = excess - evidence.margin[k];
    const maxRise = excess + evidence.margin[k];
    this.#least = minRise;
    this.#most = maxRise;
    if (!isAffected(evidence, k)) return;
    const slope = evidence.slope[k];
    const low = this.#params.traitLow[evidence.affectingTrait[k]];
    this.#least = low + (slope > 0 ? minRise : maxRise) / slope;
    this.#most = low + (slope > 0 ? maxRise : minRise) / slope;
  }

  /** Returns whether a step's anomaly of meter `k` is possible in a cell. Calls `#bound`. */
  #isPossible(evidence: Evidence, k: number, cell: number): boolean {
    this.#bound(evidence, k, cell);
    if (!isAffected(evidence, k)) return this.#least <= 0 && this.#most >= 0;
    const at = cell * NUM_TRAITS + evidence.affectingTrait[k];
    return this.#least <= this.high[at] && this.#most >= this.low[at];
  }

  #isPossibleInAny(evidence: Evidence, k: number): boolean {
    for (let cell = 0; cell < this.numCells; cell++) if (this.#isPossible(evidence, k, cell)) return true;
    return false;
  }

  /** Narrows the boxes by the anomaly of meter `k`, and removes the cells in which the anomaly is impossible. */
  #narrow(evidence: Evidence, k: number): void {
    let numKept = 0;
    for (let cell = 0; cell < this.numCells; cell++) {
      if (!this.#isPossible(evidence, k, cell)) continue;
      if (numKept !== cell) this.#move(cell, numKept);
      if (isAffected(evidence, k)) {
        const at = numKept * NUM_TRAITS + evidence.affectingTrait[k];
        this.low[at] = Math.max(this.low[at], this.#least);
        this.high[at] = Math.min(this.high[at], this.#most);
      }
      numKept++;
    }
    this.numCells = numKept;
  }

  #move(from: number, to: number): void {
    const [start, end] = [from * NUM_TRAITS, (from + 1) * NUM_TRAITS];
    this.low.copyWithin(to * NUM_TRAITS, start, end);
    this.high.copyWithin(to * NUM_TRAITS, start, end);
  }

  /** Widens the boxes, within the trait's range, to allow the anomaly of meter `k` in every cell. */
  #widen(evidence: Evidence, k: number): void {
    if (!isAffected(evidence, k)) return;
    const trait = evidence.affectingTrait[k];
    const [min, max] = [
      this.#params.traitLow[trait],
      this.#params.traitLow[trait] + this.#params.traitSpan[trait],
    ];
    for (let cell = 0; cell < this.numCells; cell++) {
      const at = cell * NUM_TRAITS + trait;
      this.#bound(evidence, k, cell);
      this.low[at] = Math.max(min, Math.min(this.low[at], this.#least));
      this.high[at] = Math.min(max, Math.max(this.high[at], this.#most));
    }
  }

  /** Sets the probability of each cell in proportion to the volume of its box. */
  #updateChances(): void {
    let total = 0;
    for (let cell = 0; cell < this.numCells; cell++) {
      let volume = 1;
      for (let trait = 0; trait < NUM_TRAITS; trait++) {
        const at = cell * NUM_TRAITS + trait;
        volume *= (this.high[at] - this.low[at]) / this.#params.traitSpan[trait];
      }
      this.chance[cell] = volume;
      total += volume;
    }
    // Without noise all volumes can be 0. Then all cells are equally likely.
    for (let cell = 0; cell < this.numCells; cell++)
      this.chance[cell] = total > 0 ? this.chance[cell] / total : 1 / this.numCells;
  }

  /** Returns whether the box of any cell contains a profile's traits. @param profile f32 [11] or longer. */
  allows(profile: ArrayLike<number>): boolean {
    for (let cell = 0; cell < this.numCells; cell++) {
      const at = cell * NUM_TRAITS;
      let inside = true;
      for (let k = 0; k < NUM_TRAITS; k++)
        inside &&= this.low[at + k] <= profile[k] && profile[k] <= this.high[at + k];
      if (inside) return true;
    }
    return false;
  }

  /** Returns whether all boxes have the same bounds of a trait. */
  haveEqualBounds(trait: number): boolean {
    for (let at = trait; at < this.numCells * NUM_TRAITS; at += NUM_TRAITS)
      if (this.low[at] !== this.low[trait] || this.high[at] !== this.high[trait]) return false;
    return true;
  }

  /** Returns the lowest bound of a trait over all boxes. */
  lowest(trait: number): number {
    let low = this.low[trait];
    for (let cell = 1; cell < this.numCells; cell++) low = Math.min(low, this.low[cell * NUM_TRAITS + trait]);
    return low;
  }

  /** Returns the highest bound of a trait over all boxes. */
  highest(trait: number): number {
    let high = this.high[trait];
    for (let cell = 1; cell < this.numCells; cell++)
      high = Math.max(high, this.high[cell * NUM_TRAITS + trait]);
    return high;
  }

  /** Returns the mean of a trait. */
  mean(trait: number): number {
    let mean = 0;
    for (let cell = 0; cell < this.numCells; cell++) {
      const at = cell * NUM_TRAITS + trait;
      mean += this.chance[cell] * 0.5 * (this.low[at] + this.high[at]);
    }
    return mean;
  }

  /** Returns the variance of a trait. */
  variance(trait: number): number {
    const mean = this.mean(trait);
    let variance = 0;
    for (let cell = 0; cell < this.numCells; cell++) {
      const middle = 0.5 * (this.low[cell * NUM_TRAITS + trait] + this.high[cell * NUM_TRAITS + trait]);
      const [deviation, width] = [middle - mean, this.width(cell, trait)];
      variance += this.chance[cell] * (deviation * deviation + (width * width) / UNIFORM_VARIANCE_DIVISOR);
    }
    return variance;
  }

  /** Returns the width of a cell's box along a trait. */
  width(cell: number, trait: number): number {
    return this.high[cell * NUM_TRAITS + trait] - this.low[cell * NUM_TRAITS + trait];
  }

  /**
   * Returns the position of quantile `u` of the stress threshold: the index of the quantile's cell, plus a fraction less than
   * 1. The fraction is the part of the cell's range that lies below the quantile.
   */
  positionAt(u: number): number {
    let rest = u;
    for (let cell = 0; cell < this.numCells; cell++) {
      if (rest < this.chance[cell]) return cell + Math.min(rest / this.chance[cell], MAX_FRACTION);
      rest -= this.chance[cell];
    }
    return this.numCells - 1 + MAX_FRACTION;
  }
}

/** The largest fraction of a cell that `positionAt` adds, chosen by hand. With 1 the position would be in the next cell. */
const MAX_FRACTION = 1 - 2 ** -30;

/** Returns whether a trait affected meter `k` in a step. */
const isAffected = (evidence: Evidence, k: number): boolean =>
  evidence.affectingTrait[k] !== NO_TRAIT && evidence.slope[k] !== 0;
