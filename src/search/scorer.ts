/** Plays tapes from the starts of problems, and sums up what they come to. */
import type { Batch, Outputs, ResetRequest, RunRequest } from '../backends/backend.js';
import { NODE } from '../backends/node.js';
import { openBatch } from '../backends/open.js';
import { MAX_ENVS, NUM_STEPS } from '../world/fields.js';
import type { World } from '../world/world.js';

/** Weeks that are played in one call: their states, tapes and results stay in a cache, and all threads have work. */
const MOST_WEEKS = 2 ** 16;
/** Weeks that a kernel plays side by side. Those of one start share its luck, drawn once. */
const GROUP = 16;

/** Where tapes are played. */
export interface Stage {
  readonly world: World;
  readonly imagination: boolean;
  readonly backend: string | undefined;
  readonly kernel: string | undefined;
  readonly threads: number | null;
  /** How many problems there are, and how many starts each has. */
  readonly problems: number;
  readonly starts: number;
  /** -Infinity for none. */
  readonly leastEarlyMean: number;
}

/** Plays what a run asks for, and says what each slot came to: by slot of the batch, valid until it plays again. */
export type Judge = (batch: Batch, outputs: Outputs, run: RunRequest) => Float32Array;

/** By the grade. */
export const byFinalScore: Judge = (batch, outputs, run) => {
  batch.run(run);
  batch.read();
  return outputs.finalScores;
};

/** Tapes of one problem, and what they come to, which is written by whoever plays them. */
export interface Trial {
  readonly problem: number;
  /** u8 [count, 28]. */
  readonly tapes: Uint8Array;
  /** f64 [count] each: means of what is judged, and how far mean early means stay below the bound. */
  readonly scores: Float64Array;
  readonly shortfalls: Float64Array;
}

/** What is played in one call: some tapes of some trials. */
interface Wave {
  readonly trials: readonly Trial[];
  /** The first tape of each trial that is played, and how many are. */
  readonly first: number;
  readonly count: number;
  /** Every so many-th start of a problem is played: so many. */
  readonly stride: number;
  readonly starts: number;
}

export function trialOf(problem: number, tapes: Uint8Array): Trial {
  const count = tapes.length / NUM_STEPS;
  return { problem, tapes, scores: new Float64Array(count), shortfalls: new Float64Array(count) };
}

/** Works on batches, not on environments: what those note about every slot takes as long as its week. */
export class Scorer implements Disposable {
  readonly #starts: number;
  readonly #leastEarlyMean: number;
  readonly #judge: Judge;
  readonly #source: Batch;
  readonly #batch: Batch;
  readonly #outputs: Outputs;
  readonly #tapes: Uint8Array;
  readonly #indices: Uint32Array;

  /**
   * Begins with `request.reset`, if there is one; else `begin` must be called first.
   * @param most how many tapes a trial may have. @param weeks how many are played in one call, or a few more.
   * @throws as `createVecEnv` for what cannot be opened here.
   */
  constructor(
    request: Stage & { readonly reset?: ResetRequest },
    most: number,
    judge: Judge = byFinalScore,
    weeks: number = MOST_WEEKS,
  ) {
    const { starts, problems, reset, leastEarlyMean, world, imagination, threads } = request;
    const layout = { columnMajor: false, finalObservations: false };
    const open = (numEnvs: number) =>
      openBatch(NODE, request, { numEnvs, world, imagination, threads, layout });
    this.#starts = starts;
    this.#leastEarlyMean = leastEarlyMean;
    this.#judge = judge;
    this.#source = open(starts * problems).batch;
    if (reset !== undefined) this.#source.reset(reset);
    const slots = Math.min(Math.max(weeks, starts * GROUP), starts * problems * most, MAX_ENVS);
    const { batch, outputs } = open(slots);
    this.#batch = batch;
    this.#outputs = outputs;
    this.#tapes = new Uint8Array(slots * NUM_STEPS);
    this.#indices = new Uint32Array(slots);
  }

  /** From now on these are the starts: problem k's are the slots from `k * starts` on. */
  begin(reset: ResetRequest): void {
    this.#source.reset(reset);
  }

  /**
   * Plays trials of equally many tapes from every `stride`-th start of their problems. Yields after each call, with how many
   * tapes it has played.
   */
  *score(trials: readonly Trial[], stride: number): Generator<number> {
    const starts = Math.ceil(this.#starts / stride);
    const tapes = trials[0].scores.length;
    const room = Math.floor(this.#indices.length / starts);
    const count = Math.min(tapes, room < GROUP ? room : room - (room % GROUP));
    const together = Math.floor(room / count);
    for (let k = 0; k < trials.length; k += together) {
      for (let first = 0; first < tapes; first += count) {
        const some = trials.slice(k, k + together);
        const wave = { trials: some, first, count: Math.min(count, tapes - first), stride, starts };
        this.#play(wave);
        yield some.length * wave.count;
      }
    }
  }

  #play(wave: Wave): void {
    const { trials, count, starts } = wave;
    trials.forEach((trial, k) => {
      this.#lay(trial, wave, k * starts * count);
    });
    const worth = this.#judge(this.#batch, this.#outputs, {
      policy: { kind: 'tape', actions: this.#tapes },
      beliefs: null,
      stops: null,
      trajectory: null,
      part: { first: 0, end: trials.length * starts * count },
      from: { source: this.#source, indices: this.#indices },
    });
    trials.forEach((trial, k) => {
      this.#sumUp(trial, wave, worth, k * starts * count);
    });
  }

  /** A trial's slots, from `base` on: start by start, all tapes of each side by side. */
  #lay({ problem, tapes }: Trial, { first, count, stride, starts }: Wave, base: number): void {
    const row = base * NUM_STEPS;
    const length = count * NUM_STEPS;
    this.#tapes.set(tapes.subarray(first * NUM_STEPS, first * NUM_STEPS + length), row);
    for (let start = 0; start < starts; start++) {
      if (start > 0) this.#tapes.copyWithin(row + start * length, row, row + length);
      const slot = base + start * count;
      this.#indices.fill(problem * this.#starts + start * stride, slot, slot + count);
    }
  }

  /** Adds up in the order of the starts, whatever was played together. */
  #sumUp(trial: Trial, { first, count, starts }: Wave, worth: Float32Array, base: number): void {
    const { earlyMeans } = this.#outputs;
    const scores = trial.scores.subarray(first, first + count).fill(0);
    const early = new Float64Array(count);
    for (let start = 0, slot = base; start < starts; start++) {
      for (let k = 0; k < count; k++, slot++) {
        scores[k] += worth[slot];
        early[k] += earlyMeans[slot];
      }
    }
    for (let k = 0; k < count; k++) {
      scores[k] /= starts;
      trial.shortfalls[first + k] = Math.max(0, this.#leastEarlyMean - early[k] / starts);
    }
  }

  [Symbol.dispose](): void {
    this.#batch.close();
    this.#source.close();
  }
}
