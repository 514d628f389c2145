/**
 * What is believed of the traits that anomalies show. Luck is uniform and of known amplitude, so an anomaly bounds the
 * one trait that moves its meter, on both sides, once it is known whether the person was stressed. So the posterior is
 * exact: for each range of stress thresholds between serenities that were seen, a box, all of it equally likely.
 */
import type { Params } from '../../world/block.js';
import { NUM_METERS, NUM_STEPS, NUM_TRAITS } from '../../world/fields.js';
import type { Evidence } from './evidence.js';
import { NOBODY, STRESS_THRESHOLD } from './responses.js';

/** A step splits one range of thresholds at most. */
const MAX_CELLS = NUM_STEPS + 1;

/** A uniform range is as wide as the root of so many variances. */
export const VARIANCES = 12;

/** One cell after the other by rising stress threshold: the box of traits of those whose threshold lies in it. */
export class TraitBelief {
  readonly #params: Params;
  cells = 0;
  /** f64 [cells, 11]: the box's ends; at the stress threshold those of the cell. */
  readonly low = new Float64Array(MAX_CELLS * NUM_TRAITS);
  readonly high = new Float64Array(MAX_CELLS * NUM_TRAITS);
  /** f64 [cells]: how likely each cell is; they sum to 1. */
  readonly chance = new Float64Array(MAX_CELLS);

  constructor(params: Params) {
    this.#params = params;
    this.reset();
  }

  /** Forgets everything: the prior. */
  reset(): void {
    const { traitLow, traitSpan } = this.#params;
    this.cells = 1;
    for (let trait = 0; trait < NUM_TRAITS; trait++) {
      this.low[trait] = traitLow[trait];
      this.high[trait] = Math.fround(traitLow[trait] + traitSpan[trait]);
    }
    this.chance[0] = 1;
  }

  /**
   * Takes a step's anomalies as evidence.
   * @returns a bit for each meter whose anomaly nobody could have shown who showed the earlier ones: there the trait's
   *   bounds were widened to hold both.
   */
  observe(evidence: Evidence): number {
    this.#splitAt(evidence.serenity);
    let contradicted = 0;
    for (let k = 0; k < NUM_METERS; k++) {
      if (this.#anySurvives(evidence, k)) this.#narrow(evidence, k);
      else {
        contradicted |= 1 << k;
        this.#widen(evidence, k);
      }
    }
    this.#weighCells();
    return contradicted;
  }

  /** The cell that holds serenity `s` becomes two: those who are stressed by it have a higher threshold. */
  #splitAt(s: number): void {
    for (let cell = 0; cell < this.cells; cell++) {
      const at = cell * NUM_TRAITS;
      if (!(this.low[at + STRESS_THRESHOLD] < s && s < this.high[at + STRESS_THRESHOLD])) continue;
      if (this.cells === MAX_CELLS) return;
      const end = this.cells * NUM_TRAITS;
      this.low.copyWithin(at + NUM_TRAITS, at, end);
      this.high.copyWithin(at + NUM_TRAITS, at, end);
      this.cells++;
      this.high[at + STRESS_THRESHOLD] = s;
      this.low[at + NUM_TRAITS + STRESS_THRESHOLD] = s;
      return;
    }
  }

  /** Least and most that the trait may add to meter `k` above its lowest, in a cell; [0, 0] where no trait does. */
  #leastShare(evidence: Evidence, k: number, cell: number): number {
    return this.#excessIn(evidence, k, cell) - evidence.margin[k];
  }

  #mostShare(evidence: Evidence, k: number, cell: number): number {
    return this.#excessIn(evidence, k, cell) + evidence.margin[k];
  }

  #excessIn(evidence: Evidence, k: number, cell: number): number {
    const stressed = this.low[cell * NUM_TRAITS + STRESS_THRESHOLD] >= evidence.serenity;
    return evidence.excess[k] - (stressed ? this.#params.stress[k] : 0);
  }

  /** Bounds of the trait that moves meter `k`, from this step alone. */
  #boundLow(evidence: Evidence, k: number, cell: number): number {
    const slope = evidence.slope[k];
    const share = slope > 0 ? this.#leastShare(evidence, k, cell) : this.#mostShare(evidence, k, cell);
    return this.#params.traitLow[evidence.mover[k]] + share / slope;
  }

  #boundHigh(evidence: Evidence, k: number, cell: number): number {
    const slope = evidence.slope[k];
    const share = slope > 0 ? this.#mostShare(evidence, k, cell) : this.#leastShare(evidence, k, cell);
    return this.#params.traitLow[evidence.mover[k]] + share / slope;
  }

  #survives(evidence: Evidence, k: number, cell: number): boolean {
    if (!moves(evidence, k)) {
      return this.#leastShare(evidence, k, cell) <= 0 && this.#mostShare(evidence, k, cell) >= 0;
    }
    const at = cell * NUM_TRAITS + evidence.mover[k];
    return (
      this.#boundLow(evidence, k, cell) <= this.high[at] && this.#boundHigh(evidence, k, cell) >= this.low[at]
    );
  }

  #anySurvives(evidence: Evidence, k: number): boolean {
    for (let cell = 0; cell < this.cells; cell++) if (this.#survives(evidence, k, cell)) return true;
    return false;
  }

  #narrow(evidence: Evidence, k: number): void {
    let kept = 0;
    for (let cell = 0; cell < this.cells; cell++) {
      if (!this.#survives(evidence, k, cell)) continue;
      if (kept !== cell) this.#move(cell, kept);
      if (moves(evidence, k)) {
        const at = kept * NUM_TRAITS + evidence.mover[k];
        // The cell is asked by its new place: it is there now.
        const [low, high] = [this.#boundLow(evidence, k, kept), this.#boundHigh(evidence, k, kept)];
        this.low[at] = Math.max(this.low[at], low);
        this.high[at] = Math.min(this.high[at], high);
      }
      kept++;
    }
    this.cells = kept;
  }

  #move(from: number, to: number): void {
    const [start, end] = [from * NUM_TRAITS, (from + 1) * NUM_TRAITS];
    this.low.copyWithin(to * NUM_TRAITS, start, end);
    this.high.copyWithin(to * NUM_TRAITS, start, end);
  }

  #widen(evidence: Evidence, k: number): void {
    if (!moves(evidence, k)) return;
    const trait = evidence.mover[k];
    const [least, most] = [
      this.#params.traitLow[trait],
      this.#params.traitLow[trait] + this.#params.traitSpan[trait],
    ];
    for (let cell = 0; cell < this.cells; cell++) {
      const at = cell * NUM_TRAITS + trait;
      const low = Math.min(this.low[at], this.#boundLow(evidence, k, cell));
      const high = Math.max(this.high[at], this.#boundHigh(evidence, k, cell));
      this.low[at] = Math.max(least, low);
      this.high[at] = Math.min(most, high);
    }
  }

  /** A cell is as likely as its box is large. */
  #weighCells(): void {
    let total = 0;
    for (let cell = 0; cell < this.cells; cell++) {
      let volume = 1;
      for (let trait = 0; trait < NUM_TRAITS; trait++) {
        const at = cell * NUM_TRAITS + trait;
        volume *= (this.high[at] - this.low[at]) / this.#params.traitSpan[trait];
      }
      this.chance[cell] = volume;
      total += volume;
    }
    // Boxes without luck in them are without volume: nothing tells their cells apart then.
    for (let cell = 0; cell < this.cells; cell++)
      this.chance[cell] = total > 0 ? this.chance[cell] / total : 1 / this.cells;
  }

  /** @param who f32 [11] or longer. @returns whether somebody like that may have shown all this. */
  allows(who: ArrayLike<number>): boolean {
    for (let cell = 0; cell < this.cells; cell++) {
      const at = cell * NUM_TRAITS;
      let inside = true;
      for (let k = 0; k < NUM_TRAITS; k++)
        inside &&= this.low[at + k] <= who[k] && who[k] <= this.high[at + k];
      if (inside) return true;
    }
    return false;
  }

  /** The ends of all boxes. */
  lowest(trait: number): number {
    let low = this.low[trait];
    for (let cell = 1; cell < this.cells; cell++) low = Math.min(low, this.low[cell * NUM_TRAITS + trait]);
    return low;
  }

  highest(trait: number): number {
    let high = this.high[trait];
    for (let cell = 1; cell < this.cells; cell++) high = Math.max(high, this.high[cell * NUM_TRAITS + trait]);
    return high;
  }

  /** Mean of a trait. */
  mean(trait: number): number {
    let mean = 0;
    for (let cell = 0; cell < this.cells; cell++) {
      const at = cell * NUM_TRAITS + trait;
      mean += this.chance[cell] * 0.5 * (this.low[at] + this.high[at]);
    }
    return mean;
  }

  /** Variance of a trait. */
  variance(trait: number): number {
    const mean = this.mean(trait);
    let variance = 0;
    for (let cell = 0; cell < this.cells; cell++) {
      const middle = 0.5 * (this.low[cell * NUM_TRAITS + trait] + this.high[cell * NUM_TRAITS + trait]);
      const [off, width] = [middle - mean, this.width(cell, trait)];
      variance += this.chance[cell] * (off * off + (width * width) / VARIANCES);
    }
    return variance;
  }

  /** How wide a cell's box is. */
  width(cell: number, trait: number): number {
    return this.high[cell * NUM_TRAITS + trait] - this.low[cell * NUM_TRAITS + trait];
  }

  /**
   * The cell in which quantile `u` of the stress threshold lies.
   * @returns the cell, and how far through it, as one number: cell + share in [0, 1).
   */
  cellAt(u: number): number {
    let left = u;
    for (let cell = 0; cell < this.cells; cell++) {
      if (left < this.chance[cell]) return cell + Math.min(left / this.chance[cell], LAST_SHARE);
      left -= this.chance[cell];
    }
    return this.cells - 1 + LAST_SHARE;
  }
}

const LAST_SHARE = 1 - 2 ** -30;

const moves = (evidence: Evidence, k: number): boolean =>
  evidence.mover[k] !== NOBODY && evidence.slope[k] !== 0;
