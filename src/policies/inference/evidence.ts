/** What one step shows: bounds that the luck's known amplitude puts on what is hidden. */
import { respond } from '../../reference/step.js';
import type { Params } from '../../world/block.js';
import {
  METER_NAMES,
  NUM_ACTIONS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  NUM_TRAITS,
  OBSERVATION,
  TRAIT_NAMES,
} from '../../world/fields.js';

export const VITALITY = METER_NAMES.indexOf('vitality');
export const SERENITY = METER_NAMES.indexOf('serenity');
export const STRESS_THRESHOLD = TRAIT_NAMES.indexOf('stress_threshold');
/** Where no trait moves a meter. */
export const NOBODY = -1;

/**
 * How far float32 may round one step's sums, as a share of what they add up: a hair, so that rounding never excludes
 * who the person is.
 */
const ROUNDING = 2 ** -21;

/**
 * Which trait moves a meter when an action is taken in a slot, [slot][action][meter], NOBODY for none. The stress
 * threshold is left out: it moves them all. No meter is moved by two others (world page, One step, rule 2).
 */
export function moversOf(params: Params): Int8Array {
  const movers = new Int8Array(NUM_SLOTS * NUM_ACTIONS * NUM_METERS).fill(NOBODY);
  const [low, high] = [new Float32Array(NUM_METERS), new Float32Array(NUM_METERS)];
  const meters = new Float32Array(NUM_METERS).fill(1);
  const who = Float32Array.from(params.traitNeutral);
  // Everything is affine in vitality, so what shows at neither of its ends never does.
  for (let at = 0; at < 2 * NUM_SLOTS * NUM_ACTIONS; at++) {
    const row = at >>> 1;
    const [slot, action] = [Math.floor(row / NUM_ACTIONS), row % NUM_ACTIONS];
    meters[VITALITY] = at & 1;
    for (let trait = 0; trait < NUM_TRAITS; trait++) {
      if (trait === STRESS_THRESHOLD) continue;
      who[trait] = params.traitLow[trait];
      respond(params, who, slot, action, meters, low);
      who[trait] += params.traitSpan[trait];
      respond(params, who, slot, action, meters, high);
      who[trait] = params.traitNeutral[trait];
      for (let k = 0; k < NUM_METERS; k++) if (low[k] !== high[k]) movers[row * NUM_METERS + k] = trait;
    }
  }
  return movers;
}

/** The evidence of a step, read into the same memory step after step. Exact numbers' bounds, as float64. */
export class Evidence {
  readonly #params: Params;
  readonly #movers: Int8Array;
  /** Everybody's lowest and highest traits, never stressed. */
  readonly #lowest: Float32Array;
  readonly #highest: Float32Array;
  readonly #atLowest = new Float32Array(NUM_METERS);
  readonly #atHighest = new Float32Array(NUM_METERS);
  readonly #atNeutral = new Float32Array(NUM_METERS);

  /** Of the step: its number (0-27), slot, action's code, event's code or -1. */
  step = 0;
  slot = 0;
  action = 0;
  event = -1;
  /** f32 [5]: the meters in which the action was taken, and those after it. */
  readonly before = new Float32Array(NUM_METERS);
  readonly after = new Float32Array(NUM_METERS);
  readonly deltas = new Float32Array(NUM_METERS);
  readonly anomalies = new Float32Array(NUM_METERS);
  /** The trait that moves each meter, or NOBODY, and by how much a unit of it does. */
  readonly mover = new Int8Array(NUM_METERS);
  readonly slope = new Float64Array(NUM_METERS);
  /** What an unstressed person with the lowest trait would leave to be explained, by meter, luck included. */
  readonly excess = new Float64Array(NUM_METERS);
  /** How far luck and rounding may be off, and rounding alone, by meter. */
  readonly margin = new Float64Array(NUM_METERS);
  readonly rounding = new Float64Array(NUM_METERS);
  /** What of each change is neither the action's nor luck: decay and event, unless the meter stopped at an end. */
  readonly rest = new Float64Array(NUM_METERS);
  /** The reward as given, and how many meters were crashed after the step. */
  reward = 0;
  crashed = 0;

  constructor(params: Params) {
    this.#params = params;
    this.#movers = moversOf(params);
    this.#lowest = Float32Array.from(params.traitLow);
    this.#highest = this.#lowest.map((low, trait) => low + params.traitSpan[trait]);
    this.#lowest[STRESS_THRESHOLD] = this.#highest[STRESS_THRESHOLD] = Number.NEGATIVE_INFINITY;
  }

  /**
   * Reads the step before the observation at `base`.
   * @param before f32 [5]: the meters of the observation before it.
   */
  read(rows: Float32Array, base: number, before: ArrayLike<number>): this {
    this.step = rows[base + OBSERVATION.step] - 1;
    this.slot = this.step % NUM_SLOTS;
    this.action = rows[base + OBSERVATION.lastAction];
    this.event = rows[base + OBSERVATION.event];
    this.reward = rows[base + OBSERVATION.reward];
    this.before.set(before);
    this.crashed = 0;
    for (let k = 0; k < NUM_METERS; k++) {
      this.after[k] = rows[base + OBSERVATION.meters + k];
      this.deltas[k] = rows[base + OBSERVATION.deltas + k];
      this.anomalies[k] = rows[base + OBSERVATION.anomalies + k];
      if (this.after[k] < this.#params.crashThreshold) this.crashed++;
    }
    this.#weigh();
    return this;
  }

  /** The last reward holds the grade, which nobody can weigh without knowing what is sought. */
  get tellsWeights(): boolean {
    return this.step < NUM_STEPS - 1;
  }

  #weigh(): void {
    const { slot, action, before } = this;
    respond(this.#params, this.#lowest, slot, action, before, this.#atLowest);
    respond(this.#params, this.#highest, slot, action, before, this.#atHighest);
    respond(this.#params, this.#params.traitNeutral, slot, action, before, this.#atNeutral);
    const row = (slot * NUM_ACTIONS + action) * NUM_METERS;
    for (let k = 0; k < NUM_METERS; k++) this.#weighMeter(k, this.#movers[row + k]);
  }

  #weighMeter(k: number, mover: number): void {
    const [low, neutral, anomaly] = [this.#atLowest[k], this.#atNeutral[k], this.anomalies[k]];
    const span = mover === NOBODY ? 1 : this.#params.traitSpan[mover];
    this.mover[k] = mover;
    this.slope[k] = (this.#atHighest[k] - low) / span;
    this.excess[k] = anomaly + neutral - low;
    this.rest[k] = this.deltas[k] - anomaly - neutral;
    const event = this.event < 0 ? 0 : this.#params.eventEffect[this.event * NUM_METERS + k];
    const size = Math.abs(low) + Math.abs(this.#atHighest[k]) + Math.abs(neutral) + Math.abs(anomaly);
    this.rounding[k] = ROUNDING * (1 + size + Math.abs(this.#params.decay[k]) + Math.abs(event));
    this.margin[k] = Math.abs(this.#params.noiseMeters[k]) + this.rounding[k];
  }
}
