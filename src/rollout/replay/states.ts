/** The states in which actions are proposed: episodes begun anew and brought there by their histories. */
import type { Batch } from '../../backends/backend.js';
import { NUM_COMPONENTS, NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import type { Taken } from './rows.js';
import { maskOf, TAPE_WORDS } from './words.js';

/** What is known of each state, by slot. */
export interface Known {
  /** u32 [slots, 2]: hashes, the low word first. */
  readonly hashes: Uint32Array;
  /** f32 [slots, 3]. */
  readonly targets: Float32Array;
}

export class States {
  readonly #batch: Batch;
  readonly #seeds: Uint32Array;
  readonly #modes: Uint8Array;
  readonly #profiles: Float32Array;
  #graders: Float32Array | null;
  readonly #tapes: Uint8Array;
  readonly #words: Int32Array;
  readonly #stops: Uint8Array;

  /** @param grader f32 [6]: of every episode. */
  constructor(batch: Batch, size: number, grader: Float32Array) {
    this.#batch = batch;
    this.#seeds = new Uint32Array(size);
    this.#modes = new Uint8Array(size);
    this.#profiles = new Float32Array(size * PROFILE_SIZE);
    this.#graders = Float32Array.from(
      { length: size * NUM_COMPONENTS },
      (_, k) => grader[k % NUM_COMPONENTS],
    );
    this.#tapes = new Uint8Array(size * NUM_STEPS);
    this.#words = new Int32Array(this.#tapes.buffer);
    this.#stops = new Uint8Array(size);
  }

  /** Slot k goes to where row chosen[k] proposes its action; those of one length stand together. */
  reach(rows: Taken, chosen: Uint32Array): Known {
    this.#fill(rows, chosen);
    this.#batch.reset({
      mask: null,
      seeds: this.#seeds,
      modes: this.#modes,
      profiles: rows.people.floats === null ? null : this.#profiles,
      graders: this.#graders,
    });
    // Slots keep theirs.
    this.#graders = null;
    this.#batch.run({
      policy: { kind: 'tape', actions: this.#tapes },
      ...{ beliefs: null, stops: this.#stops, trajectory: null },
    });
    return { hashes: new Uint32Array(this.#batch.stateHash().buffer), targets: this.#batch.targets() };
  }

  #fill({ columns, words, people }: Taken, chosen: Uint32Array): void {
    const { seeds, stepIndices } = columns;
    const [ownSeeds, modes, stops, tapes] = [this.#seeds, this.#modes, this.#stops, this.#words];
    for (let k = 0; k < chosen.length; k++) {
      const row = chosen[k];
      const steps = stepIndices[row];
      ownSeeds[k] = seeds[row];
      modes[k] = people.modes[row];
      stops[k] = steps;
      // What an earlier row left behind the history is not played.
      for (let w = 0; 4 * w < steps; w++) {
        tapes[k * TAPE_WORDS + w] = words[row * TAPE_WORDS + w] & maskOf(steps, w);
      }
    }
    // The other slots do nothing.
    stops.fill(0, chosen.length);
    modes.fill(0, chosen.length);
    if (people.floats !== null) this.#fillProfiles(people.floats, chosen);
  }

  #fillProfiles(floats: Float32Array, chosen: Uint32Array): void {
    for (let k = 0; k < chosen.length; k++) {
      const at = chosen[k] * PROFILE_SIZE;
      this.#profiles.set(floats.subarray(at, at + PROFILE_SIZE), k * PROFILE_SIZE);
    }
  }
}
