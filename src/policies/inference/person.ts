/** What is believed of one person, from one stream of observations. */
import type { Params } from '../../world/block.js';
import { NUM_METERS, OBSERVATION } from '../../world/fields.js';
import type { Draws } from './draws.js';
import type { Evidence } from './evidence.js';
import { RateBelief } from './rates.js';
import { TraitBelief } from './traits.js';
import { type Scratch, WeightBelief } from './weights.js';

/** Nothing was seen yet. */
const NEVER = -1;

/** What of a step's evidence contradicted the earlier steps'. */
export interface Contradictions {
  /** A bit for each meter. */
  anomalies: number;
  changes: boolean;
  reward: boolean;
}

export class PersonBelief {
  readonly traits: TraitBelief;
  readonly rates: RateBelief;
  readonly weights: WeightBelief;
  /** Steps taken by what was seen last. */
  step = NEVER;
  /** f32 [5]. */
  readonly meters = new Float32Array(NUM_METERS);
  /** How many steps were taken as evidence, and in how many of them something did not fit. */
  evidence = 0;
  contradicted = 0;

  constructor(params: Params, prior: Float64Array, scratch: Scratch) {
    this.traits = new TraitBelief(params);
    this.rates = new RateBelief(params);
    this.weights = new WeightBelief(params, prior, scratch);
  }

  reset(): void {
    this.traits.reset();
    this.rates.reset();
    this.weights.reset();
    this.evidence = 0;
    this.contradicted = 0;
  }

  /**
   * Takes what is seen at `base` of `rows`. Time that goes back is another episode; time that stands still shows nothing.
   * @param evidence memory to read into. @returns whether anything was learned or forgotten.
   */
  observe(rows: Float32Array, base: number, evidence: Evidence, draws: Draws): boolean {
    const step = rows[base + OBSERVATION.step];
    if (step === this.step) return false;
    const follows = step === this.step + 1;
    if (step < this.step || step === 0) this.reset();
    if (step > 0) {
      if (!follows) this.#metersBefore(rows, base);
      this.#take(evidence.read(rows, base, this.meters), draws.begin(step));
    }
    this.step = step;
    for (let k = 0; k < NUM_METERS; k++) this.meters[k] = rows[base + OBSERVATION.meters + k];
    return true;
  }

  /** A stream may begin anywhere: the meters before a step are those after it less its changes, but for rounding. */
  #metersBefore(rows: Float32Array, base: number): void {
    for (let k = 0; k < NUM_METERS; k++)
      this.meters[k] = rows[base + OBSERVATION.meters + k] - rows[base + OBSERVATION.deltas + k];
  }

  #take(evidence: Evidence, draws: Draws): void {
    const anomalies = this.traits.observe(evidence);
    const changes = this.rates.observe(evidence);
    const reward = !evidence.tellsWeights || this.weights.observe(evidence, draws);
    this.evidence++;
    if (anomalies !== 0 || !changes || !reward) this.contradicted++;
  }
}
