/** Plays imagined continuations of episodes, with sampled profiles and with noise that no real episode has. */
import { Scorer, type ScorerSettings, type Trial } from '../search/scorer.js';
import type { EpisodeNotes } from './episode-notes.js';
import { ImaginedStarts } from './imagined-starts.js';
import { type Objective, scoringOf } from './objectives.js';

export interface ImaginationOptions extends Omit<ScorerSettings, 'imagination' | 'minFirstHalfMean'> {
  readonly objective: Objective;
  /** f32 [6]. */
  readonly grader: Float32Array;
  /** u32: seed of the noise. */
  readonly seed: number;
  /** The maximum number of action sequences for an episode in one call. */
  readonly maxSequences: number;
}

/** Scores action sequences. Problem k of the trials is the k-th episode of `begin`. */
export class Imagination implements Disposable {
  readonly #scorer: Scorer;
  readonly #starts: ImaginedStarts;
  /** The maximum number of episodes at once. */
  readonly maxEpisodes: number;

  /** @throws as `createVecEnv`. */
  constructor(options: ImaginationOptions) {
    const { objective, grader, maxSequences, problems, starts, seed } = options;
    this.maxEpisodes = problems;
    this.#starts = new ImaginedStarts(problems, starts, seed, grader);
    const { judge, episodesPerCall } = scoringOf(objective, grader, this.#starts);
    this.#scorer = new Scorer(
      { ...options, imagination: true, minFirstHalfMean: -Infinity },
      maxSequences,
      judge,
      episodesPerCall,
    );
  }

  /** Sets the episodes to imagine. Arguments as in `ImaginedStarts.write`. */
  begin(step: number, episodes: readonly number[], notes: EpisodeNotes, profiles: Float32Array): void {
    this.#starts.write(step, episodes, notes, profiles);
    this.#scorer.begin(this.#starts.reset);
  }

  /** Plays trials to the end of the episode. All have the same number of action sequences. */
  play(trials: readonly Trial[]): void {
    // Reports no progress.
    for (const _ of this.#scorer.score(trials, 1));
  }

  [Symbol.dispose](): void {
    this.#scorer[Symbol.dispose]();
  }
}
