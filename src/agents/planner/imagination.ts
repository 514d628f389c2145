/** Plays imagined continuations of episodes: with posterior samples as profiles, and with noise of no real episode. */
import { isAsynchronous, type OpenBatch } from '../../engine/backends/any-batch.js';
import { NODE } from '../../engine/backends/node.js';
import type { EngineCalls } from '../../engine/engine-calls.js';
import { Scorer, type ScorerSettings, spacedStarts, type Trial } from '../search/scorer.js';
import type { EpisodeSums } from './episode-sums.js';
import { ImaginedStarts } from './imagined-starts.js';
import { imaginedWorld, type Objective, scoreEpisodesBy } from './objectives.js';

/**
 * The approximate number of episodes that one call plays on each thread. Chosen by hand: their states (0.8 MiB) and their
 * results should fit the cache of a core.
 */
const EPISODES_PER_THREAD = 2 ** 12;
/**
 * All candidates are played with at most this many posterior samples, then the best candidates with the other samples too.
 * Chosen by hand: fewer take less time, but estimate the scores less exactly.
 */
const SCREENING_SAMPLES = 8;

/** Options of an Imagination. A problem is an episode, with `numStarts` starting states: one for each posterior sample. */
export interface ImaginationOptions extends Omit<ScorerSettings, 'imagination' | 'minFirstHalfMean'> {
  readonly objective: Objective;
  /** f32 [8]: the grader's weights. */
  readonly grader: Float32Array;
  /** u32: seed of the imagined noise and events. */
  readonly seed: number;
  /** The maximum number of action sequences for an episode in one call. */
  readonly maxSequences: number;
}

/** Scores action sequences. The `problem` of a trial is an index of the `episodes` passed to `begin`. */
export class Imagination implements Disposable {
  readonly #scorer: Scorer;
  readonly #starts: ImaginedStarts;
  /** u32 each: the indices of all posterior samples, of those that `screen` plays, and of those that it leaves out. */
  readonly #samples: Uint32Array;
  readonly #screening: Uint32Array;
  readonly #others: Uint32Array;
  /** The maximum number of episodes at once. */
  readonly maxEpisodes: number;

  private constructor(scorer: Scorer, starts: ImaginedStarts, options: ImaginationOptions) {
    this.#scorer = scorer;
    this.#starts = starts;
    this.#samples = spacedStarts(options.numStarts, 1);
    const stride = Math.ceil(options.numStarts / SCREENING_SAMPLES);
    this.#screening = spacedStarts(options.numStarts, stride);
    this.#others = this.#samples.filter((sample) => sample % stride !== 0);
    this.maxEpisodes = options.numProblems;
  }

  /** Opens the environments of the imagined episodes. @throws as `createVecEnv`. */
  static *open(options: ImaginationOptions, openBatch: OpenBatch): EngineCalls<Imagination> {
    const { objective, grader, numProblems, seed, maxSequences } = options;
    const starts = new ImaginedStarts(options.world.params, numProblems, options.numStarts, seed, grader);
    const world = imaginedWorld(objective, options.world);
    const settings = { ...options, world, imagination: true, minFirstHalfMean: -Infinity };
    const scoring = {
      ...(isAsynchronous(NODE, options.backend) ? {} : { episodesPerThread: EPISODES_PER_THREAD }),
      maxSequences,
      scoreEpisodes: scoreEpisodesBy(objective, grader, options.world.params),
    };
    return new Imagination(yield* Scorer.open(settings, openBatch, scoring), starts, options);
  }

  /** Sets the episodes to imagine. The arguments are those of `ImaginedStarts.write`. */
  begin(step: number, episodes: readonly number[], sums: EpisodeSums, profiles: Float32Array): void {
    this.#starts.write(step, episodes, sums, profiles);
    this.#scorer.begin(this.#starts.reset);
  }

  /** Plays trials with all posterior samples to the end of the episode. All trials must have equally many action sequences. */
  play(trials: readonly Trial[]): EngineCalls<void> {
    return this.#scorer.score(trials, this.#samples);
  }

  /** Plays trials with some of the posterior samples, the same in every call. */
  screen(trials: readonly Trial[]): EngineCalls<void> {
    return this.#scorer.score(trials, this.#screening);
  }

  /**
   * Plays trials with the samples that `screen` left out. The scores that `screen` wrote become the scores that `play` would
   * write.
   */
  *complete(trials: readonly Trial[]): EngineCalls<void> {
    if (this.#others.length === 0) return;
    yield* this.#scorer.score(trials, this.#others, { earlier: this.#screening.length });
  }

  [Symbol.dispose](): void {
    this.#scorer[Symbol.dispose]();
  }
}
