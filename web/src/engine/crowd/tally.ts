/** In the worker: what a crowd came to, piece by piece, in memory that does not grow with it. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import { CompensatedSum, Moments } from '../../../../src/evaluate/statistics.js';
import type { Bands } from '../../../../src/pictures/percentiles.js';
import { NUM_COMPONENTS } from '../../../../src/world/fields.js';
import { BINS, type CrowdPairing, type CrowdPlayer } from './request.js';

/** What a piece of the crowd came to under one policy. */
export interface Piece {
  /** f32 [n]. */
  readonly finalScores: Float32Array;
  /** f32 [n, 6]. */
  readonly components: Float32Array;
}

export class Tally {
  readonly #scores = new Moments();
  readonly #components = Array.from({ length: NUM_COMPONENTS }, () => new CompensatedSum());
  readonly #counts = new Uint32Array(BINS);
  readonly #digest = sha256.create();

  add({ finalScores, components }: Piece): void {
    this.#scores.addAll(finalScores);
    this.#components.forEach((sum, k) => {
      sum.addColumn(components, k, NUM_COMPONENTS);
    });
    for (const score of finalScores) this.#counts[Math.min(BINS - 1, Math.floor(score * BINS))] += 1;
    this.#digest.update(bytesOf(finalScores));
  }

  /** @param weights f32 [6], the grader's. Call it once: the digest is closed. */
  result(name: string, weights: Float32Array, bands: Bands): CrowdPlayer {
    const components = this.#components.map((sum) => sum.value / this.#scores.count);
    return {
      name,
      score: this.#scores.interval(),
      components,
      parts: components.map((mean, k) => weights[k] * mean),
      counts: this.#counts,
      bands,
      digest: bytesToHex(this.#digest.digest()),
    };
  }
}

/** As they lie in memory: little-endian wherever browsers run. */
const bytesOf = (floats: Float32Array): Uint8Array =>
  new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength);

export class PairTally {
  readonly #differences = new Moments();
  #better = 0;
  #same = 0;

  /** @param scores f32 [n] under each of the two, person by person. */
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
