/** Infers the person from what the visitor sees, as the planner does. */
import { Inference } from '../../../src/agents/inference/inference.js';
import { errorCountedBy } from '../../../src/agents/inference/samples.js';
import { graderWeights, toGrader } from '../../../src/engine/graders/grader.js';
import { OBSERVATION_SIZE } from '../../../src/world/fields.js';
import { createWorld } from '../../../src/world/world.js';

/** Keeps the beliefs of one episode, so that a further step takes one update and an undone step none. */
export class Observer {
  readonly #inference = new Inference(createWorld(), 1);
  #observations: Float32Array = new Float32Array();
  #grader = '';
  readonly #beliefs: (readonly number[])[] = [];

  /** Returns the belief after each observation, as `planner` states it under the grader. @param observations f32 [n, 22]. */
  beliefs(observations: Float32Array, grader: string): readonly (readonly number[])[] {
    const common = Math.min(this.#observations.length, observations.length);
    const isContinued =
      grader === this.#grader &&
      this.#observations.subarray(0, common).every((number, k) => number === observations[k]);
    if (!isContinued) this.#beliefs.length = 0;
    const error = errorCountedBy(graderWeights(toGrader(grader)));
    for (let at = this.#beliefs.length * OBSERVATION_SIZE; at < observations.length; at += OBSERVATION_SIZE) {
      // An observation at step 0 begins anew.
      this.#inference.observe(observations.slice(at, at + OBSERVATION_SIZE));
      this.#beliefs.push(Array.from(this.#inference.beliefs(error)));
    }
    if (!isContinued || observations.length > common) this.#observations = observations;
    this.#grader = grader;
    return this.#beliefs.slice(0, observations.length / OBSERVATION_SIZE);
  }
}
