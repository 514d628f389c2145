/** What is proposed in each state: the step that it leads to, and how good the belief is that comes with it. */
import type { Batch, Outputs } from '../../backends/backend.js';
import { NO_ACTION } from '../../validate/actions.js';
import { NUM_BELIEFS } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import type { Replayed, Taken } from './rows.js';
import type { Known } from './states.js';

const f32 = Math.fround;

export class Proposals {
  readonly #world: World;
  readonly #actions: Uint8Array;
  readonly #beliefs: Float32Array;
  readonly #given: Uint8Array;
  /** u8: the slots that step. */
  readonly #steps: Uint8Array;

  constructor(world: World, size: number) {
    this.#world = world;
    this.#actions = new Uint8Array(size);
    this.#beliefs = new Float32Array(size * NUM_BELIEFS);
    this.#given = new Uint8Array(size);
    this.#steps = new Uint8Array(size);
  }

  /** Takes the step of row order[k] in slot k of a batch. */
  take(rows: Taken, order: Uint32Array, batch: Batch): void {
    const { actions, beliefs } = rows.columns;
    for (let k = 0; k < order.length; k++) {
      const action = actions[order[k]];
      this.#steps[k] = Number(action !== NO_ACTION);
      this.#actions[k] = action;
    }
    this.#steps.fill(0, order.length);
    if (beliefs !== undefined) this.#fillBeliefs(beliefs, rows.given, order);
    batch.submit({
      actions: this.#actions,
      beliefs: beliefs === undefined ? null : this.#beliefs,
      given: beliefs === undefined ? null : this.#given,
      stepMask: this.#steps.includes(0) ? this.#steps : null,
      resetMask: null,
      resetSeeds: null,
    });
    batch.read();
  }

  #fillBeliefs(beliefs: Float32Array, given: Uint8Array, order: Uint32Array): void {
    const own = this.#beliefs;
    for (let k = 0; k < order.length; k++) {
      const row = order[k];
      this.#given[k] = given[row];
      own[3 * k] = beliefs[3 * row];
      own[3 * k + 1] = beliefs[3 * row + 1];
      own[3 * k + 2] = beliefs[3 * row + 2];
    }
  }

  /**
   * Writes what came of it.
   * @param origins which of the known states each slot comes from.
   */
  put(order: Uint32Array, origins: Uint32Array, known: Known, { rewards }: Outputs, out: Replayed): void {
    const { hashes, targets } = known;
    const { perBelief, smallestBelief } = this.#world.params;
    const [given, beliefs, steps] = [this.#given, this.#beliefs, this.#steps];
    const { buffer, byteOffset, length } = out.stateHashes;
    const words = new Uint32Array(buffer, byteOffset, 2 * length);
    for (let k = 0; k < order.length; k++) {
      const [row, state] = [order[k], origins[k]];
      words[2 * row] = hashes[2 * state];
      words[2 * row + 1] = hashes[2 * state + 1];
      if (steps[k] !== 0) out.stepRewards[row] = rewards[k];
      const isGiven = given[k] !== 0;
      const social = errorOf(isGiven, beliefs[3 * k], targets[3 * state], smallestBelief);
      const morning = errorOf(isGiven, beliefs[3 * k + 1], targets[3 * state + 1], smallestBelief);
      const work = errorOf(isGiven, beliefs[3 * k + 2], targets[3 * state + 2], smallestBelief);
      out.beliefMae[row] = f32(f32(f32(social + morning) + work) * perBelief);
    }
  }
}

/** Of a number given (rule 9), or of 0.5. */
function errorOf(isGiven: boolean, given: number, target: number, smallest: number): number {
  const belief = !isGiven ? 0.5 : given < smallest ? 0 : given > 1 ? 1 : given;
  return Math.abs(f32(belief - target));
}
