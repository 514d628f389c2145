/** Accumulates the error of a player's belief after each step, over many episodes. */

import { beliefMae } from '../engine/reference/grade.js';
import type { BeliefErrors } from '../figures/belief-error.js';
import type { StoredBelief } from '../rollouts/trajectories/trajectory-episode.js';
import { Moments } from '../shared/statistics.js';
import { NUM_STEPS } from '../world/fields.js';
import { createWorld } from '../world/world.js';

const { params } = createWorld();
const CONSTANT_BELIEF = Float32Array.of(0.5, 0.5, 0.5);

/** The belief errors of one player. */
export class BeliefErrorTally {
  readonly #steps = Array.from({ length: NUM_STEPS }, () => new Moments());
  readonly #constant = new Moments();
  #numStated = 0;

  /**
   * Adds an episode. A belief holds until another is stated. Before the first, the belief is 0.5 in each dimension.
   * @param beliefs [28], null for steps without a belief. @param target f32 [3].
   */
  add(beliefs: readonly (StoredBelief | null)[], target: Float32Array): void {
    let current: Float32Array = CONSTANT_BELIEF;
    for (const [step, belief] of beliefs.entries()) {
      if (belief !== null) {
        this.#numStated++;
        current = Float32Array.from(belief);
      }
      this.#steps[step].add(beliefMae(params, current, target));
    }
    this.#constant.add(beliefMae(params, CONSTANT_BELIEF, target));
  }

  /** Returns the means with intervals; null if no belief was stated. */
  summary(): BeliefErrors | null {
    if (this.#numStated === 0) return null;
    const intervals = this.#steps.map((step) => step.interval());
    return {
      mean: intervals.map(({ mean }) => mean),
      low: intervals.map(({ mean, low }) => low ?? mean),
      high: intervals.map(({ mean, high }) => high ?? mean),
      constant: this.#constant.interval().mean,
    };
  }
}
