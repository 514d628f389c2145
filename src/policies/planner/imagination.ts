/** Weeks as they might go on: with persons that each might be, and with luck that no real week has. */
import type { ResetRequest } from '../../backends/backend.js';
import { type Draw, threefry } from '../../reference/threefry.js';
import { Scorer, type Stage, type Trial } from '../../search/scorer.js';
import { MODE, NUM_COMPONENTS, NUM_METERS, NUM_TRAITS, PROFILE_SIZE } from '../../world/fields.js';
import { judging, type Objective, type Starts } from './objectives.js';
import type { Tracks } from './tracks.js';

/** The second word of the key, which no stream of the published world has. */
const STREAM = 0x4c55434b;

export interface ImaginationOptions extends Omit<Stage, 'imagination' | 'leastEarlyMean'> {
  readonly objective: Objective;
  /** f32 [6]. */
  readonly grader: Float32Array;
  /** u32: of the luck. */
  readonly seed: number;
  /** How many tapes an episode is tried with at once, at most. */
  readonly most: number;
}

/** Problem k of its trials is the k-th of the episodes that it began with. */
export class Imagination implements Disposable {
  readonly #options: ImaginationOptions;
  readonly #scorer: Scorer;
  readonly #starts: Starts;
  readonly #reset: Required<ResetRequest> & { readonly mask: Uint8Array };

  /** @throws as `createVecEnv` for what cannot be opened here. */
  constructor(options: ImaginationOptions) {
    const { objective, grader, most, problems, starts } = options;
    const slots = problems * starts;
    this.#options = options;
    this.#starts = { step: 0, people: new Float32Array(0), weighed: new Float64Array(slots) };
    this.#reset = resetOf(slots, grader);
    const { judge, weeks } = judging(objective, grader, this.#starts);
    this.#scorer = new Scorer(
      { ...options, imagination: true, leastEarlyMean: -Infinity },
      most,
      judge,
      weeks,
    );
  }

  /** How many episodes there may be at once. */
  get room(): number {
    return this.#options.problems;
  }

  /**
   * Imagines these episodes, all of which have taken `step` steps.
   * @param people f32 [n, starts, 16]: who each episode's person might be.
   */
  begin(step: number, episodes: readonly number[], tracks: Tracks, people: Float32Array): void {
    const { starts } = this.#options;
    const { mask, profiles } = this.#reset;
    const row = starts * PROFILE_SIZE;
    mask.fill(1, 0, episodes.length * starts).fill(0, episodes.length * starts);
    episodes.forEach((i, k) => {
      profiles!.set(people.subarray(i * row, (i + 1) * row), k * row);
    });
    this.#drawLuck(step);
    episodes.forEach((i, k) => {
      this.#place(step, i, tracks, k * starts);
    });
    this.#starts.step = step;
    this.#starts.people = profiles!;
    this.#scorer.begin(this.#reset);
  }

  /** The same for all episodes: what is done must not hang on which of many an episode is. */
  #drawLuck(step: number): void {
    const { seeds } = this.#reset;
    const draw: Draw = { x0: 0, x1: 0 };
    const { starts, seed } = this.#options;
    for (let k = 0; k < starts; k++) seeds[k] = threefry(seed, STREAM, step, k, draw).x0;
    for (let done = starts; done < seeds.length; done *= 2) seeds.copyWithin(done, 0, done);
  }

  #place(step: number, i: number, tracks: Tracks, first: number): void {
    const { profiles, start } = this.#reset;
    const meters = tracks.meters.subarray(i * NUM_METERS, (i + 1) * NUM_METERS);
    for (let slot = first; slot < first + this.#options.starts; slot++) {
      const weights = slot * PROFILE_SIZE + NUM_TRAITS;
      start.steps[slot] = step;
      start.meters.set(meters, slot * NUM_METERS);
      start.early![slot] = tracks.rewards(i, 0, profiles!, weights);
      start.late![slot] = tracks.rewards(i, 1, profiles!, weights);
      start.crashes![slot] = tracks.crashes(i);
      this.#starts.weighed[slot] = tracks.weighed(i, profiles!, weights);
    }
  }

  /** Plays trials, of equally many tapes each, to the end of the week. */
  play(trials: readonly Trial[]): void {
    // Nobody is shown how far it is.
    for (const _ of this.#scorer.score(trials, 1));
  }

  [Symbol.dispose](): void {
    this.#scorer[Symbol.dispose]();
  }
}

function resetOf(slots: number, grader: Float32Array): Required<ResetRequest> & { mask: Uint8Array } {
  const graders = new Float32Array(slots * NUM_COMPONENTS);
  for (let slot = 0; slot < slots; slot++) graders.set(grader, slot * NUM_COMPONENTS);
  return {
    mask: new Uint8Array(slots),
    seeds: new Uint32Array(slots),
    modes: new Uint8Array(slots).fill(MODE.given),
    profiles: new Float32Array(slots * PROFILE_SIZE),
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
