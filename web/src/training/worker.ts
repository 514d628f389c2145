/** The training worker. It loads jax-js, so it starts only when a training begins. */
import { expose } from 'comlink';
import { beginJob, stopJob } from '../engine/jobs.js';
import { outcomeOf } from '../engine/outcome.js';
import { loadWasm } from '../workers/wasm.js';
import { fileOf, type MeasuredStudent, trainInWorker } from './run-training.js';
import type { TrainingReport, TrainingRequest } from './training-types.js';

let student: MeasuredStudent | null = null;

const api = {
  /** Trains a student to the end of its schedule. A new call stops the previous one. */
  train: (request: TrainingRequest, report: (report: TrainingReport) => void) =>
    outcomeOf(async () => {
      const signal = beginJob();
      await loadWasm();
      const onMeasured = (measured: MeasuredStudent): void => {
        student = measured;
      };
      await trainInWorker(request, report, onMeasured, signal);
    }),
  stop: () => outcomeOf(stopJob),
  /** Returns the file of the student as it was when its score was measured last (./run-training.ts). */
  file: () => outcomeOf(() => fileOf(student!)),
};

export type TrainingApi = typeof api;

expose(api);
