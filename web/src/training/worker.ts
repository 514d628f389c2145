/** The training worker. It loads jax-js, so it starts only when a training begins. */
import { defaultDevice, init } from '@jax-js/jax';
import { expose } from 'comlink';
import { Features, Network } from '../../../src/agents/student/network.js';
import { encodeStudent } from '../../../src/agents/student/student-file.js';
import { StudentPlayer } from '../../../src/agents/student/student-player.js';
import type { Checkpoint } from '../../../src/training/student/checkpoint.js';
import { runTraining } from '../../../src/training/student/train.js';
import {
  manifestOf,
  type TrainRequest,
  toTrainRequest,
} from '../../../src/training/student/train-options.js';
import { createWorld } from '../../../src/world/world.js';
import { MEASURED, SCHEDULES } from '../sizes.js';
import { beginJob, outcomeOf, stopJob } from '../workers/calls.js';
import { loadWasm } from '../workers/wasm.js';
import { measure, unpack } from './episodes.js';
import v1Url from './generated/planner-v1.bin?url';
import v1 from './generated/planner-v1.json';
import v2Url from './generated/planner-v2.bin?url';
import v2 from './generated/planner-v2.json';
import v3Url from './generated/planner-v3.bin?url';
import v3 from './generated/planner-v3.json';
import type { Measurement, TrainingReport, TrainingRequest } from './training-types.js';

const FILES: Readonly<Record<string, { readonly url: string; readonly measurement: Measurement }>> = {
  v1: { url: v1Url, measurement: v1 },
  v2: { url: v2Url, measurement: v2 },
  v3: { url: v3Url, measurement: v3 },
};

/** Loads the planner's first episodes under a grader. @param count of the episodes. */
async function loadPlanner(grader: string, count: number) {
  const { url, measurement } = FILES[grader];
  const response = await fetch(url);
  if (!response.ok) throw new Error(`Expected the planner's episodes, got the status ${response.status}.`);
  return { stored: unpack(new Uint8Array(await response.arrayBuffer()), count), measurement };
}

/** The version of the package, which vite.config.ts inserts. */
declare const RHYTHM_VERSION: string;

/**
 * The least time between a measurement and the next one during training, in milliseconds. Chosen by hand: less measures more
 * often, which delays the training.
 */
const INTERVAL = 700;

/** The student as it was when its score was measured last. */
let student: {
  readonly request: TrainRequest;
  readonly state: Checkpoint;
  readonly measurement: Measurement;
} | null = null;

/** Trains a student, and sets `student`. @throws the signal's reason. */
async function train(setting: TrainingRequest, report: (report: TrainingReport) => void): Promise<void> {
  const { teacher, grader, seed } = setting;
  const signal = beginJob();
  await loadWasm();
  const { episodes, ...schedule } = SCHEDULES.stored;
  const planner = teacher === 'planner' ? await loadPlanner(grader, episodes) : null;
  const request = toTrainRequest({
    ...{ teacher, grader, seed },
    ...(planner === null ? SCHEDULES.played : { stored: planner.stored, ...schedule }),
  });
  await init('wasm');
  defaultDevice('wasm');
  const start = performance.now();
  let [measuredAt, latest] = [Number.NEGATIVE_INFINITY, null as Checkpoint | null];
  const measureState = async (state: Checkpoint): Promise<void> => {
    const network = new Network(state.learner.layers);
    const measurement = await measure(
      ({ world, numEnvs }) => new StudentPlayer(network, new Features(world.words, numEnvs), numEnvs),
      request.grader,
      signal,
    );
    measuredAt = performance.now();
    student = { request, state, measurement };
    const seconds = (measuredAt - start) / 1000;
    report({ point: { ...measurement, seconds, isTrained: state.figures.length > 0 } });
  };
  report({
    teacher: planner?.measurement ?? (await measure(request.teacher.open, request.grader, signal)),
  });
  await runTraining(request, null, {
    engine: {},
    signal,
    onProgress: ({ stage, done, total }) => report({ progress: { stage, done, total } }),
    async onCheckpoint(state) {
      latest = state;
      if (performance.now() - measuredAt > INTERVAL) await measureState(state);
    },
  });
  await measureState(latest!);
}

/** Returns the bytes of the file of `student`, for `readStudent`. */
function studentFile(): Uint8Array {
  const { request, state, measurement } = student!;
  const { figures, learner } = state;
  const { first, count } = MEASURED;
  const { finalScore, beliefMae } = measurement;
  const manifest = manifestOf(request, { figures, refinement: [], world: createWorld() }, RHYTHM_VERSION);
  const evaluation = { [`seeds ${first}-${first + count - 1}`]: { episodes: count, finalScore, beliefMae } };
  return encodeStudent({ ...manifest, evaluation }, new Network(learner.layers));
}

const api = {
  /** Trains a student to the end of its schedule. A new call stops the previous one. */
  train: (request: TrainingRequest, report: (report: TrainingReport) => void) =>
    outcomeOf(() => train(request, report), report),
  stop: () => outcomeOf(stopJob),
  /** Returns the file of the student as it was when its score was measured last. */
  file: () => outcomeOf(studentFile),
};

export type TrainingApi = typeof api;

expose(api);
