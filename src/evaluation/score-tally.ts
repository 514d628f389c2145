/** Accumulates the scores of one row of an evaluation, under its grader and under the graders that its table compares. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import { type Grader, graderWeights, toGrader } from '../engine/graders/grader.js';
import { gradeAll } from '../engine/graders/regrade.js';
import { camelCase } from '../shared/names.js';
import { CompensatedSum, type Interval, Moments } from '../shared/statistics.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../world/fields.js';
import type { Graded } from './play-policy.js';

/** Counts of paired comparisons of final scores on the same seeds. */
export interface Wins {
  readonly won: number;
  readonly lost: number;
  readonly tied: number;
}

/** Means over the episodes of a row, wins, and a digest. */
export interface Summary {
  /** The number of episodes. */
  readonly episodes: number;
  /** The mean final score. */
  readonly finalScore: Interval;
  /** Mean absolute error of the last beliefs. */
  readonly beliefMae: number;
  /** Means by component. The names are those of COMPONENT_NAMES, in camelCase. */
  readonly components: Readonly<Record<string, number>>;
  /** Mean reward of the first half, without noise. */
  readonly firstHalfMean: number;
  /** Mean reward of the second half, without noise. */
  readonly secondHalfMean: number;
  /** Wins against the heuristic on the same seeds. */
  readonly wins: Wins;
  /** First 16 hex digits of SHA-256 over the little-endian f32 final scores, in seed order. */
  readonly digest: string;
}

/** Chosen by hand: with so many, different scores hardly ever have the same digest. */
const DIGEST_DIGITS = 16;

/** The sums of one row. */
export class ScoreTally {
  readonly #finalScores = new Moments();
  readonly #beliefMae = new CompensatedSum();
  readonly #components = COMPONENT_NAMES.map(() => new CompensatedSum());
  readonly #firstHalfMeans = new CompensatedSum();
  readonly #secondHalfMeans = new CompensatedSum();
  readonly #hash = sha256.create();
  #won = 0;
  #lost = 0;

  /** Adds the next episodes, in seed order. @param baseline f32 [n]: final scores to compare with. */
  add(episodes: Graded, baseline: Float32Array): void {
    const { finalScores, beliefMae, components, firstHalfMeans, secondHalfMeans } = episodes;
    this.#finalScores.addAll(finalScores);
    this.#beliefMae.addColumn(beliefMae, 0, 1);
    this.#components.forEach((sum, k) => {
      sum.addColumn(components, k, NUM_COMPONENTS);
    });
    this.#firstHalfMeans.addColumn(firstHalfMeans, 0, 1);
    this.#secondHalfMeans.addColumn(secondHalfMeans, 0, 1);
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
      firstHalfMean: this.#firstHalfMeans.value / episodes,
      secondHalfMean: this.#secondHalfMeans.value / episodes,
      wins: { won: this.#won, lost: this.#lost, tied: episodes - this.#won - this.#lost },
      digest: bytesToHex(this.#hash.clone().digest()).slice(0, DIGEST_DIGITS),
    };
  }
}

/** Whether this machine is little-endian: the first byte of the number 1 is 1. */
const LITTLE_ENDIAN_HOST = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Returns the bytes of floats in little-endian order. */
function littleEndian(values: Float32Array): Uint8Array {
  if (LITTLE_ENDIAN_HOST) return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const bytes = new Uint8Array(values.byteLength);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => {
    view.setFloat32(i * 4, value, true);
  });
  return bytes;
}

/** Scores of a row's episodes under another grader than the evaluation's. */
export interface RegradedScore {
  /** The name of this grader. */
  readonly grader: string;
  /** The mean final score. */
  readonly finalScore: Interval;
}

/** The graders that every evaluation compares: the published one, and the one under which inference pays. */
const COMPARED_GRADERS = ['v2', 'v3'];

/** Returns the compared graders with other weights than the grader in use. */
export function otherGraders(grader: Grader): string[] {
  const weights = graderWeights(grader);
  const isOther = (name: string) => graderWeights(name).some((weight, k) => weight !== weights[k]);
  return COMPARED_GRADERS.filter(isOther);
}

/** Returns the grader in use, and the compared graders with other weights. */
export const gradersInUse = (grader: Grader): Grader[] => [grader, ...otherGraders(grader).map(toGrader)];

/** Accumulates the scores of one row under other graders. */
export class RegradeTally {
  readonly #graders: readonly { name: string; weights: Float32Array; scores: Moments }[];

  constructor(graders: readonly string[]) {
    this.#graders = graders.map((name) => ({ name, weights: graderWeights(name), scores: new Moments() }));
  }

  /** Adds the next episodes. @param components f32 [n, 8], row-major. */
  add(components: Float32Array): void {
    for (const { weights, scores } of this.#graders) scores.addAll(gradeAll(components, weights));
  }

  summary(): RegradedScore[] {
    return this.#graders.map(({ name, scores }) => ({ grader: name, finalScore: scores.interval() }));
  }
}
