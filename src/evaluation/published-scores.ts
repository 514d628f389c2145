/**
 * Scores that RhythmEnv's author published for its policies.
 *
 * The source has two evaluations under grader v2, each with baselines of its own. One is the re-evaluation of the teacher:
 * seeds 0-99 in-distribution and 10000-10049 out of distribution. The other, of the student, has 10 episodes of each of these
 * conditions, with unpublished seeds, and 5 of each discrete profile. No intervals were published.
 * This world is a rebuild with constants of its own, so its scores are similar, not equal.
 */
import { listed } from './format-results.js';

/** A published score. */
export interface Published {
  readonly condition: string;
  readonly policy: string;
  readonly grader: string;
  /** The number of episodes, if it was published. */
  readonly episodes?: number;
  readonly finalScore: number;
  /** Whether the score was published as an approximate value. */
  readonly approximate?: boolean;
  /** The mean absolute error of the last belief; null if it was not published. Absent if the policy states no belief. */
  readonly beliefMae?: number | null;
}

type Sample = Pick<Published, 'condition' | 'grader' | 'episodes'>;

const IN_DISTRIBUTION: Sample = { condition: 'in-distribution', grader: 'v2', episodes: 100 };
const OOD: Sample = { condition: 'ood', grader: 'v2', episodes: 50 };
const DISCRETE: Sample = { condition: 'discrete', grader: 'v2', episodes: 15 };

/**
 * The published scores of the baselines, one for each condition and grader: on sampled profiles those of the teacher's
 * re-evaluation, on discrete ones those of the student's evaluation, the only ones. The one under v1 names no evaluation.
 */
export const PUBLISHED: readonly Published[] = [
  { ...IN_DISTRIBUTION, policy: 'random', finalScore: 0.402 },
  { ...IN_DISTRIBUTION, policy: 'heuristic', finalScore: 0.449 },
  { condition: 'in-distribution', policy: 'heuristic', grader: 'v1', finalScore: 0.59, approximate: true },
  { ...OOD, policy: 'random', finalScore: 0.397 },
  { ...OOD, policy: 'heuristic', finalScore: 0.454 },
  { ...DISCRETE, policy: 'random', finalScore: 0.426 },
  { ...DISCRETE, policy: 'heuristic', finalScore: 0.455 },
];

/** The teacher of RhythmEnv, a frontier model, in its re-evaluation. */
export const PUBLISHED_TEACHER: readonly Published[] = [
  { ...IN_DISTRIBUTION, policy: 'teacher', finalScore: 0.611, beliefMae: 0.196 },
  { ...OOD, policy: 'teacher', finalScore: 0.621, beliefMae: 0.214 },
];

const FEW_IN_DISTRIBUTION: Sample = { ...IN_DISTRIBUTION, episodes: 10 };
const FEW_OOD: Sample = { ...OOD, episodes: 10 };

/**
 * The student of RhythmEnv, a language model of 3 billion parameters, after SFT and after GRPO, with the baselines of the same
 * episodes. Those of the discrete profiles are in PUBLISHED.
 */
export const PUBLISHED_STUDENT: readonly Published[] = [
  { ...FEW_IN_DISTRIBUTION, policy: 'random', finalScore: 0.393 },
  { ...FEW_IN_DISTRIBUTION, policy: 'heuristic', finalScore: 0.463 },
  { ...FEW_IN_DISTRIBUTION, policy: 'student, SFT', finalScore: 0.574, beliefMae: 0.213 },
  { ...FEW_IN_DISTRIBUTION, policy: 'student, GRPO', finalScore: 0.573, beliefMae: 0.216 },
  { ...FEW_OOD, policy: 'random', finalScore: 0.393 },
  { ...FEW_OOD, policy: 'heuristic', finalScore: 0.455 },
  { ...FEW_OOD, policy: 'student, SFT', finalScore: 0.536, beliefMae: null },
  { ...FEW_OOD, policy: 'student, GRPO', finalScore: 0.559, beliefMae: 0.263 },
  { ...DISCRETE, policy: 'student, SFT', finalScore: 0.507, beliefMae: 0.415 },
  { ...DISCRETE, policy: 'student, GRPO', finalScore: 0.52, beliefMae: 0.43 },
];

/** What the author calls the final score of a student under v2, the best band first. */
export const SCORE_BANDS = [
  { above: 0.55, range: 'score above 0.55', meaning: 'inference + competent action' },
  { above: 0.5, range: 'score above 0.50', meaning: 'modest beat, valid result' },
  { above: Number.NEGATIVE_INFINITY, range: 'score up to 0.50', meaning: "SFT didn't transfer enough" },
] as const;

/** What the author calls a small belief error of a student. */
export const BELIEF_BAND = { most: 0.21, meaning: 'matches teacher' } as const;

/** The source of the published scores and their numbers of episodes, for notes. */
export const PUBLISHED_SOURCE =
  'RhythmEnv, docs/results.md, by its author (InosLihka); under v2 ' +
  `${listed([IN_DISTRIBUTION, OOD, DISCRETE].map(({ condition, episodes }) => `${episodes} ${condition}`))} episodes`;

/** The belief MAE of RhythmEnv's teacher under each condition, for notes. */
export const TEACHER_BELIEF_MAE = listed(
  PUBLISHED_TEACHER.map(({ condition, beliefMae }) => `${beliefMae} ${condition}`),
);

/** Returns the published teacher's score, or undefined if none was published. */
export const publishedTeacher = (condition: string, grader: string): Published | undefined =>
  PUBLISHED_TEACHER.find((entry) => entry.condition === condition && entry.grader === grader);

/** Returns the published score of a baseline, or undefined if none was published. */
export function published(condition: string, policy: string, grader: string): Published | undefined {
  return PUBLISHED.find(
    (entry) => entry.condition === condition && entry.policy === policy && entry.grader === grader,
  );
}
