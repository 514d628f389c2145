/**
 * The posterior of the two traits that do not affect anomalies: `metabolic_rate`, which scales the decay of vitality, and
 * `event_impact`. Their values are called rates here. The part of a change that comes from decay and event has no noise. So
 * one step determines the first trait, and one event determines the second, unless a meter was clamped.
 */
import type { Params } from '../../world/block.js';
import { METER, NUM_METERS, TRAIT } from '../../world/fields.js';
import type { Evidence } from './evidence.js';
import { rangeOf } from './traits.js';

/** Lower and upper bound of a number. */
export class Range {
  low = 0;
  high = 0;

  contains(value: number): boolean {
    return this.low <= value && value <= this.high;
  }

  get middle(): number {
    return 0.5 * (this.low + this.high);
  }

  set(low: number, high: number): void {
    this.low = low;
    this.high = high;
  }

  /** Intersects with a range. If the intersection is empty, widens to contain both ranges and returns false. */
  narrow(low: number, high: number): boolean {
    const possible = low <= this.high && high >= this.low;
    if (possible) this.set(Math.max(this.low, low), Math.min(this.high, high));
    else this.set(Math.min(this.low, low), Math.max(this.high, high));
    return possible;
  }

  /** Clamps to the allowed range. */
  clamp(low: number, high: number): void {
    this.set(Math.min(Math.max(this.low, low), high), Math.max(Math.min(this.high, high), low));
  }
}

/** Bounds of the two traits after the evidence so far. */
export class RatePosterior {
  readonly #params: Params;
  readonly metabolism = new Range();
  readonly impact = new Range();
  /** The result of `#boundsOfRest`, which each call overwrites. */
  readonly #restBounds = new Range();

  constructor(params: Params) {
    this.#params = params;
    this.reset();
  }

  reset(): void {
    this.metabolism.set(...rangeOf(this.#params, TRAIT.metabolicRate));
    this.impact.set(...rangeOf(this.#params, TRAIT.eventImpact));
  }

  /** Returns whether the two traits of a profile are within the bounds. @param profile f32 [11] or longer. */
  allows(profile: ArrayLike<number>): boolean {
    return (
      this.metabolism.contains(profile[TRAIT.metabolicRate]) &&
      this.impact.contains(profile[TRAIT.eventImpact])
    );
  }

  /** Updates the bounds with a step's changes. @returns false if they contradict earlier changes. */
  observe(evidence: Evidence): boolean {
    let fits = true;
    if (evidence.event >= 0) {
      for (let k = 0; k < NUM_METERS; k++) fits = this.#updateImpact(evidence, k) && fits;
      this.impact.clamp(...rangeOf(this.#params, TRAIT.eventImpact));
    }
    fits = this.#updateMetabolism(evidence) && fits;
    this.metabolism.clamp(...rangeOf(this.#params, TRAIT.metabolicRate));
    return fits;
  }

  /**
   * Narrows the event impact. `rest`, the part of a change that comes from decay and event, is
   * `effect * impact - decay * metabolism`. For meters other than vitality `metabolism` is 1.
   */
  #updateImpact(evidence: Evidence, k: number): boolean {
    const effect = this.#params.eventEffect[evidence.event * NUM_METERS + k];
    const decay = this.#params.decay[k];
    const range = this.#boundsOfRest(evidence, k);
    if (k === METER.vitality) addProduct(range, decay, this.metabolism.low, this.metabolism.high);
    else addProduct(range, decay, 1, 1);
    return narrowByProduct(this.impact, effect, range);
  }

  /** Narrows the metabolic rate by the `rest` of vitality. */
  #updateMetabolism(evidence: Evidence): boolean {
    const range = this.#boundsOfRest(evidence, METER.vitality);
    if (evidence.event >= 0) {
      const effect = this.#params.eventEffect[evidence.event * NUM_METERS + METER.vitality];
      addProduct(range, -effect, this.impact.low, this.impact.high);
    }
    return narrowByProduct(this.metabolism, -this.#params.decay[METER.vitality], range);
  }

  /** Returns the bounds of `rest`. A clamped meter bounds it on one side only. */
  #boundsOfRest(evidence: Evidence, k: number): Range {
    const rounding = evidence.rounding[k];
    this.#restBounds.set(
      evidence.after[k] <= 0 ? Number.NEGATIVE_INFINITY : evidence.rest[k] - rounding,
      evidence.after[k] >= 1 ? Number.POSITIVE_INFINITY : evidence.rest[k] + rounding,
    );
    return this.#restBounds;
  }
}

/** Adds the bounds of `factor * x` to a range, for x in [low, high]. */
function addProduct(range: Range, factor: number, low: number, high: number): void {
  const [a, b] = [factor * low, factor * high];
  range.set(range.low + Math.min(a, b), range.high + Math.max(a, b));
}

/** Narrows `target` so that `factor * target` lies in `range`. @returns false if that is impossible. */
function narrowByProduct(target: Range, factor: number, range: Range): boolean {
  if (factor === 0) return range.low <= 0 && range.high >= 0;
  const [a, b] = [range.low / factor, range.high / factor];
  return target.narrow(Math.min(a, b), Math.max(a, b));
}
