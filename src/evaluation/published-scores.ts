/**
 * Scores that RhythmEnv published for its own policies.
 *
 * Source: RhythmEnv's published evaluation, under grader v2, and v1 for one score. The seeds are 0-99 in-distribution,
 * 10000-10049 out of distribution, and 0-4 for each of the three discrete profiles. The scores of `discrete` are means of the
 * three.
 * This world is a rebuild with constants of its own, so its scores are similar, not equal.
 */

/** A published score. */
export interface Published {
  readonly condition: string;
  readonly policy: string;
  readonly grader: string;
  readonly finalScore: number;
  /** Whether the score was published as an approximate value. */
  readonly approximate?: boolean;
  /** The mean absolute error of the last belief, if it was published. */
  readonly beliefMae?: number;
}

/** The source of the published scores, for notes. */
export const PUBLISHED_SOURCE = "RhythmEnv's published evaluation";

/** The published scores of the baselines. */
export const PUBLISHED: readonly Published[] = [
  { condition: 'in-distribution', policy: 'random', grader: 'v2', finalScore: 0.402 },
  { condition: 'in-distribution', policy: 'heuristic', grader: 'v2', finalScore: 0.449 },
  { condition: 'in-distribution', policy: 'heuristic', grader: 'v1', finalScore: 0.59, approximate: true },
  { condition: 'ood', policy: 'random', grader: 'v2', finalScore: 0.397 },
  { condition: 'ood', policy: 'heuristic', grader: 'v2', finalScore: 0.454 },
  { condition: 'discrete', policy: 'random', grader: 'v2', finalScore: 0.426 },
  { condition: 'discrete', policy: 'heuristic', grader: 'v2', finalScore: 0.455 },
];

/** The teacher of RhythmEnv, a frontier model. Its belief MAE was published once, for both conditions. */
export const PUBLISHED_TEACHER: readonly Published[] = [
  { condition: 'in-distribution', policy: 'teacher', grader: 'v2', finalScore: 0.611, beliefMae: 0.196 },
  { condition: 'ood', policy: 'teacher', grader: 'v2', finalScore: 0.621, beliefMae: 0.196 },
];

/** Returns the published teacher's score, or undefined if none was published. */
export const publishedTeacher = (condition: string, grader: string): Published | undefined =>
  PUBLISHED_TEACHER.find((entry) => entry.condition === condition && entry.grader === grader);

/** Returns the published score, or undefined if none was published. */
export function published(condition: string, policy: string, grader: string): Published | undefined {
  return PUBLISHED.find(
    (entry) => entry.condition === condition && entry.policy === policy && entry.grader === grader,
  );
}
