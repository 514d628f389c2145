/** Grades the episodes of an evaluation again, under the graders that its table compares. */
import { type Grader, graderWeights, toGrader } from '../engine/graders/grader.js';
import { gradeAll } from '../engine/graders/regrade.js';
import { type Interval, Moments } from '../shared/statistics.js';

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
