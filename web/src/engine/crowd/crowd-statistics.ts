/** Computes statistics of a crowd in the engine's worker, chunk by chunk in constant memory. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import { type Bands, bandsOf } from '../../../../src/figures/episode-means.js';
import { CompensatedSum, Moments } from '../../../../src/shared/statistics.js';
import { NUM_COMPONENTS, NUM_METERS, NUM_STEPS } from '../../../../src/world/fields.js';
import type { ChunkOutputs } from './chunk-player.js';
import { BAND_EPISODES, BINS, type CrowdPairing, type CrowdPolicy } from './crowd-request.js';

/** Statistics of one policy. */
export class PolicyStatistics {
  readonly #scores = new Moments();
  readonly #components = Array.from({ length: NUM_COMPONENTS }, () => new CompensatedSum());
  readonly #counts = new Uint32Array(BINS);
  readonly #digest = sha256.create();
  readonly #meters = new FirstMeters();

  add({ finalScores, components, meters }: ChunkOutputs): void {
    if (meters !== null) this.#meters.add(meters);
    this.#scores.addAll(finalScores);
    this.#components.forEach((sum, k) => {
      sum.addColumn(components, k, NUM_COMPONENTS);
    });
    for (const score of finalScores) this.#counts[Math.min(BINS - 1, Math.floor(score * BINS))] += 1;
    this.#digest.update(bytesOf(finalScores));
  }

  /** Returns the statistics of the episodes so far. @param weights f32 [NUM_COMPONENTS], the grader's. */
  result(name: string, weights: Float32Array): CrowdPolicy {
    const components = this.#components.map((sum) => sum.value / this.#scores.count);
    return {
      name,
      score: this.#scores.interval(),
      components,
      parts: components.map((mean, k) => weights[k] * mean),
      counts: this.#counts.slice(),
      bands: this.#meters.bands(),
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

/** Returns the bytes in memory, which are little-endian on all machines that run browsers. */
const bytesOf = (floats: Float32Array): Uint8Array =>
  new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength);

/** Statistics of the differences between two policies. */
export class PairStatistics {
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
