/**
 * Plays action sequences and averages their outcomes. A problem is a list of starting states for which a search finds one
 * action sequence.
 */
import type { Batch, Outputs, ResetRequest, RunRequest } from '../../engine/backends/backend.js';
import type { OpenBatch, OpenedBatch, Platform } from '../../engine/backends/open-batch.js';
import { type EngineCalls, resultOf } from '../../engine/engine-calls.js';
import { MAX_ENVS, NUM_STEPS } from '../../world/fields.js';
import type { World } from '../../world/world.js';

/**
 * The largest number of episodes that a kernel steps together, as one group. If all of them have the same seed, the kernel
 * computes their random draws once. Most kernels have smaller groups.
 */
const GROUP = 16;
/**
 * The maximum number of episodes in one call, unless a group for each starting state needs more. Their states, actions and
 * results fit a cache, and all threads have work.
 */
const MAX_EPISODES = 2 ** 16;

/** The settings of a scorer's batches. */
export interface ScorerSettings {
  readonly platform: Platform;
  readonly world: World;
  /** Whether noise and events are drawn from streams that no real episode uses. */
  readonly imagination: boolean;
  /** As passed by the caller, like `kernel`. Both are checked when the batches are opened. */
  readonly backend: string | undefined;
  readonly kernel: string | undefined;
  /** Null: as many as the machine has processors. */
  readonly threads: number | null;
  /** The maximum number of problems. */
  readonly numProblems: number;
  /** The number of starting states of each problem. */
  readonly numStarts: number;
  /** A sequence whose mean of first-half means is below this has a shortfall (`Outcome` in population.ts); -Infinity for no bound. */
  readonly minFirstHalfMean: number;
}

/** Runs a request and returns one score for each environment, valid until the next run. */
export type ScoreEpisodes = (batch: Batch, outputs: Outputs, run: RunRequest) => EngineCalls<Float32Array>;

/** Scores by the final score. */
export const byFinalScore: ScoreEpisodes = function* (batch, outputs, run) {
  yield* resultOf(batch.run(run));
  yield* resultOf(batch.read(['finalScores', 'firstHalfMeans']));
  return outputs.finalScores;
};

/** Sequences of one problem, and their outcomes, which `Scorer.score` writes. */
export interface Trial {
  readonly problem: number;
  /** u8 [count, 28]. */
  readonly sequences: Uint8Array;
  /** f64 [count]: mean scores. */
  readonly scores: Float64Array;
  /** f64 [count]: `minFirstHalfMean` minus the mean of the first-half means; 0 if that is negative. */
  readonly shortfalls: Float64Array;
}

/** What one call plays: the same range of sequences of each trial. */
interface ScoredRange {
  readonly trials: readonly Trial[];
  /** The index of the first sequence of each trial. */
  readonly first: number;
  /** The number of sequences of each trial. */
  readonly count: number;
  /** The starting states that are played, as in `Scorer.score`. */
  readonly starts: Uint32Array;
  /** As in `ScoreOptions`. */
  readonly earlier: number;
}

/** Returns every `stride`-th index below `count`. */
export const spacedStarts = (count: number, stride: number): Uint32Array =>
  Uint32Array.from({ length: Math.ceil(count / stride) }, (_, k) => k * stride);

/** Returns a trial without scores. */
export function trialOf(problem: number, sequences: Uint8Array): Trial {
  const count = sequences.length / NUM_STEPS;
  return { problem, sequences, scores: new Float64Array(count), shortfalls: new Float64Array(count) };
}

/** Options of a scorer: how many sequences it plays, and how their episodes are scored. */
export interface ScoringOptions {
  /** The maximum number of sequences of a trial. */
  readonly maxSequences: number;
  /** Default: by the final score. The function must also read `firstHalfMeans` into the outputs. */
  readonly scoreEpisodes?: ScoreEpisodes;
  /**
   * The approximate number of episodes that one call plays on each thread of a synchronous backend. Default, and on asynchronous
   * backends: 65,536 on all threads together.
   */
  readonly episodesPerThread?: number;
}

/** Options of `Scorer.score`. */
export interface ScoreOptions {
  /** Called after each call of the backend with the number of sequences that it played. May return a promise. */
  readonly onPlayed?: (sequences: number) => unknown;
  /**
   * The number of starting states whose scores are already in `scores` of the trials. The new means include them, but the
   * shortfalls do not. Default 0: no scores yet.
   */
  readonly earlier?: number;
}

/** Returns the largest multiple of `unit` up to n, or n itself if it is smaller than `unit`. */
const roundDown = (n: number, unit: number): number => (n < unit ? n : n - (n % unit));

/** Scores trials. Uses batches, because the bookkeeping of a VecEnv takes as long as the episodes. */
export class Scorer implements Disposable {
  readonly #numStarts: number;
  readonly #minFirstHalfMean: number;
  readonly #scoreEpisodes: ScoreEpisodes;
  /** The starting states, one environment for each. */
  readonly #source: Batch;
  /** The episodes of one call, which begin as copies of starting states. */
  readonly #batch: Batch;
  readonly #outputs: Outputs;
  /** u8 [numEnvs, 28] and u32 [numEnvs]: the actions and the starting state of each episode of a call. */
  readonly #sequences: Uint8Array;
  readonly #indices: Uint32Array;

  private constructor(
    { numStarts, minFirstHalfMean }: ScorerSettings,
    scoreEpisodes: ScoreEpisodes,
    source: Batch,
    { batch, outputs }: OpenedBatch<Batch>,
  ) {
    const numEnvs = outputs.finalScores.length;
    this.#numStarts = numStarts;
    this.#minFirstHalfMean = minFirstHalfMean;
    this.#scoreEpisodes = scoreEpisodes;
    this.#source = source;
    this.#batch = batch;
    this.#outputs = outputs;
    this.#sequences = new Uint8Array(numEnvs * NUM_STEPS);
    this.#indices = new Uint32Array(numEnvs);
  }

  /**
   * Opens a scorer. Resets with `request.reset` if it is given; otherwise call `begin` before `score`.
   * @throws BackendError if the requested backend or kernel is not available.
   */
  static *open(
    request: ScorerSettings & { readonly reset?: ResetRequest },
    openBatch: OpenBatch,
    { maxSequences, scoreEpisodes = byFinalScore, episodesPerThread = MAX_EPISODES }: ScoringOptions,
  ): EngineCalls<Scorer> {
    const { platform, numStarts, numProblems, reset, world, imagination, threads } = request;
    const layout = { columnMajor: false, finalObservations: false };
    const open = (numEnvs: number) =>
      openBatch(platform, request, { numEnvs, world, imagination, threads, layout });
    const opening = open(numStarts * numProblems);
    const { batch: source } = yield* resultOf(opening);
    const perThread = opening instanceof Promise ? MAX_EPISODES : episodesPerThread;
    try {
      if (reset !== undefined) source.reset(reset);
      const numEnvs = Math.min(
        Math.max(Math.min(perThread * source.threads, MAX_EPISODES), numStarts * GROUP),
        numStarts * numProblems * maxSequences,
        MAX_ENVS,
      );
      return new Scorer(request, scoreEpisodes, source, yield* resultOf(open(numEnvs)));
    } catch (error) {
      source.close();
      throw error;
    }
  }

  /** Sets the starting states. Problem k has the environments from `k * numStarts` on. */
  begin(reset: ResetRequest): void {
    this.#source.reset(reset);
  }

  /**
   * Plays trials. All trials have the same number of sequences.
   * @param starts u32: the starting states to play, as indices within each problem's starting states.
   */
  *score(
    trials: readonly Trial[],
    starts: Uint32Array,
    { onPlayed = () => {}, earlier = 0 }: ScoreOptions = {},
  ): EngineCalls<void> {
    const sequences = trials[0].scores.length;
    const capacity = Math.floor(this.#indices.length / starts.length);
    const count = Math.min(sequences, roundDown(capacity, GROUP));
    // The smallest number of trials that fill whole groups, with `count` sequences each. Then all episodes of a group begin in
    // starting states of the same index, and may share draws. `count & -count` is the largest power of two that divides
    // `count`.
    const trialUnit = GROUP / Math.min(GROUP, count & -count);
    const trialsPerCall = roundDown(Math.floor(capacity / count), trialUnit);
    for (let k = 0; k < trials.length; k += trialsPerCall) {
      for (let first = 0; first < sequences; first += count) {
        const played = trials.slice(k, k + trialsPerCall);
        const range = { trials: played, first, count: Math.min(count, sequences - first), starts, earlier };
        yield* this.#play(range);
        yield* resultOf(onPlayed(played.length * range.count));
      }
    }
  }

  *#play(range: ScoredRange): EngineCalls<void> {
    const { trials, count, starts } = range;
    this.#writeSequences(range);
    this.#writeIndices(range);
    const values = yield* this.#scoreEpisodes(this.#batch, this.#outputs, {
      policy: { kind: 'sequence', actions: this.#sequences },
      beliefs: null,
      stops: null,
      trajectory: null,
      slice: { first: 0, end: trials.length * starts.length * count },
      from: { source: this.#source, indices: this.#indices },
    });
    trials.forEach((trial, k) => {
      this.#writeOutcomes(trial, range, values, k * count);
    });
  }

  /**
   * Writes the actions of the environments: all sequences of all trials for the first starting state, then for the next.
   * In this order a group can share draws, because starting states of different problems with the same index may have the same
   * seed.
   */
  #writeSequences({ trials, first, count, starts }: ScoredRange): void {
    const length = count * NUM_STEPS;
    const from = first * NUM_STEPS;
    for (let k = 0; k < trials.length; k++) {
      this.#sequences.set(trials[k].sequences.subarray(from, from + length), k * length);
    }
    // Repeats the rows for the other starting states. Each copy doubles what is written.
    const all = starts.length * trials.length * length;
    for (let written = trials.length * length; written < all; written *= 2) {
      this.#sequences.copyWithin(written, 0, Math.min(written, all - written));
    }
  }

  /** Writes the starting states of the environments. */
  #writeIndices({ trials, count, starts }: ScoredRange): void {
    let env = 0;
    for (const start of starts) {
      for (const { problem } of trials) {
        const index = problem * this.#numStarts + start;
        // `fill` takes longer for as few sequences as planners play.
        for (const end = env + count; env < end; env++) this.#indices[env] = index;
      }
    }
  }

  /**
   * Writes the mean outcomes of a trial. Adds in the order of the starting states, so that the means do not depend on how calls
   * divide the trials.
   * @param values the score of each environment. @param base the first environment of the trial.
   */
  #writeOutcomes(
    trial: Trial,
    { trials, first, count, starts, earlier }: ScoredRange,
    values: Float32Array,
    base: number,
  ): void {
    const width = trials.length * count;
    writeMeans(trial.scores.subarray(first, first + count), values, base, width, starts.length, earlier);
    if (this.#minFirstHalfMean === -Infinity) return;
    const { firstHalfMeans } = this.#outputs;
    const { shortfalls } = trial;
    writeMeans(shortfalls.subarray(first, first + count), firstHalfMeans, base, width, starts.length, 0);
    for (let k = first; k < first + count; k++) {
      shortfalls[k] = Math.max(0, this.#minFirstHalfMean - shortfalls[k]);
    }
  }

  [Symbol.dispose](): void {
    this.#batch.close();
    this.#source.close();
  }
}

/**
 * Writes the means of columns from `base` on, of a table of `numRows` rows with `width` values each. If `means` are means over
 * `earlier` other rows, the new means include these.
 */
function writeMeans(
  means: Float64Array,
  values: Float32Array,
  base: number,
  width: number,
  numRows: number,
  earlier: number,
): void {
  for (let k = 0; k < means.length; k++) means[k] = earlier === 0 ? 0 : means[k] * earlier;
  for (let row = 0, at = base; row < numRows; row++, at += width) {
    for (let k = 0; k < means.length; k++) means[k] += values[at + k];
  }
  for (let k = 0; k < means.length; k++) means[k] /= earlier + numRows;
}
