/** What is kept of one row's episodes while they stream by. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import { camelCase } from '../names.js';
import type { RunResult } from '../vec-env/options.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../world/fields.js';
import { CompensatedSum, type Interval, Moments } from './statistics.js';

/** Paired comparisons of final scores on the same seeds. */
export interface Wins {
  readonly won: number;
  readonly lost: number;
  readonly tied: number;
}

/** Means over the episodes of a row. Component names are as in COMPONENT_NAMES, in camelCase. */
export interface Summary {
  readonly episodes: number;
  readonly finalScore: Interval;
  readonly beliefMae: number;
  readonly components: Readonly<Record<string, number>>;
  /** Of the rewards of each half, without luck; null where they are not known. */
  readonly earlyMean: number | null;
  readonly lateMean: number | null;
  readonly wins: Wins;
  /** First 16 hex digits of SHA-256 over the little-endian f32 final scores, in seed order. */
  readonly digest: string;
}

/** f32 of finished episodes, row-major. Means of halves that are not known are NaN. */
export type GradedEpisodes = Pick<
  RunResult,
  'finalScores' | 'beliefMae' | 'components' | 'earlyMeans' | 'lateMeans'
>;

const DIGEST_DIGITS = 16;

export class Tally {
  readonly #finalScores = new Moments();
  readonly #beliefMae = new CompensatedSum();
  readonly #components = COMPONENT_NAMES.map(() => new CompensatedSum());
  readonly #early = new CompensatedSum();
  readonly #late = new CompensatedSum();
  readonly #hash = sha256.create();
  #won = 0;
  #lost = 0;

  /** Takes the next episodes, in seed order. @param baseline f32 [numEnvs]: final scores to compare with. */
  add(episodes: GradedEpisodes, baseline: Float32Array): void {
    const { finalScores, beliefMae, components, earlyMeans, lateMeans } = episodes;
    this.#finalScores.addAll(finalScores);
    this.#beliefMae.addColumn(beliefMae, 0, 1);
    this.#components.forEach((sum, k) => {
      sum.addColumn(components, k, NUM_COMPONENTS);
    });
    this.#early.addColumn(earlyMeans, 0, 1);
    this.#late.addColumn(lateMeans, 0, 1);
    this.#hash.update(littleEndian(finalScores));
    for (let i = 0; i < finalScores.length; i++) {
      if (finalScores[i] > baseline[i]) this.#won++;
      else if (finalScores[i] < baseline[i]) this.#lost++;
    }
  }

  summary(): Summary {
    const episodes = this.#finalScores.count;
    const means = this.#components.map((sum, k) => [camelCase(COMPONENT_NAMES[k]), sum.value / episodes]);
    return {
      episodes,
      finalScore: this.#finalScores.interval(),
      beliefMae: this.#beliefMae.value / episodes,
      components: Object.fromEntries(means),
      earlyMean: orNull(this.#early.value / episodes),
      lateMean: orNull(this.#late.value / episodes),
      wins: { won: this.#won, lost: this.#lost, tied: episodes - this.#won - this.#lost },
      digest: bytesToHex(this.#hash.clone().digest()).slice(0, DIGEST_DIGITS),
    };
  }
}

const orNull = (mean: number): number | null => (Number.isNaN(mean) ? null : mean);

const LITTLE_ENDIAN_HOST = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

function littleEndian(values: Float32Array): Uint8Array {
  if (LITTLE_ENDIAN_HOST) return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const bytes = new Uint8Array(values.byteLength);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => {
    view.setFloat32(i * 4, value, true);
  });
  return bytes;
}
