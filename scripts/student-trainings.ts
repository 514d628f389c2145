/** Trains a student for a grader: first a clone, which imitates the planner, then its refinement (docs/students.md). */
import { existsSync } from 'node:fs';
import type { StudentName } from '../src/agents/student/packaged-students.js';
import { runTrain, type TrainCommandOptions } from '../src/cli/train.js';
import { openTrainingLog } from './student-logs.js';

/** The graders that students are trained for. */
export const GRADERS = ['v2', 'v3'] as const;
export type StudentGrader = (typeof GRADERS)[number];

/** The options of a clone, and of its refinement. Chosen by hand; docs/students.md has the scores that they reach. */
const CLONE = { episodes: 1500, rounds: 1, roundEpisodes: 300, epochs: 20 };
const REFINEMENT = { refineEpisodes: 65_536, refineBatch: 512 };

export interface StudentTraining {
  readonly grader: StudentGrader;
  /** The seed of both trainings. */
  readonly seed: number;
  /** The folder of both files, with a slash at its end. */
  readonly folder: string;
  /** Whether to log scores and seconds to NAME.log.jsonl, and to keep finished students instead of training them again. */
  readonly isLogged: boolean;
}

/** Returns the name of a student before its refinement. */
export const cloneOf = (grader: StudentGrader) => `student-${grader}-clone` as const satisfies StudentName;

/** Returns the path of a student's file. */
export const fileOf = (folder: string, name: StudentName): string => `${folder}${name}.safetensors`;

/** Trains a clone and refines it. A training that was interrupted continues. */
export async function trainStudent({ grader, seed, folder, isLogged }: StudentTraining): Promise<void> {
  const clone = cloneOf(grader);
  await train(clone, { ...CLONE, grader });
  await train(`student-${grader}`, { ...REFINEMENT, from: fileOf(folder, clone) });

  async function train(name: StudentName, options: Omit<TrainCommandOptions, 'output'>): Promise<void> {
    const output = fileOf(folder, name);
    if (isLogged && existsSync(output)) return;
    process.stderr.write(`${output}\n`);
    const resume: true | undefined = existsSync(`${output}.partial`) ? true : undefined;
    const onCheckpoint = isLogged ? openTrainingLog(output, grader) : undefined;
    const settings: TrainCommandOptions = { ...options, threads: 1, seed, output, resume };
    await runTrain(settings, new AbortController().signal, onCheckpoint);
  }
}
