/** The trainings of the students of the package. */
import type { StudentName } from '../src/agents/student/shipped-students.js';

/** The graders that students are trained for. */
export const GRADERS = ['v2', 'v3'] as const;
export type StudentGrader = (typeof GRADERS)[number];

/** The options of a clone, and of its refinement. */
export const CLONE = { episodes: 1500, rounds: 1, roundEpisodes: 300, epochs: 20 };
export const REFINEMENT = { refineEpisodes: 65_536, refineBatch: 512 };

/** Returns the name of a student before its refinement. */
export const cloneOf = (grader: StudentGrader) => `student-${grader}-clone` as const satisfies StudentName;
