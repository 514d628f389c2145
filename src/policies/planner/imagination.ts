/** Weeks as they might go on: with persons that each might be, and with luck that no real week has. */
import { Scorer, type Stage, type Trial } from '../../search/scorer.js';
import { judging, type Objective } from './objectives.js';
import { Starts } from './starts.js';
import type { Tracks } from './tracks.js';

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
  readonly #scorer: Scorer;
  readonly #starts: Starts;
  /** How many episodes there may be at once. */
  readonly room: number;

  /** @throws as `createVecEnv` for what cannot be opened here. */
  constructor(options: ImaginationOptions) {
    const { objective, grader, most, problems, starts, seed } = options;
    this.room = problems;
    this.#starts = new Starts(problems, starts, seed, grader);
    const { judge, weeks } = judging(objective, grader, this.#starts);
    this.#scorer = new Scorer(
      { ...options, imagination: true, leastEarlyMean: -Infinity },
      most,
      judge,
      weeks,
    );
  }

  /** Imagines some episodes. Arguments as of `Starts.write`. */
  begin(step: number, episodes: readonly number[], tracks: Tracks, people: Float32Array): void {
    this.#starts.write(step, episodes, tracks, people);
    this.#scorer.begin(this.#starts.reset);
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
