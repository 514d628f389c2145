/** Plays action sequences from the starting states of problems and averages their outcomes. */
import type { AnyBatch, OpenBatch } from '../../engine/backends/any-batch.js';
import type { Outputs, ResetRequest, RunRequest } from '../../engine/backends/backend.js';
import { NODE } from '../../engine/backends/node.js';
import type { OpenedBatch } from '../../engine/backends/open-batch.js';
import { type EngineCalls, resultOf } from '../../engine/engine-calls.js';
import { MAX_ENVS, NUM_STEPS } from '../../world/fields.js';
import type { World } from '../../world/world.js';

/** Episodes in one call. Their states, actions and results fit a cache, and all threads have work. */
const MAX_EPISODES = 2 ** 16;
/** Episodes that a kernel steps together. Those of one starting state share its draws, which are computed once. */
const GROUP = 16;

/** The settings of a scorer's batches. */
export interface ScorerSettings {
  readonly world: World;
  readonly imagination: boolean;
  readonly backend: string | undefined;
  readonly kernel: string | undefined;
  readonly threads: number | null;
  readonly problems: number;
  /** The number of starting states of each problem. */
  readonly starts: number;
  /** The lower bound of the mean of first-half means; -Infinity for none. */
  readonly minFirstHalfMean: number;
}

/** Runs a request and returns one score for each environment, valid until the next run. */
export type ScoreEpisodes = (
  batch: AnyBatch,
  outputs: Outputs,
  run: RunRequest<AnyBatch>,
) => EngineCalls<Float32Array>;

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
  /** f64 [count]: as in `Outcome`. */
  readonly shortfalls: Float64Array;
}

/** The part of trials that one call plays: a range of sequences of each. */
interface TrialPart {
  readonly trials: readonly Trial[];
  /** The index of the first sequence of each trial. */
  readonly first: number;
  /** The number of sequences of each trial. */
  readonly count: number;
  /** Every `stride`-th starting state of a problem is played, `starts` in total. */
  readonly stride: number;
  readonly starts: number;
}

/** Returns a trial without scores. */
export function trialOf(problem: number, sequences: Uint8Array): Trial {
  const count = sequences.length / NUM_STEPS;
  return { problem, sequences, scores: new Float64Array(count), shortfalls: new Float64Array(count) };
}

/** Options of a scorer: how many sequences it plays, and how their episodes are scored. */
export interface ScoringOptions {
  /** The maximum number of sequences of a trial. */
  readonly maxSequences: number;
  /** Default: by the final score. Reads `firstHalfMeans` too. */
  readonly scoreEpisodes?: ScoreEpisodes;
  /** The approximate number of episodes that one call plays. */
  readonly episodesPerCall?: number;
}

/** Scores trials. Uses batches, because the bookkeeping of a VecEnv takes as long as the episodes. */
export class Scorer implements Disposable {
  readonly #starts: number;
  readonly #minFirstHalfMean: number;
  readonly #scoreEpisodes: ScoreEpisodes;
  readonly #source: AnyBatch;
  readonly #batch: AnyBatch;
  readonly #outputs: Outputs;
  readonly #sequences: Uint8Array;
  readonly #indices: Uint32Array;

  private constructor(
    { starts, minFirstHalfMean }: ScorerSettings,
    scoreEpisodes: ScoreEpisodes,
    source: AnyBatch,
    { batch, outputs }: OpenedBatch<AnyBatch>,
  ) {
    const numEnvs = outputs.finalScores.length;
    this.#starts = starts;
    this.#minFirstHalfMean = minFirstHalfMean;
    this.#scoreEpisodes = scoreEpisodes;
    this.#source = source;
    this.#batch = batch;
    this.#outputs = outputs;
    this.#sequences = new Uint8Array(numEnvs * NUM_STEPS);
    this.#indices = new Uint32Array(numEnvs);
  }

  /**
   * Opens a scorer. Resets with `request.reset` if it is given; otherwise call `begin` first.
   * @throws BackendError if the requested backend or kernel is not available.
   */
  static *open(
    request: ScorerSettings & { readonly reset?: ResetRequest },
    openBatch: OpenBatch,
    { maxSequences, scoreEpisodes = byFinalScore, episodesPerCall = MAX_EPISODES }: ScoringOptions,
  ): EngineCalls<Scorer> {
    const { starts, problems, reset, world, imagination, threads } = request;
    const layout = { columnMajor: false, finalObservations: false };
    const open = (numEnvs: number) =>
      openBatch(NODE, request, { numEnvs, world, imagination, threads, layout });
    const { batch: source } = yield* resultOf(open(starts * problems));
    try {
      if (reset !== undefined) source.reset(reset);
      const numEnvs = Math.min(
        Math.max(episodesPerCall, starts * GROUP),
        starts * problems * maxSequences,
        MAX_ENVS,
      );
      return new Scorer(request, scoreEpisodes, source, yield* resultOf(open(numEnvs)));
    } catch (error) {
      source.close();
      throw error;
    }
  }

  /** Sets the starting states. Problem k has the environments from `k * starts` on. */
  begin(reset: ResetRequest): void {
    this.#source.reset(reset);
  }

  /**
   * Plays trials from every `stride`-th starting state of their problems. All trials have the same number of sequences.
   * @param onPlayed called after each call with the number of sequences that it played. It may return a promise.
   */
  *score(
    trials: readonly Trial[],
    stride: number,
    onPlayed: (sequences: number) => unknown = () => {},
  ): EngineCalls<void> {
    const starts = Math.ceil(this.#starts / stride);
    const sequences = trials[0].scores.length;
    const capacity = Math.floor(this.#indices.length / starts);
    const count = Math.min(sequences, capacity < GROUP ? capacity : capacity - (capacity % GROUP));
    const trialsPerCall = Math.floor(capacity / count);
    for (let k = 0; k < trials.length; k += trialsPerCall) {
      for (let first = 0; first < sequences; first += count) {
        const played = trials.slice(k, k + trialsPerCall);
        const part = { trials: played, first, count: Math.min(count, sequences - first), stride, starts };
        yield* this.#play(part);
        yield* resultOf(onPlayed(played.length * part.count));
      }
    }
  }

  *#play(part: TrialPart): EngineCalls<void> {
    const { trials, count, starts } = part;
    trials.forEach((trial, k) => {
      this.#writeSequences(trial, part, k * starts * count);
    });
    const values = yield* this.#scoreEpisodes(this.#batch, this.#outputs, {
      policy: { kind: 'sequence', actions: this.#sequences },
      beliefs: null,
      stops: null,
      trajectory: null,
      part: { first: 0, end: trials.length * starts * count },
      from: { source: this.#source, indices: this.#indices },
    });
    trials.forEach((trial, k) => {
      this.#addOutcomes(trial, part, values, k * starts * count);
    });
  }

  /** Writes the environments of a trial from `base` on, by starting state: all sequences for one, then for the next. */
  #writeSequences(
    { problem, sequences }: Trial,
    { first, count, stride, starts }: TrialPart,
    base: number,
  ): void {
    const row = base * NUM_STEPS;
    const length = count * NUM_STEPS;
    this.#sequences.set(sequences.subarray(first * NUM_STEPS, first * NUM_STEPS + length), row);
    for (let start = 0; start < starts; start++) {
      if (start > 0) this.#sequences.copyWithin(row + start * length, row, row + length);
      const env = base + start * count;
      this.#indices.fill(problem * this.#starts + start * stride, env, env + count);
    }
  }

  /** Averages the outcomes of a trial, in the order of the starting states, so that sums do not depend on the grouping. */
  #addOutcomes(trial: Trial, { first, count, starts }: TrialPart, values: Float32Array, base: number): void {
    const { firstHalfMeans } = this.#outputs;
    const scores = trial.scores.subarray(first, first + count).fill(0);
    const firstHalf = new Float64Array(count);
    for (let start = 0, env = base; start < starts; start++) {
      for (let k = 0; k < count; k++, env++) {
        scores[k] += values[env];
        firstHalf[k] += firstHalfMeans[env];
      }
    }
    for (let k = 0; k < count; k++) {
      scores[k] /= starts;
      trial.shortfalls[first + k] = Math.max(0, this.#minFirstHalfMean - firstHalf[k] / starts);
    }
  }

  [Symbol.dispose](): void {
    this.#batch.close();
    this.#source.close();
  }
}
