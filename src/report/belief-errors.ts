/** How far an agent's belief is from the truth after each step, over many weeks. */
import { Moments } from '../evaluate/statistics.js';
import type { BeliefErrors } from '../pictures/belief-error.js';
import { beliefMae } from '../reference/grade.js';
import type { StoredBelief } from '../trajectory/episode.js';
import { NUM_STEPS } from '../world/fields.js';
import { createWorld } from '../world/world.js';
import { addOne } from './moments.js';

const { params } = createWorld();
const KNOWS_NOBODY = Float32Array.of(0.5, 0.5, 0.5);

export class BeliefErrorTally {
  readonly #steps = Array.from({ length: NUM_STEPS }, () => new Moments());
  readonly #constant = new Moments();
  #given = 0;

  /** @param beliefs [28], as given with each step; what was said holds, and 0.5 each before anything was. @param target f32 [3]. */
  add(beliefs: readonly (StoredBelief | null)[], target: Float32Array): void {
    let held: Float32Array = KNOWS_NOBODY;
    for (const [step, belief] of beliefs.entries()) {
      if (belief !== null) {
        this.#given++;
        held = Float32Array.from(belief);
      }
      addOne(this.#steps[step], beliefMae(params, held, target));
    }
    addOne(this.#constant, beliefMae(params, KNOWS_NOBODY, target));
  }

  /** Null where no belief was ever given. */
  summary(): BeliefErrors | null {
    if (this.#given === 0) return null;
    const intervals = this.#steps.map((step) => step.interval());
    return {
      mean: intervals.map(({ mean }) => mean),
      low: intervals.map(({ mean, low }) => low ?? mean),
      high: intervals.map(({ mean, high }) => high ?? mean),
      constant: this.#constant.interval().mean,
    };
  }
}
