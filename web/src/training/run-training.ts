/** Trains a student. Measures a teacher that plays; then the student, at the end and at checkpoints at least 0.7 s apart. */
import { defaultDevice, init } from '@jax-js/jax';
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
import { measure } from './measure.js';
import { MEASURED } from './measured.js';
import { SCHEDULES } from './schedule.js';
import type { Measurement, TrainingReport, TrainingRequest } from './training-types.js';

/** The version of the package, which vite.config.ts inserts. */
declare const RHYTHM_VERSION: string;

/**
 * The least time between a measurement and the next one during training, in milliseconds. Chosen by hand: less measures more
 * often, which delays the training.
 */
const INTERVAL = 700;

/** A student as it was measured. */
export interface MeasuredStudent {
  readonly request: TrainRequest;
  readonly state: Checkpoint;
  readonly measurement: Measurement;
}

/** Trains a student. @param onMeasured is called with each measured state. @throws the signal's reason. */
export async function trainInWorker(
  { teacher, grader, seed }: TrainingRequest,
  report: (report: TrainingReport) => void,
  onMeasured: (student: MeasuredStudent) => void,
  signal: AbortSignal,
): Promise<void> {
  const { episodes, ...schedule } = SCHEDULES.stored;
  const planner =
    teacher === 'planner' ? await (await import('./planner-teacher.js')).loadPlanner(grader, episodes) : null;
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
    onMeasured({ request, state, measurement });
    const seconds = (measuredAt - start) / 1000;
    report({ kind: 'point', point: { ...measurement, seconds, isTrained: state.figures.length > 0 } });
  };
  const measured = planner?.measurement ?? (await measure(request.teacher.open, request.grader, signal));
  report({ kind: 'teacher', teacher: measured });
  await runTraining(request, null, {
    engine: {},
    signal,
    onProgress: ({ stage, done, total }) => report({ kind: 'progress', stage, done, total }),
    async onCheckpoint(state) {
      latest = state;
      if (performance.now() - measuredAt > INTERVAL) await measureState(state);
    },
  });
  await measureState(latest!);
}

/** Returns the bytes of the file of a student, for `readStudent`. */
export function fileOf({ request, state, measurement }: MeasuredStudent): Uint8Array {
  const trained = { figures: state.figures, refinement: [], world: createWorld() };
  const { finalScore, beliefMae } = measurement;
  const last = MEASURED.first + MEASURED.count - 1;
  return encodeStudent(
    {
      ...manifestOf(request, trained, RHYTHM_VERSION),
      evaluation: {
        [`seeds ${MEASURED.first}-${last}`]: { episodes: MEASURED.count, finalScore, beliefMae },
      },
    },
    new Network(state.learner.layers),
  );
}
