/** Accumulates how well the last beliefs of episodes match their targets, in each dimension: social, morning, work. */

import type { Calibration } from '../figures/calibration.js';
import { CompensatedSum } from '../shared/statistics.js';
import { NUM_BELIEFS } from '../world/fields.js';

/** The number of ranges of beliefs, of equal width in [0, 1]. Chosen by hand: with more, each has fewer beliefs. */
export const RANGES = 10;

/** Accumulates the pairs of belief and target in one dimension, in constant memory. */
export class CalibrationTally {
  readonly #counts = new Float64Array(RANGES);
  readonly #belief = new Float64Array(RANGES);
  readonly #target = new Float64Array(RANGES);
  /**
   * Sums of x = belief - 0.5, y = target - 0.5, their products, and the absolute errors. The middle 0.5 is subtracted, because
   * variances of small numbers lose less precision.
   */
  readonly #sums = { x: sum(), y: sum(), xx: sum(), yy: sum(), xy: sum(), error: sum() };
  #count = 0;

  /** Adds a belief and its target, both in [0, 1]. */
  add(belief: number, target: number): void {
    const range = Math.min(RANGES - 1, Math.floor(belief * RANGES));
    this.#counts[range]++;
    this.#belief[range] += belief;
    this.#target[range] += target;
    this.#count++;
    const [x, y] = [belief - 0.5, target - 0.5];
    const terms = { x, y, xx: x * x, yy: y * y, xy: x * y, error: Math.abs(belief - target) };
    for (const [name, value] of Object.entries(terms)) {
      // `addColumn` adds a column of numbers: here, one.
      this.#sums[name as keyof typeof terms].addColumn(Float64Array.of(value), 0, 1);
    }
  }

  /** Returns the calibration; null without pairs. */
  summary(): Calibration | null {
    const n = this.#count;
    if (n === 0) return null;
    const bins = Array.from(this.#counts, (count, k) => ({
      belief: this.#belief[k] / count,
      target: this.#target[k] / count,
      range: k,
      count,
    })).filter(({ count }) => count > 0);
    return { bins, count: n, correlation: this.#correlation(), mae: this.#sums.error.value / n };
  }

  #correlation(): number | null {
    const n = this.#count;
    const { x, y, xx, yy, xy } = this.#sums;
    // The means and the variances of x and y.
    const [mx, my] = [x.value / n, y.value / n];
    const [vx, vy] = [xx.value / n - mx * mx, yy.value / n - my * my];
    if (vx <= ROUNDING || vy <= ROUNDING) return null;
    return (xy.value / n - mx * my) / Math.sqrt(vx * vy);
  }
}

const sum = () => new CompensatedSum();
/** A variance up to this counts as a rounding error. Chosen by hand. */
const ROUNDING = 1e-12;

/** Returns an empty tally for each dimension, [3] by BELIEF_NAMES. */
export const calibrationTallies = (): readonly CalibrationTally[] =>
  Array.from({ length: NUM_BELIEFS }, () => new CalibrationTally());
