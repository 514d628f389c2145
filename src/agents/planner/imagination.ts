/** Plays imagined continuations of episodes: with sampled profiles, and with noise that no real episode has. */
import { isAsynchronous, type OpenBatch } from '../../engine/backends/any-batch.js';
import { NODE } from '../../engine/backends/node.js';
import type { EngineCalls } from '../../engine/engine-calls.js';
import { Scorer, type ScorerSettings, spacedStarts, type Trial } from '../search/scorer.js';
import type { EpisodeSums } from './episode-sums.js';
import { ImaginedStarts } from './imagined-starts.js';
import { type Objective, scoringOf } from './objectives.js';

/** Episodes whose states and results fit the cache of a core. */
const EPISODES_PER_THREAD = 2 ** 12;

export interface ImaginationOptions extends Omit<ScorerSettings, 'imagination' | 'minFirstHalfMean'> {
  readonly objective: Objective;
  /** f32 [8]. */
  readonly grader: Float32Array;
  /** u32: seed of the noise. */
  readonly seed: number;
  /** The maximum number of action sequences for an episode in one call. */
  readonly maxSequences: number;
}

/** Scores action sequences. The `problem` of a trial is an index of the `episodes` passed to `begin`. */
export class Imagination implements Disposable {
  readonly #scorer: Scorer;
  readonly #starts: ImaginedStarts;
  /** u32: all posterior samples of an episode. */
  readonly #samples: Uint32Array;
  /** The maximum number of episodes at once. */
  readonly maxEpisodes: number;

  private constructor(scorer: Scorer, starts: ImaginedStarts, options: ImaginationOptions) {
    this.#scorer = scorer;
    this.#starts = starts;
    this.#samples = spacedStarts(options.starts, 1);
    this.maxEpisodes = options.problems;
  }

  /** @throws as `createVecEnv`. */
  static *open(options: ImaginationOptions, openBatch: OpenBatch): EngineCalls<Imagination> {
    const { objective, grader, problems, seed } = options;
    const starts = new ImaginedStarts(options.world.params, problems, options.starts, seed, grader);
    const settings = { ...options, imagination: true, minFirstHalfMean: -Infinity };
    const scoring = {
      ...(isAsynchronous(NODE, options.backend) ? {} : { episodesPerThread: EPISODES_PER_THREAD }),
      ...scoringOf(objective, grader, starts),
      maxSequences: options.maxSequences,
    };
    return new Imagination(yield* Scorer.open(settings, openBatch, scoring), starts, options);
  }

  /** Sets the episodes to imagine. Arguments as in `ImaginedStarts.write`. */
  begin(step: number, episodes: readonly number[], sums: EpisodeSums, profiles: Float32Array): void {
    this.#starts.write(step, episodes, sums, profiles);
    this.#scorer.begin(this.#starts.reset);
  }

  /** Plays trials to the end of the episode. All have the same number of action sequences. */
  play(trials: readonly Trial[]): EngineCalls<void> {
    return this.#scorer.score(trials, this.#samples);
  }

  [Symbol.dispose](): void {
    this.#scorer[Symbol.dispose]();
  }
}
