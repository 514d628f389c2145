/** Replays rows on a batch: those of one length side by side, so that lanes take every step together. */
import type { Batch, Outputs } from '../../backends/backend.js';
import type { SlotProfiles } from '../../validate/persons.js';
import { NUM_BELIEFS, NUM_COMPONENTS, NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { maskOf, NO_ACTION, TAPE_WORDS } from './check.js';
import type { ReplayColumns } from './columns.js';

/** Rows, each of which can be replayed or is known to be faulty. */
export interface Checked {
  readonly columns: ReplayColumns;
  /** u32 [n, 7]: histories, four codes a word. */
  readonly words: Uint32Array;
  readonly people: SlotProfiles;
  /** u8 [n]: who gives a belief. */
  readonly given: Uint8Array;
}

/** What is written of every row that is replayed. */
export interface Replayed {
  /** f32 [n]: the reward of the step; left as it is where there is no action. */
  readonly stepRewards: Float32Array;
  /** f32 [n]. */
  readonly beliefMae: Float32Array;
  /** u64 [n], of the state in which the action is taken. */
  readonly stateHashes: BigUint64Array;
}

const f32 = Math.fround;

/** What of each word of a history is part of it, by its length. */
const MASKS = Int32Array.from({ length: NUM_STEPS * TAPE_WORDS }, (_, at) =>
  maskOf(Math.floor(at / TAPE_WORDS), at % TAPE_WORDS),
);

export class ReplayEngine {
  readonly #world: World;
  readonly #batch: Batch;
  readonly #outputs: Outputs;
  readonly #seeds: Uint32Array;
  readonly #modes: Uint8Array;
  readonly #profiles: Float32Array;
  readonly #graders: Float32Array;
  readonly #tapes: Uint8Array;
  readonly #tapeWords: Uint32Array;
  readonly #stops: Uint8Array;
  readonly #actions: Uint8Array;
  readonly #beliefs: Float32Array;
  readonly #given: Uint8Array;
  readonly #steps: Uint8Array;

  /** @param grader f32 [6]: of every row. */
  constructor(world: World, batch: Batch, outputs: Outputs, grader: Float32Array) {
    const size = outputs.rewards.length;
    this.#world = world;
    this.#batch = batch;
    this.#outputs = outputs;
    this.#seeds = new Uint32Array(size);
    this.#modes = new Uint8Array(size);
    this.#profiles = new Float32Array(size * PROFILE_SIZE);
    this.#graders = Float32Array.from(
      { length: size * NUM_COMPONENTS },
      (_, k) => grader[k % NUM_COMPONENTS],
    );
    this.#tapes = new Uint8Array(size * NUM_STEPS);
    this.#tapeWords = new Uint32Array(this.#tapes.buffer);
    this.#stops = new Uint8Array(size);
    this.#actions = new Uint8Array(size);
    this.#beliefs = new Float32Array(size * NUM_BELIEFS);
    this.#given = new Uint8Array(size);
    this.#steps = new Uint8Array(size);
  }

  /** @param order u32: the rows to replay, no more than the batch has slots, those of one length together. */
  replay(rows: Checked, order: Uint32Array, out: Replayed): void {
    if (order.length === 0) return;
    this.#fill(rows, order);
    this.#begin(rows.people.floats !== null);
    this.#batch.run({
      policy: { kind: 'tape', actions: this.#tapes },
      ...{ beliefs: null, stops: this.#stops, trajectory: null },
    });
    const hashes = new Uint32Array(this.#batch.stateHash().buffer);
    const targets = this.#batch.targets();
    this.#step(rows.columns.beliefs !== undefined);
    this.#put(order, hashes, targets, out);
  }

  close(): void {
    this.#batch.close();
  }

  #begin(withProfiles: boolean): void {
    this.#batch.reset({
      mask: null,
      seeds: this.#seeds,
      modes: this.#modes,
      profiles: withProfiles ? this.#profiles : null,
      graders: this.#graders,
    });
  }

  #step(withBeliefs: boolean): void {
    this.#batch.submit({
      actions: this.#actions,
      beliefs: withBeliefs ? this.#beliefs : null,
      given: withBeliefs ? this.#given : null,
      stepMask: this.#steps.includes(0) ? this.#steps : null,
      resetMask: null,
      resetSeeds: null,
    });
    this.#batch.read();
  }

  #fill({ columns, words, people, given }: Checked, order: Uint32Array): void {
    const { seeds, stepIndices, actions } = columns;
    const [ownSeeds, modes, stops, steps, codes] = [
      this.#seeds,
      this.#modes,
      this.#stops,
      this.#steps,
      this.#actions,
    ];
    const tapes = this.#tapeWords;
    for (let k = 0; k < order.length; k++) {
      const row = order[k];
      const taken = stepIndices[row];
      ownSeeds[k] = seeds[row];
      modes[k] = people.modes[row];
      stops[k] = taken;
      for (let w = 0; w < TAPE_WORDS; w++) {
        tapes[k * TAPE_WORDS + w] = words[row * TAPE_WORDS + w] & MASKS[taken * TAPE_WORDS + w];
      }
      steps[k] = Number(actions[row] !== NO_ACTION);
      codes[k] = actions[row];
    }
    if (columns.beliefs !== undefined) this.#fillBeliefs(columns.beliefs, given, order);
    if (people.floats !== null) this.#fillProfiles(people.floats, order);
    this.#idle(order.length);
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

  #fillProfiles(floats: Float32Array, order: Uint32Array): void {
    for (let k = 0; k < order.length; k++) {
      const at = order[k] * PROFILE_SIZE;
      this.#profiles.set(floats.subarray(at, at + PROFILE_SIZE), k * PROFILE_SIZE);
    }
  }

  /** Slots from `first` on do nothing. */
  #idle(first: number): void {
    this.#stops.fill(0, first);
    this.#steps.fill(0, first);
    this.#modes.fill(0, first);
  }

  #put(order: Uint32Array, hashes: Uint32Array, targets: Float32Array, out: Replayed): void {
    const { rewards } = this.#outputs;
    const words = new Uint32Array(
      out.stateHashes.buffer,
      out.stateHashes.byteOffset,
      2 * out.stateHashes.length,
    );
    for (let k = 0; k < order.length; k++) {
      const row = order[k];
      words[2 * row] = hashes[2 * k];
      words[2 * row + 1] = hashes[2 * k + 1];
      if (this.#steps[k] !== 0) out.stepRewards[row] = rewards[k];
      out.beliefMae[row] = this.#mae(k, targets);
    }
  }

  /** Of the belief that slot k gives, or of 0.5 each. */
  #mae(k: number, targets: Float32Array): number {
    const { perBelief } = this.#world.params;
    const [a, b, c] = [3 * k, 3 * k + 1, 3 * k + 2];
    const sum = f32(
      f32(this.#error(k, a, targets) + this.#error(k, b, targets)) + this.#error(k, c, targets),
    );
    return f32(sum * perBelief);
  }

  #error(k: number, at: number, targets: Float32Array): number {
    const belief = this.#given[k] === 0 ? 0.5 : this.#clean(this.#beliefs[at]);
    return Math.abs(f32(belief - targets[at]));
  }

  /** Rule 9. */
  #clean(x: number): number {
    return x < this.#world.params.smallestBelief ? 0 : Math.min(x, 1);
  }
}
