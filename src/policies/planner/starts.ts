/** Weeks that go on from what was seen of episodes, each with somebody in its person's place. */
import type { ResetRequest } from '../../backends/backend.js';
import { type Draw, threefry } from '../../reference/threefry.js';
import { MODE, NUM_COMPONENTS, NUM_METERS, NUM_TRAITS, PROFILE_SIZE } from '../../world/fields.js';
import type { Tracks } from './tracks.js';

/** The second word of the key, which no stream of the published world has. */
const STREAM = 0x4c55434b;

/** Rows of a reset, written in place: `people` of them for each episode. */
export class Starts {
  readonly #people: number;
  readonly #seed: number;
  readonly #profiles: Float32Array;
  readonly reset: ResetRequest & Required<Pick<ResetRequest, 'start'>> & { readonly mask: Uint8Array };
  /** Steps that all have taken. */
  step = 0;
  /** f64 [slots]: the sum over the steps taken of the meters, as the person weighs them. */
  readonly weighed: Float64Array;

  /** @param seed u32: of the luck. @param grader f32 [6]. */
  constructor(episodes: number, people: number, seed: number, grader: Float32Array) {
    const slots = episodes * people;
    const graders = new Float32Array(slots * NUM_COMPONENTS);
    for (let slot = 0; slot < slots; slot++) graders.set(grader, slot * NUM_COMPONENTS);
    this.#people = people;
    this.#seed = seed;
    this.#profiles = new Float32Array(slots * PROFILE_SIZE);
    this.weighed = new Float64Array(slots);
    this.reset = {
      mask: new Uint8Array(slots),
      seeds: new Uint32Array(slots),
      modes: new Uint8Array(slots).fill(MODE.given),
      profiles: this.#profiles,
      graders,
      start: {
        steps: new Uint8Array(slots),
        meters: new Float32Array(slots * NUM_METERS),
        early: new Float32Array(slots),
        late: new Float32Array(slots),
        returns: null,
        crashes: new Uint8Array(slots),
      },
    };
  }

  /** f32 [slots, 16]: who the person is in each. */
  get profiles(): Float32Array {
    return this.#profiles;
  }

  /**
   * Writes the rows of some episodes, all of which have taken `step` steps, one after the other from the first row on.
   * @param people f32 [n, people, 16]: who each episode's person might be.
   */
  write(step: number, episodes: readonly number[], tracks: Tracks, people: Float32Array): void {
    const rows = episodes.length * this.#people;
    const width = this.#people * PROFILE_SIZE;
    this.step = step;
    this.reset.mask.fill(1, 0, rows).fill(0, rows);
    this.#drawLuck();
    episodes.forEach((i, k) => {
      this.#profiles.set(people.subarray(i * width, (i + 1) * width), k * width);
      this.#place(i, tracks, k * this.#people);
    });
  }

  /** The same for all episodes: what is done must not hang on which of many an episode is. */
  #drawLuck(): void {
    const { seeds } = this.reset;
    const draw: Draw = { x0: 0, x1: 0 };
    for (let k = 0; k < this.#people; k++) seeds[k] = threefry(this.#seed, STREAM, this.step, k, draw).x0;
    for (let done = this.#people; done < seeds.length; done *= 2) seeds.copyWithin(done, 0, done);
  }

  #place(i: number, tracks: Tracks, first: number): void {
    const { start } = this.reset;
    const meters = tracks.meters.subarray(i * NUM_METERS, (i + 1) * NUM_METERS);
    for (let slot = first; slot < first + this.#people; slot++) {
      const weights = slot * PROFILE_SIZE + NUM_TRAITS;
      start.steps[slot] = this.step;
      start.meters.set(meters, slot * NUM_METERS);
      start.early![slot] = tracks.rewards(i, 0, this.#profiles, weights);
      start.late![slot] = tracks.rewards(i, 1, this.#profiles, weights);
      start.crashes![slot] = tracks.crashes(i);
      this.weighed[slot] = tracks.weighed(i, this.#profiles, weights);
    }
  }
}
