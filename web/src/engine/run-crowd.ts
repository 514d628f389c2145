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
  type ComputedBy,
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
  /** The meters of the first episodes, the length of those so far, and their bands; null if they are not up to date. */
  readonly #meters = new Float32Array(BAND_EPISODES * NUM_STEPS * NUM_METERS);
  #length = 0;
  #bands: Bands | null = null;
  #count = 0;

  add({ finalScores, components, meters }: ChunkOutputs): void {
    this.#count += finalScores.length;
    if (meters !== null) {
      this.#meters.set(meters, this.#length);
      this.#length += meters.length;
      this.#bands = null;
    }
    this.#scores.add(finalScores);
    this.#components.forEach((sum, k) => {
      sum.addColumn(components, k, NUM_COMPONENTS);
    });
    // The bytes in memory are little-endian on all machines that run browsers.
    this.#digest.update(new Uint8Array(finalScores.buffer, finalScores.byteOffset, finalScores.byteLength));
  }

  /** Returns the statistics of the episodes so far. @param weights f32 [NUM_COMPONENTS], the grader's. */
  result(name: string, weights: Float32Array): CrowdPolicy {
    this.#bands ??= bandsOf(this.#meters.subarray(0, this.#length));
    const components = this.#components.map((sum) => sum.value / this.#count);
    return {
      ...{ name, ...this.#scores.result(), components, bands: this.#bands },
      parts: components.map((mean, k) => weights[k] * mean),
      // A copy, because nothing can be added after digest().
      digest: bytesToHex(this.#digest.clone().digest()),
    };
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
  const run = openRun(request, report, signal);
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  if (gpu !== null) await Promise.race([stopped, run.play([gpu], CHUNK.gpu).catch(onGpuFailure)]);
  if (run.done() < request.numEpisodes && !signal.aborted) {
    const size = hasStudent ? CHUNK.student : CHUNK.worker;
    await Promise.race([stopped, run.play(openWorkers(), size)]);
  }
  if (run.done() === 0) signal.throwIfAborted();
  return run.result();
}

/** Returns what plays the people of a request, and the results of those that are done. */
function openRun(request: CrowdRequest, report: Report<Crowd>, signal: AbortSignal) {
  const { policies, grader, numEpisodes } = request;
  const statistics = policies.map(() => new PolicyStatistics());
  const pairs = new PairStatistics();
  const startTime = performance.now();
  /** The outputs that wait for those of earlier people, by the number of people before them. */
  const waiting = new Map<number, readonly ChunkOutputs[]>();
  let computedBy: ComputedBy = { backend: '', adapter: null, lanes: 0 };
  /** The number of episodes in the statistics, and in the last report of results. */
  let [done, reported] = [0, 0];

  const result = (): Crowd => ({
    ...{ request, computedBy, numEpisodes: done, complete: done >= numEpisodes },
    policies: statistics.map((each, k) => each.result(policies[k], graderWeights(grader))),
    pairing: policies.length === 2 ? pairs.result() : null,
    steps: done * NUM_STEPS * policies.length,
    seconds: (performance.now() - startTime) / 1000,
  });

  const merge = (): void => {
    for (let outputs = waiting.get(done); outputs !== undefined; outputs = waiting.get(done)) {
      waiting.delete(done);
      for (const [k, each] of statistics.entries()) each.add(outputs[k]);
      if (outputs.length === 2) pairs.add(outputs.map(({ finalScores }) => finalScores));
      done += outputs[0].finalScores.length;
    }
    if (done === 0 || done >= numEpisodes) return;
    const isDue = done >= REPORT_FACTOR * reported;
    report({ done, total: numEpisodes }, isDue ? result() : null);
    if (isDue) reported = done;
  };

  /** Plays the people that are not done. Each lane takes the next chunk when it has finished one. */
  const play = async (lanes: readonly ChunkLane[], size: number): Promise<void> => {
    waiting.clear();
    const chunks = chunksFrom(done, numEpisodes, size);
    const playLane = async (lane: ChunkLane): Promise<void> => {
      for (const chunk of chunks) {
        const { outputs, backend, adapter } = await lane.play(chunk);
        if (signal.aborted) return;
        computedBy = { backend, adapter, lanes: lanes.length };
        waiting.set(chunk.first, outputs);
        merge();
        // Lets the worker receive a stop.
        await yieldTurn();
      }
    };
    await Promise.all(lanes.map(playLane));
  };
  return { play, result, done: () => done };
}

/** Yields the chunks of people from `done` on. Only the first people are in the percentiles of the meters. */
function* chunksFrom(done: number, numEpisodes: number, size: number): Generator<Chunk> {
  for (let first = done; first < numEpisodes; ) {
    const withMeters = first < BAND_EPISODES;
    const end = withMeters ? Math.min(BAND_EPISODES, numEpisodes) : numEpisodes;
    const count = Math.min(first === 0 ? CHUNK.first : size, end - first);
    yield { first, count, withMeters };
    first += count;
  }
}
