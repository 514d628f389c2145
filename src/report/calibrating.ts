/** Last beliefs against the truth, by dimension. */
import { CompensatedSum } from '../evaluate/statistics.js';
import type { Calibration } from '../pictures/calibration.js';
import { NUM_BELIEFS } from '../world/fields.js';

/** Ranges of what is said: a tenth each. */
export const RANGES = 10;

/** Pairs of one dimension, in constant memory. */
export class CalibrationTally {
  readonly #counts = new Float64Array(RANGES);
  readonly #said = new Float64Array(RANGES);
  readonly #truth = new Float64Array(RANGES);
  /** Around the middle, so that squares do not cancel. */
  readonly #sums = { x: sum(), y: sum(), xx: sum(), yy: sum(), xy: sum(), error: sum() };
  #count = 0;

  add(said: number, truth: number): void {
    const bin = Math.min(RANGES - 1, Math.floor(said * RANGES));
    this.#counts[bin]++;
    this.#said[bin] += said;
    this.#truth[bin] += truth;
    this.#count++;
    const [x, y] = [said - 0.5, truth - 0.5];
    const terms = { x, y, xx: x * x, yy: y * y, xy: x * y, error: Math.abs(said - truth) };
    for (const [name, value] of Object.entries(terms)) {
      this.#sums[name as keyof typeof terms].addColumn(Float64Array.of(value), 0, 1);
    }
  }

  /** Null of nothing. */
  summary(): Calibration | null {
    const n = this.#count;
    if (n === 0) return null;
    const bins = Array.from(this.#counts, (count, k) => ({
      said: this.#said[k] / count,
      truth: this.#truth[k] / count,
      range: k,
      count,
    })).filter(({ count }) => count > 0);
    return { bins, count: n, correlation: this.#correlation(), mae: this.#sums.error.value / n };
  }

  #correlation(): number | null {
    const n = this.#count;
    const { x, y, xx, yy, xy } = this.#sums;
    const [mx, my] = [x.value / n, y.value / n];
    const [vx, vy] = [xx.value / n - mx * mx, yy.value / n - my * my];
    if (vx <= NOTHING || vy <= NOTHING) return null;
    return (xy.value / n - mx * my) / Math.sqrt(vx * vy);
  }
}

const sum = () => new CompensatedSum();
/** A smaller variance is that of rounding. */
const NOTHING = 1e-12;

/** [3], by BELIEF_NAMES. */
export const calibrationTallies = (): readonly CalibrationTally[] =>
  Array.from({ length: NUM_BELIEFS }, () => new CalibrationTally());
