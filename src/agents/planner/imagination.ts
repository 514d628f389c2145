/** Plays imagined continuations of episodes: with posterior samples as profiles, and with noise of no real episode. */

import type { Batch, ResetRequest } from '../../engine/backends/backend.js';
import type { OpenBatch, OpenedBatch } from '../../engine/backends/open-batch.js';
import { allocateTrajectory } from '../../engine/backends/outputs.js';
import { type EngineCalls, resultOf } from '../../engine/engine-calls.js';
import { beliefTarget } from '../../engine/reference/profile.js';
import { type Draw, threefry } from '../../engine/reference/threefry.js';
import type { Params } from '../../world/block.js';
import {
  COMPONENT,
  MODE,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_STEPS,
  NUM_TRAITS,
  PROFILE_SIZE,
} from '../../world/fields.js';
import { repeatActions } from '../policies/open-loop.js';
import { Scorer, type ScorerSettings, spacedStarts, type Trial } from '../search/scorer.js';
import type { EpisodeSums } from './episode-sums.js';
import { imaginedWorld, type Objective, scoreEpisodesBy } from './objectives.js';

/** The stream of the seeds' draws, the second word of Threefry's key: "LUCK" in ASCII. It is none of the world's streams. */
const STREAM = 0x4c55434b;

/**
 * Starts of imagined episodes: the observed past, with posterior samples as profiles. They are the rows of a reset, written in
 * place: one for each posterior sample of each episode.
 */
export class ImaginedStarts {
  readonly #samples: number;
  readonly #seed: number;
  readonly #params: Params;
  readonly #target = new Float32Array(NUM_BELIEFS);
  readonly #profiles: Float32Array;
  /** The request that resets the imagined episodes. `write` overwrites its arrays. */
  readonly reset: ResetRequest & Required<Pick<ResetRequest, 'start'>> & { readonly mask: Uint8Array };
  /** The step count, the same for all episodes; -1 before the first call of `write`. */
  #step = -1;

  /**
   * @param seed u32: draws the seeds of the imagined episodes.
   * @param grader f32 [8]. Imagined episodes state beliefs only if the grader's weight of `belief_skill` is not 0. Otherwise
   *   `belief_accuracy` is 0 in all of them.
   */
  constructor(params: Params, episodes: number, samples: number, seed: number, grader: Float32Array) {
    const numEnvs = episodes * samples;
    const graders = new Float32Array(numEnvs * NUM_COMPONENTS);
    for (let env = 0; env < numEnvs; env++) graders.set(grader, env * NUM_COMPONENTS);
    this.#samples = samples;
    this.#seed = seed;
    this.#params = params;
    this.#profiles = new Float32Array(numEnvs * PROFILE_SIZE);
    const hasBeliefs = grader[COMPONENT.beliefSkill] !== 0;
    this.reset = {
      mask: new Uint8Array(numEnvs),
      seeds: new Uint32Array(numEnvs),
      modes: new Uint8Array(numEnvs).fill(MODE.given),
      profiles: this.#profiles,
      graders,
      start: {
        steps: new Uint8Array(numEnvs),
        meters: new Float32Array(numEnvs * NUM_METERS),
        early: new Float32Array(numEnvs),
        late: new Float32Array(numEnvs),
        returns: null,
        crashes: new Uint8Array(numEnvs),
        well: new Float32Array(numEnvs),
        skill: hasBeliefs ? new Float32Array(numEnvs) : null,
        beliefs: hasBeliefs ? new Float32Array(numEnvs * NUM_BELIEFS) : null,
        given: hasBeliefs ? new Uint8Array(numEnvs).fill(1) : null,
      },
    };
  }

  /**
   * Writes the rows of episodes that have all taken `step` steps, from the first row on.
   * @param episodes indices of `sums` and `profiles`. @param profiles f32 [n, samples, 16]: posterior samples.
   */
  write(step: number, episodes: readonly number[], sums: EpisodeSums, profiles: Float32Array): void {
    const numRows = episodes.length * this.#samples;
    const width = this.#samples * PROFILE_SIZE;
    this.reset.mask.fill(1, 0, numRows).fill(0, numRows);
    if (step !== this.#step) this.#drawSeeds(step);
    episodes.forEach((i, k) => {
      this.#profiles.set(profiles.subarray(i * width, (i + 1) * width), k * width);
      this.#writeEpisode(i, sums, k * this.#samples);
    });
  }

  /** Draws the seeds: the same for all episodes, so that a decision does not depend on the index of an episode. */
  #drawSeeds(step: number): void {
    const { seeds } = this.reset;
    this.#step = step;
    const draw: Draw = { x0: 0, x1: 0 };
    for (let k = 0; k < this.#samples; k++) seeds[k] = threefry(this.#seed, STREAM, step, k, draw).x0;
    for (let length = this.#samples; length < seeds.length; length *= 2) seeds.copyWithin(length, 0, length);
  }

  /** Writes the rows of episode i, one for each posterior sample. @param first the index of the first row. */
  #writeEpisode(i: number, sums: EpisodeSums, first: number): void {
    const { start } = this.reset;
    const meters = sums.meters.subarray(i * NUM_METERS, (i + 1) * NUM_METERS);
    for (let env = first; env < first + this.#samples; env++) {
      const weights = env * PROFILE_SIZE + NUM_TRAITS;
      start.steps[env] = this.#step;
      start.meters.set(meters, env * NUM_METERS);
      start.early![env] = sums.rewardSum(i, 0, this.#profiles, weights);
      start.late![env] = sums.rewardSum(i, 1, this.#profiles, weights);
      start.crashes![env] = sums.numCrashes(i);
      start.well![env] = sums.weightedMeterSum(i, this.#profiles, weights);
    }
    if (start.beliefs !== null) this.#writeBeliefs(i, sums, first);
  }

  /** Writes the belief stated at this step, which is kept to the end, and the `belief_skill` sum of earlier steps. */
  #writeBeliefs(i: number, sums: EpisodeSums, first: number): void {
    const { start } = this.reset;
    const belief = sums.beliefs.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS);
    for (let env = first; env < first + this.#samples; env++) {
      const profile = this.#profiles.subarray(env * PROFILE_SIZE, (env + 1) * PROFILE_SIZE);
      beliefTarget(this.#params, profile, this.#target);
      start.skill![env] = sums.skillSum(i, this.#target);
      start.beliefs!.set(belief, env * NUM_BELIEFS);
    }
  }
}

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

/** Means over imagined episodes, each with its own posterior sample, noise and events. */
export interface Outlook {
  /** f64 [28, 5]: the meters after each step; 0 for steps already taken. */
  readonly meters: Float64Array;
  /**
   * f64 [8]: the components of the grade. If the grader has a weight of `belief_skill`, the imagined episodes keep the last
   * stated belief to the end. Else they state none.
   */
  readonly components: Float64Array;
  /** Mean reward of the first half, without the reward's noise. */
  readonly firstHalfMean: number;
  /** Mean reward of the second half, without the reward's noise. */
  readonly secondHalfMean: number;
}

/** Scores and evaluates action sequences. The `problem` of a trial is an index of the `episodes` passed to `begin`. */
export class Imagination implements Disposable {
  /** The maximum number of episodes at once. */
  readonly maxEpisodes: number;
  readonly #scorer: Scorer;
  readonly #starts: ImaginedStarts;
  /** The environments of `evaluate`, one for each posterior sample, and their starts. */
  readonly #evaluation: OpenedBatch<Batch>;
  readonly #evaluationStarts: ImaginedStarts;
  /** u32 each: the indices of all posterior samples, of those that `screen` plays, and of those that it leaves out. */
  readonly #samples: Uint32Array;
  readonly #screening: Uint32Array;
  readonly #others: Uint32Array;

  private constructor(options: ImaginationOptions, scorer: Scorer, evaluation: OpenedBatch<Batch>) {
    const { world, numProblems, numStarts, seed, grader } = options;
    const stride = Math.ceil(numStarts / SCREENING_SAMPLES);
    this.maxEpisodes = numProblems;
    this.#scorer = scorer;
    this.#starts = new ImaginedStarts(world.params, numProblems, numStarts, seed, grader);
    this.#evaluation = evaluation;
    this.#evaluationStarts = new ImaginedStarts(world.params, 1, numStarts, seed, grader);
    this.#samples = spacedStarts(numStarts, 1);
    this.#screening = spacedStarts(numStarts, stride);
    this.#others = this.#samples.filter((sample) => sample % stride !== 0);
  }

  /** Opens the environments of the imagined episodes. @throws as `createVecEnv`. */
  static *open(options: ImaginationOptions, openBatch: OpenBatch): EngineCalls<Imagination> {
    const { platform, objective, grader, world, numStarts, maxSequences } = options;
    const scorerWorld = imaginedWorld(objective, world);
    const settings = { ...options, world: scorerWorld, imagination: true, minFirstHalfMean: -Infinity };
    const scorer = yield* Scorer.open(settings, openBatch, {
      episodesPerThread: EPISODES_PER_THREAD,
      maxSequences,
      scoreEpisodes: scoreEpisodesBy(objective, grader, world.params),
    });
    try {
      const layout = { columnMajor: false, finalObservations: false };
      const shape = { numEnvs: numStarts, world, imagination: true, threads: 1, layout };
      return new Imagination(options, scorer, yield* resultOf(openBatch(platform, options, shape)));
    } catch (error) {
      scorer[Symbol.dispose]();
      throw error;
    }
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

  /** Returns the mean outcome of an action sequence, u8 [28]. Other arguments are as in `ImaginedStarts.write`. */
  *evaluate(
    sequence: Uint8Array,
    step: number,
    episode: number,
    sums: EpisodeSums,
    profiles: Float32Array,
  ): EngineCalls<Outlook> {
    const { batch, outputs } = this.#evaluation;
    this.#evaluationStarts.write(step, [episode], sums, profiles);
    batch.reset(this.#evaluationStarts.reset);
    const trajectory = allocateTrajectory(this.#samples.length, ['meters']);
    const actions = repeatActions(sequence, this.#samples.length);
    const policy = { kind: 'sequence', actions } as const;
    yield* resultOf(batch.run({ policy, beliefs: null, stops: null, trajectory }));
    yield* resultOf(batch.read(['components', 'firstHalfMeans', 'secondHalfMeans']));
    const { components, firstHalfMeans, secondHalfMeans } = outputs;
    return {
      meters: meanRows(trajectory.meters, NUM_STEPS * NUM_METERS, step * NUM_METERS),
      components: meanRows(components, NUM_COMPONENTS),
      firstHalfMean: meanRows(firstHalfMeans, 1)[0],
      secondHalfMean: meanRows(secondHalfMeans, 1)[0],
    };
  }

  [Symbol.dispose](): void {
    this.#scorer[Symbol.dispose]();
    this.#evaluation.batch.close();
  }
}

/** Returns the mean row, f64 [width], with 0 before index `from`. */
function meanRows(rows: Float32Array, width: number, from = 0): Float64Array {
  const mean = new Float64Array(width);
  for (let row = 0; row < rows.length; row += width)
    for (let k = from; k < width; k++) mean[k] += rows[row + k];
  const count = rows.length / width;
  return mean.map((sum) => sum / count);
}
