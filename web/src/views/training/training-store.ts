/** The training in progress, or the last training. It continues while other views are shown. */
import { signal } from '@preact/signals';
import { proxy } from 'comlink';
import type {
  Measurement,
  TrainingPoint,
  TrainingProgress,
  TrainingReport,
  TrainingRequest,
} from '../../training/training-types.js';
import type { TrainingApi } from '../../training/worker.js';
import { type Failure, toFailure, workerClient } from '../../workers/calls.js';

export interface TrainingSoFar {
  readonly request: TrainingRequest;
  /** Null after the end, a stop or a failure. */
  readonly progress: TrainingProgress | null;
  /** How the teacher plays; null until it is known. */
  readonly teacher: Measurement | null;
  readonly points: readonly TrainingPoint[];
  readonly failure: Failure | null;
}

/** Null before the first training. */
export const training = signal<TrainingSoFar | null>(null);

const call = workerClient<TrainingApi>(
  'The training worker',
  () =>
    new Worker(new URL('../../training/worker.ts', import.meta.url), { type: 'module', name: 'training' }),
);

/** Trains a student. A training in progress is stopped. */
export async function startTraining(request: TrainingRequest): Promise<void> {
  const progress = { stage: 'loading the training program', done: 0, total: 100 };
  training.value = { request, progress, teacher: null, points: [], failure: null };
  const update = (patch: Partial<TrainingSoFar>): void => {
    if (training.value?.request === request) training.value = { ...training.value, ...patch };
  };
  // A report may arrive after the result: its measurement counts, its progress no longer does.
  const report = ({ point, ...news }: TrainingReport): void => {
    if (point !== undefined) update({ points: [...training.value!.points, point] });
    else if (training.value!.progress !== null) update(news);
  };
  try {
    await call((worker) => worker.train(request, proxy(report)));
    update({ progress: null });
  } catch (error) {
    const failure = toFailure(error);
    update({ progress: null, failure: failure.kind === 'stopped' ? null : failure });
  }
}

/** Stops the training. The worker still has the student as it was when its score was measured last. */
export const stopTraining = (): void => void call((worker) => worker.stop()).catch(() => {});

/** Returns the file of the student as it was when its score was measured last. @throws CallFailed. */
export const trainedFile = (): Promise<Uint8Array> => call((worker) => worker.file());
