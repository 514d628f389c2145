/** What an action does to whom: which trait moves which meter, and by how much. */
import { respond } from '../../reference/step.js';
import type { Params } from '../../world/block.js';
import {
  METER_NAMES,
  NUM_ACTIONS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_TRAITS,
  TRAIT_NAMES,
} from '../../world/fields.js';

export const VITALITY = METER_NAMES.indexOf('vitality');
export const SERENITY = METER_NAMES.indexOf('serenity');
export const STRESS_THRESHOLD = TRAIT_NAMES.indexOf('stress_threshold');
export const METABOLIC_RATE = TRAIT_NAMES.indexOf('metabolic_rate');
export const EVENT_IMPACT = TRAIT_NAMES.indexOf('event_impact');
/** Where no trait moves a meter. */
export const NOBODY = -1;

/**
 * Which trait moves a meter when an action is taken in a slot, [slot][action][meter], NOBODY for none. The stress
 * threshold is left out: it moves them all. No meter is moved by two others (world page, One step, rule 2).
 */
function moversOf(params: Params): Int8Array {
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

/** How people of this world respond; of the action last asked for, all fields until the next one. */
export class Responses {
  readonly #params: Params;
  readonly #movers: Int8Array;
  readonly #lowestTraits: Float32Array;
  readonly #highestTraits: Float32Array;

  /** f32 [5]: what it does to somebody of the lowest and of the highest traits, never stressed, and to the neutral person. */
  readonly lowest = new Float32Array(NUM_METERS);
  readonly highest = new Float32Array(NUM_METERS);
  readonly neutral = new Float32Array(NUM_METERS);
  /** The trait that moves each meter, or NOBODY, and by how much a unit of it does. */
  readonly mover = new Int8Array(NUM_METERS);
  readonly slope = new Float64Array(NUM_METERS);

  constructor(params: Params) {
    this.#params = params;
    this.#movers = moversOf(params);
    this.#lowestTraits = Float32Array.from(params.traitLow);
    this.#highestTraits = this.#lowestTraits.map((low, trait) => low + params.traitSpan[trait]);
    this.#lowestTraits[STRESS_THRESHOLD] = this.#highestTraits[STRESS_THRESHOLD] = Number.NEGATIVE_INFINITY;
  }

  /** Asks for an action in a slot with these meters. */
  ask(slot: number, action: number, meters: Float32Array): void {
    respond(this.#params, this.#lowestTraits, slot, action, meters, this.lowest);
    respond(this.#params, this.#highestTraits, slot, action, meters, this.highest);
    respond(this.#params, this.#params.traitNeutral, slot, action, meters, this.neutral);
    const row = (slot * NUM_ACTIONS + action) * NUM_METERS;
    for (let k = 0; k < NUM_METERS; k++) {
      const mover = this.#movers[row + k];
      this.mover[k] = mover;
      this.slope[k] =
        mover === NOBODY ? 0 : (this.highest[k] - this.lowest[k]) / this.#params.traitSpan[mover];
    }
  }
}
