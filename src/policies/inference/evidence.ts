/** What one step shows: bounds that the luck's known amplitude puts on what is hidden. */
import type { Params } from '../../world/block.js';
import { NUM_ACTIONS, NUM_METERS, NUM_SLOTS, NUM_STEPS, OBSERVATION } from '../../world/fields.js';
import { EVENT_IMPACT, METABOLIC_RATE, type Responses, SERENITY } from './responses.js';

/**
 * How far float32 may round one step's sums, as a share of what they add up: a hair, so that rounding never excludes
 * who the person is.
 */
const ROUNDING = 2 ** -21;

/** The evidence of a step, read into the same memory step after step. Exact numbers' bounds, as float64. */
export class Evidence {
  readonly #params: Params;
  readonly #responses: Responses;
  /** The largest magnitude of a rate, its unit included. */
  readonly #largestRate: number;

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
  readonly mover: Int8Array;
  readonly slope: Float64Array;
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

  constructor(params: Params, responses: Responses) {
    this.#params = params;
    this.#responses = responses;
    const { traitLow, traitSpan } = params;
    const magnitudes = [METABOLIC_RATE, EVENT_IMPACT].map(
      (trait) => Math.abs(traitLow[trait]) + traitSpan[trait],
    );
    this.#largestRate = Math.max(1, ...magnitudes);
    this.mover = responses.mover;
    this.slope = responses.slope;
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

  /** Before the step: who is stressed by it was stressed. */
  get serenity(): number {
    return this.before[SERENITY];
  }

  /** The last reward holds the grade, which nobody can weigh without knowing what is sought. */
  get tellsWeights(): boolean {
    return this.step < NUM_STEPS - 1;
  }

  #weigh(): void {
    this.#responses.ask(this.slot, this.action, this.before);
    const { lowest, neutral } = this.#responses;
    for (let k = 0; k < NUM_METERS; k++) {
      const anomaly = this.anomalies[k];
      this.excess[k] = anomaly + neutral[k] - lowest[k];
      this.rest[k] = this.deltas[k] - anomaly - neutral[k];
      this.rounding[k] = ROUNDING * this.#sizeOf(k);
      this.margin[k] = Math.abs(this.#params.noiseMeters[k]) + this.rounding[k];
    }
  }

  /** More than the magnitude of anything that is added up on the way to the meter's change, for anybody. */
  #sizeOf(k: number): number {
    const { effect, stress, noiseMeters, decay, eventEffect, focusCognition } = this.#params;
    const { lowest, highest, neutral } = this.#responses;
    const row = (this.slot * NUM_ACTIONS + this.action) * NUM_METERS;
    const struck = this.event < 0 ? 0 : eventEffect[this.event * NUM_METERS + k];
    return (
      1 +
      Math.abs(this.anomalies[k]) +
      Math.abs(lowest[k]) +
      Math.abs(highest[k]) +
      Math.abs(neutral[k]) +
      Math.abs(effect[row + k]) +
      Math.abs(focusCognition) +
      Math.abs(stress[k]) +
      Math.abs(noiseMeters[k]) +
      this.#largestRate * (Math.abs(decay[k]) + Math.abs(struck))
    );
  }
}
