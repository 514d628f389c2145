/** The trainings of the students of the package, by name. */
import type { TrainOptions } from '../src/training/student/train-options.js';

const CLONE = { episodes: 1500, rounds: 1, roundEpisodes: 300, epochs: 20 } satisfies TrainOptions;
/** The options of a refinement. */
export const REFINEMENT = { refineEpisodes: 65_536, refineBatch: 512 } satisfies TrainOptions;

/** The graders that students are trained for. */
export const GRADERS = ['v2', 'v3'] as const;
export type StudentGrader = (typeof GRADERS)[number];

/** Returns the options of a clone. */
export const cloneOptions = (grader: StudentGrader) => ({ ...CLONE, grader });
