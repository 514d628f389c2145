/**
 * Runs a crowd: hands chunks of people to workers, or to a graphics device, and merges their outputs in the order of the seeds, in
 * constant memory.
 */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import { yieldTurn } from '../../../src/engine/engine-calls.js';
import { graderWeights } from '../../../src/engine/graders/grader.js';
import { type Bands, bandsOf } from '../../../src/figures/episode-means.js';
import { CompensatedSum, Moments } from '../../../src/shared/statistics.js';
import { NUM_COMPONENTS, NUM_METERS, NUM_STEPS } from '../../../src/world/fields.js';
import type { Report } from '../workers/calls.js';
import type { Chunk, ChunkOutputs, PlayedChunk } from './chunk-player.js';
import {
  BAND_EPISODES,
  type Crowd,
  type CrowdPairing,
  type CrowdPolicy,
  type CrowdRequest,
  type ScoreResult,
} from './requests.js';

/** Bins of a histogram. */
const BINS = 100;

/** The mean and the histogram of final scores. */
export class ScoreStatistics {
  readonly #moments = new Moments();
  readonly #counts = new Uint32Array(BINS);

  /** @param scores f32 [n], in [0, 1]. */
  add(scores: Float32Array): void {
    this.#moments.addAll(scores);
    for (const score of scores) this.#counts[Math.min(BINS - 1, Math.floor(score * BINS))] += 1;
  }

  result = (): ScoreResult => ({ score: this.#moments.interval(), counts: this.#counts.slice() });
}

/** Statistics of one policy. */
class PolicyStatistics {
  readonly #scores = new ScoreStatistics();
  readonly #components = Array.from({ length: NUM_COMPONENTS }, () => new CompensatedSum());
  readonly #digest = sha256.create();
  readonly #meters = new FirstMeters();
  #count = 0;

  add({ finalScores, components, meters }: ChunkOutputs): void {
    this.#count += finalScores.length;
    if (meters !== null) this.#meters.add(meters);
    this.#scores.add(finalScores);
    this.#components.forEach((sum, k) => {
      sum.addColumn(components, k, NUM_COMPONENTS);
    });
    // The bytes in memory are little-endian on all machines that run browsers.
    this.#digest.update(new Uint8Array(finalScores.buffer, finalScores.byteOffset, finalScores.byteLength));
  }

  /** Returns the statistics of the episodes so far. @param weights f32 [NUM_COMPONENTS], the grader's. */
  result(name: string, weights: Float32Array): CrowdPolicy {
    const components = this.#components.map((sum) => sum.value / this.#count);
    return {
      ...{ name, ...this.#scores.result(), components, bands: this.#meters.bands() },
      parts: components.map((mean, k) => weights[k] * mean),
      // A copy, because nothing can be added after digest().
      digest: bytesToHex(this.#digest.clone().digest()),
    };
  }
}

/** The meters of the first episodes, and their bands. */
class FirstMeters {
  readonly #meters = new Float32Array(BAND_EPISODES * NUM_STEPS * NUM_METERS);
  #length = 0;
  #bands: Bands | null = null;

  add(meters: Float32Array): void {
    this.#meters.set(meters, this.#length);
    this.#length += meters.length;
    this.#bands = null;
  }

  bands(): Bands {
    this.#bands ??= bandsOf(this.#meters.subarray(0, this.#length));
    return this.#bands;
  }
}

/** Statistics of the differences between two policies. */
class PairStatistics {
  readonly #differences = new Moments();
  #better = 0;
  #same = 0;

  /** @param scores of both policies in the same episodes, f32 [n] each. */
  add(scores: readonly Float32Array[]): void {
    const [first, second] = scores;
    const differences = Float64Array.from(first, (score, i) => score - second[i]);
    for (const difference of differences) {
      if (difference > 0) this.#better += 1;
      if (difference === 0) this.#same += 1;
    }
    this.#differences.addAll(differences);
  }

  result(): CrowdPairing {
    const { count } = this.#differences;
    return {
      difference: this.#differences.interval(),
      better: this.#better / count,
      same: this.#same / count,
    };
  }
}

/**
 * People per chunk, chosen by hand: few enough to stop soon and to share the work evenly, and enough to keep a graphics device
 * busy. The first chunk is small, because it is shown at once. A student plays step by step.
 */
const CHUNK = { first: 2 ** 10, worker: 2 ** 12, student: 2 ** 10, gpu: 2 ** 17 };

/** Results are reported when this many times as many people are done as in the last report. Chosen by hand. */
const REPORT_FACTOR = 100;

/** Plays chunks of one request, one after the other. */
export interface ChunkLane {
  play(chunk: Chunk): Promise<PlayedChunk>;
}

/** What plays a crowd. */
interface CrowdPlayers {
  /** A graphics device; null if the workers play alone. */
  readonly gpu: ChunkLane | null;
  /** Called after an error of the device. The workers continue. */
  readonly onGpuFailure: (error: Error) => void;
  readonly openWorkers: () => readonly ChunkLane[];
  /** Whether a policy is a student trained on the page. */
  readonly hasStudent: boolean;
}

/**
 * Runs every policy on the same episodes. A stop ends the run with the episodes so far.
 * @throws BackendError; CallFailed of a worker; the signal's reason if it stops the run before the first chunk ends.
 */
export async function runCrowd(
  request: CrowdRequest,
  { gpu, onGpuFailure, openWorkers, hasStudent }: CrowdPlayers,
  report: Report<Crowd>,
  signal: AbortSignal,
): Promise<Crowd> {
  const run = new CrowdRun(request, report, signal);
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  if (gpu !== null) await Promise.race([stopped, run.play([gpu], CHUNK.gpu).catch(onGpuFailure)]);
  if (!run.isComplete && !signal.aborted) {
    const size = hasStudent ? CHUNK.student : CHUNK.worker;
    await Promise.race([stopped, run.play(openWorkers(), size)]);
  }
  if (run.done === 0) signal.throwIfAborted();
  return run.result();
}

/** The statistics of a run, chunk by chunk. */
class CrowdRun {
  readonly #request: CrowdRequest;
  readonly #report: Report<Crowd>;
  readonly #signal: AbortSignal;
  readonly #statistics: readonly PolicyStatistics[];
  readonly #pairs = new PairStatistics();
  readonly #startTime = performance.now();
  /** The outputs that wait for those of earlier people, by the number of people before them. */
  readonly #waiting = new Map<number, readonly ChunkOutputs[]>();
  /** The number of episodes in the last report of results. */
  #reported = 0;
  #computedBy: Crowd['computedBy'] = { backend: '', adapter: null, lanes: 0 };
  done = 0;

  constructor(request: CrowdRequest, report: Report<Crowd>, signal: AbortSignal) {
    this.#request = request;
    this.#report = report;
    this.#signal = signal;
    this.#statistics = request.policies.map(() => new PolicyStatistics());
  }

  get isComplete(): boolean {
    return this.done >= this.#request.numEpisodes;
  }

  /** Plays the people that are not done. Each lane takes the next chunk when it has finished one. */
  async play(lanes: readonly ChunkLane[], size: number): Promise<void> {
    this.#waiting.clear();
    const chunks = this.#chunks(size);
    await Promise.all(
      lanes.map(async (lane) => {
        for (const chunk of chunks) {
          const { outputs, backend, adapter } = await lane.play(chunk);
          if (this.#signal.aborted) return;
          this.#computedBy = { backend, adapter, lanes: lanes.length };
          this.#waiting.set(chunk.first, outputs);
          this.#merge();
          // Lets the worker receive a stop.
          await yieldTurn();
        }
      }),
    );
  }

  /** Yields the chunks from `done` on. Only the first people are in the percentiles of the meters. */
  *#chunks(size: number): Generator<Chunk> {
    const { numEpisodes } = this.#request;
    for (let first = this.done; first < numEpisodes; ) {
      const withMeters = first < BAND_EPISODES;
      const end = withMeters ? Math.min(BAND_EPISODES, numEpisodes) : numEpisodes;
      const count = Math.min(first === 0 ? CHUNK.first : size, end - first);
      yield { first, count, withMeters };
      first += count;
    }
  }

  #merge(): void {
    for (;;) {
      const outputs = this.#waiting.get(this.done);
      if (outputs === undefined) break;
      this.#waiting.delete(this.done);
      this.#statistics.forEach((statistics, k) => {
        statistics.add(outputs[k]);
      });
      if (outputs.length === 2) this.#pairs.add(outputs.map(({ finalScores }) => finalScores));
      this.done += outputs[0].finalScores.length;
    }
    if (this.done === 0 || this.isComplete) return;
    const isDue = this.done >= REPORT_FACTOR * this.#reported;
    this.#report({ done: this.done, total: this.#request.numEpisodes }, isDue ? this.result() : null);
    if (isDue) this.#reported = this.done;
  }

  /** Returns the results of the episodes so far. */
  result(): Crowd {
    const { policies, grader } = this.#request;
    return {
      request: this.#request,
      numEpisodes: this.done,
      complete: this.isComplete,
      policies: this.#statistics.map((each, k) => each.result(policies[k], graderWeights(grader))),
      pairing: policies.length === 2 ? this.#pairs.result() : null,
      steps: this.done * NUM_STEPS * policies.length,
      seconds: (performance.now() - this.#startTime) / 1000,
      computedBy: this.#computedBy,
    };
  }
}
