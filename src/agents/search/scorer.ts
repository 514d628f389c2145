/** Plays action sequences from the starting states of problems and averages their outcomes. */
import type { Batch, Outputs, ResetRequest, RunRequest } from '../../engine/backends/backend.js';
import { NODE } from '../../engine/backends/node.js';
import { openBatch } from '../../engine/backends/open-batch.js';
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
export type Judge = (batch: Batch, outputs: Outputs, run: RunRequest<Batch>) => Float32Array;

/** Scores by the final score. */
export const byFinalScore: Judge = (batch, outputs, run) => {
  batch.run(run);
  batch.read();
  return outputs.finalScores;
};

/** Sequences of one problem, and their outcomes, which `Scorer.score` writes. */
export interface Trial {
  readonly problem: number;
  /** u8 [count, 28]. */
  readonly sequences: Uint8Array;
  /** f64 [count]: mean scores. */
  readonly scores: Float64Array;
  /** f64 [count]: how far the mean of first-half means is below the bound. */
  readonly shortfalls: Float64Array;
}

/** The part of trials that one call plays: a range of sequences of each. */
interface Wave {
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

/** Scores trials. Uses batches, because the bookkeeping of a VecEnv takes as long as the episodes. */
export class Scorer implements Disposable {
  readonly #starts: number;
  readonly #minFirstHalfMean: number;
  readonly #judge: Judge;
  readonly #source: Batch;
  readonly #batch: Batch;
  readonly #outputs: Outputs;
  readonly #sequences: Uint8Array;
  readonly #indices: Uint32Array;

  /**
   * Resets with `request.reset` if it is given; otherwise call `begin` first.
   * @param maxSequences the maximum number of sequences of a trial.
   * @param episodesPerCall the approximate number of episodes that one call plays.
   * @throws BackendError if the requested backend or kernel is not available.
   */
  constructor(
    request: ScorerSettings & { readonly reset?: ResetRequest },
    maxSequences: number,
    judge: Judge = byFinalScore,
    episodesPerCall: number = MAX_EPISODES,
  ) {
    const { starts, problems, reset, minFirstHalfMean, world, imagination, threads } = request;
    const layout = { columnMajor: false, finalObservations: false };
    const open = (numEnvs: number) =>
      openBatch(NODE, request, { numEnvs, world, imagination, threads, layout });
    this.#starts = starts;
    this.#minFirstHalfMean = minFirstHalfMean;
    this.#judge = judge;
    this.#source = open(starts * problems).batch;
    if (reset !== undefined) this.#source.reset(reset);
    const numEnvs = Math.min(
      Math.max(episodesPerCall, starts * GROUP),
      starts * problems * maxSequences,
      MAX_ENVS,
    );
    const { batch, outputs } = open(numEnvs);
    this.#batch = batch;
    this.#outputs = outputs;
    this.#sequences = new Uint8Array(numEnvs * NUM_STEPS);
    this.#indices = new Uint32Array(numEnvs);
  }

  /** Sets the starting states. Problem k has the environments from `k * starts` on. */
  begin(reset: ResetRequest): void {
    this.#source.reset(reset);
  }

  /**
   * Plays trials from every `stride`-th starting state of their problems. All trials have the same number of sequences.
   * Yields the number of sequences played after each call.
   */
  *score(trials: readonly Trial[], stride: number): Generator<number> {
    const starts = Math.ceil(this.#starts / stride);
    const sequences = trials[0].scores.length;
    const capacity = Math.floor(this.#indices.length / starts);
    const count = Math.min(sequences, capacity < GROUP ? capacity : capacity - (capacity % GROUP));
    const trialsPerCall = Math.floor(capacity / count);
    for (let k = 0; k < trials.length; k += trialsPerCall) {
      for (let first = 0; first < sequences; first += count) {
        const part = trials.slice(k, k + trialsPerCall);
        const wave = { trials: part, first, count: Math.min(count, sequences - first), stride, starts };
        this.#play(wave);
        yield part.length * wave.count;
      }
    }
  }

  #play(wave: Wave): void {
    const { trials, count, starts } = wave;
    trials.forEach((trial, k) => {
      this.#writeSequences(trial, wave, k * starts * count);
    });
    const values = this.#judge(this.#batch, this.#outputs, {
      policy: { kind: 'sequence', actions: this.#sequences },
      beliefs: null,
      stops: null,
      trajectory: null,
      part: { first: 0, end: trials.length * starts * count },
      from: { source: this.#source, indices: this.#indices },
    });
    trials.forEach((trial, k) => {
      this.#addOutcomes(trial, wave, values, k * starts * count);
    });
  }

  /** Writes the environments of a trial from `base` on, by starting state: all sequences for one, then for the next. */
  #writeSequences({ problem, sequences }: Trial, { first, count, stride, starts }: Wave, base: number): void {
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
  #addOutcomes(trial: Trial, { first, count, starts }: Wave, values: Float32Array, base: number): void {
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
