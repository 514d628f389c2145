/** Trains and evaluates a student, and returns its file. */
import { readStudent, type Student } from '../../agents/student/student.js';
import { encodeStudent } from '../../agents/student/student-file.js';
import type { EngineOptions } from '../../engine/vec-env/vec-env-options.js';
import { evaluate } from '../../evaluation/on-first-use.js';
import { load, PACKAGES } from '../../shared/optional-packages.js';
import { packageVersion } from '../../shared/version.js';
import type { Trained, TrainHooks, TrainProgress } from './train.js';
import { manifestOf, type TrainOptions, type TrainRequest, toTrainRequest } from './train-options.js';

/** Options of `trainStudent`. The engine changes no result. */
export interface TrainStudentOptions extends TrainOptions, EngineOptions {
  /** Ends the training: `trainStudent` throws its reason. */
  readonly signal?: AbortSignal;
  /**
   * Called after each epoch, after each 64 (or fewer) episodes that the teacher plays or labels, and after each refinement
   * batch (docs/students.md).
   */
  readonly onProgress?: (progress: TrainProgress) => void;
}

/** Results by condition, in the 150 evaluation episodes. */
export type EvaluationRecord = Record<string, { episodes: number; finalScore: number; beliefMae: number }>;

/** The conditions of the 150 evaluation episodes. */
const CONDITIONS = ['in-distribution', 'ood'];

/**
 * Trains a student: clones a policy or stored episodes, unless `from` is given, and refines the student if `refineEpisodes`
 * is not 0. The options determine its bits on one machine. @returns the bytes of its file, for `readStudent`.
 * @throws InputError for options; LibraryError `library_missing` without `@jax-js/jax`; BackendError; the signal's reason.
 */
export async function trainStudent(options: TrainStudentOptions): Promise<Uint8Array> {
  const { backend, kernel, threads, signal = new AbortController().signal, onProgress, ...given } = options;
  const request = toTrainRequest(given);
  const engine = { backend, kernel, threads };
  const { runTraining } = await loadTraining();
  const trained = await runTraining(request, null, {
    engine,
    signal,
    onCheckpoint: async () => {},
    onProgress: onProgress ?? (() => {}),
  });
  return (await studentFile(request, trained, { engine, signal })).bytes;
}

/** Imports the modules that need `@jax-js/jax`. @throws LibraryError `library_missing`. */
export const loadTraining = () => load('students', PACKAGES.students, () => import('./train.js'));

/** Evaluates a finished student. @returns its file, and the results. */
export async function studentFile(
  request: TrainRequest,
  trained: Trained,
  { engine, signal }: Pick<TrainHooks, 'engine' | 'signal'>,
): Promise<{ bytes: Uint8Array; evaluation: EvaluationRecord }> {
  const { network } = trained;
  const manifest = manifestOf(request, trained, packageVersion());
  const student = readStudent(encodeStudent({ ...manifest, evaluation: {} }, network));
  const evaluation = await evaluationOf(student, engine, signal);
  return { bytes: encodeStudent({ ...manifest, evaluation }, network), evaluation };
}

async function evaluationOf(
  student: Student,
  engine: EngineOptions,
  signal: AbortSignal,
): Promise<EvaluationRecord> {
  const { grader } = student.manifest;
  const policies = { student };
  const { rows } = await evaluate({ ...engine, signal, grader, policies, conditions: CONDITIONS });
  return Object.fromEntries(
    rows.map(({ condition, episodes, finalScore, beliefMae }) => [
      condition,
      { episodes, finalScore: finalScore.mean, beliefMae },
    ]),
  );
}
