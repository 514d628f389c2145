/** What is believed of one person, from one stream of observations. */
import type { Params } from '../../world/block.js';
import { NUM_METERS, NUM_TRAITS, OBSERVATION } from '../../world/fields.js';
import type { Draws } from './draws.js';
import type { Evidence } from './evidence.js';
import { LastStep } from './last-step.js';
import { RateBelief } from './rates.js';
import { TraitBelief } from './traits.js';
import { type Scratch, WeightBelief } from './weights.js';

/** Nothing was seen yet. */
const NEVER = -1;

export class PersonBelief {
  readonly traits: TraitBelief;
  readonly rates: RateBelief;
  readonly weights: WeightBelief;
  readonly last: LastStep;
  /** Steps taken by what was seen last. */
  step = NEVER;
  /** f32 [5], as seen last. */
  readonly meters = new Float32Array(NUM_METERS);
  /** How many steps were taken as evidence, and in how many of them something contradicted the earlier ones. */
  evidence = 0;
  contradicted = 0;

  /** @param prior f64 [people, 5] weights. @param scratch memory for as many people. */
  constructor(params: Params, prior: Float64Array, scratch: Scratch) {
    this.traits = new TraitBelief(params);
    this.rates = new RateBelief(params);
    this.weights = new WeightBelief(params, prior, scratch);
    this.last = new LastStep(params);
  }

  #forget(): void {
    this.traits.reset();
    this.rates.reset();
    this.weights.reset();
    this.last.forget();
    this.evidence = 0;
    this.contradicted = 0;
  }

  /**
   * Takes what is seen at `base` of `rows`. Time that goes back is another episode; time that stands still shows nothing.
   * @param evidence memory to read into. @returns whether anything may have changed.
   */
  observe(rows: Float32Array, base: number, evidence: Evidence, draws: Draws): boolean {
    const step = rows[base + OBSERVATION.step];
    if (step === this.step && step !== 0) return false;
    if (step < this.step || step === 0) this.#forget();
    if (step > 0) {
      if (step !== this.step + 1) this.#metersBefore(rows, base);
      this.#learn(evidence.read(rows, base, this.meters), draws.begin(step));
    }
    this.step = step;
    for (let k = 0; k < NUM_METERS; k++) this.meters[k] = rows[base + OBSERVATION.meters + k];
    return true;
  }

  /** @param who f32 [16]. @returns whether somebody like that may have shown all this. */
  allows(who: Float32Array): boolean {
    return this.traits.allows(who) && this.rates.allows(who) && this.weights.allows(who.subarray(NUM_TRAITS));
  }

  /** A stream may begin anywhere: the meters before a step are those after it less its changes, but for rounding. */
  #metersBefore(rows: Float32Array, base: number): void {
    for (let k = 0; k < NUM_METERS; k++)
      this.meters[k] = rows[base + OBSERVATION.meters + k] - rows[base + OBSERVATION.deltas + k];
  }

  #learn(evidence: Evidence, draws: Draws): void {
    const { last } = this;
    last.note(evidence, this.traits, this.weights);
    last.contradictedAnomalies = this.traits.observe(evidence);
    last.contradictedChanges = !this.rates.observe(evidence);
    last.contradictedReward = evidence.tellsWeights && !this.weights.observe(evidence, draws);
    this.evidence++;
    if (last.contradicted) this.contradicted++;
  }
}
