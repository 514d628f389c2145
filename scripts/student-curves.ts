/**
 * Trains each student of the package with five seeds, and draws its final score and belief error. Writes
 * docs/students/curves.json, with which an interrupted run continues, and curves.svg. With --draw it only draws. An hour of a core.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Network } from '../src/agents/student/network.js';
import { Student } from '../src/agents/student/student.js';
import { svgOf } from '../src/figures/svg.js';
import { type Curve, drawTrainingCurves } from '../src/figures/training-curves.js';
import { evaluate } from '../src/index.js';
import { intervalOf } from '../src/shared/statistics.js';
import type { Checkpoint } from '../src/training/student/checkpoint.js';
import { labelEpisodes, type Played } from '../src/training/student/episodes.js';
import { runTraining } from '../src/training/student/train.js';
import { type TrainRequest, toTrainRequest } from '../src/training/student/train-options.js';
import { createWorld } from '../src/world/world.js';
import { cloneOptions, GRADERS, REFINEMENT, type StudentGrader } from './student-trainings.js';

const SEEDS = [1, 2, 3, 4, 5];
/** The episodes in which the curves are measured. */
const MEASURED = { first: 30_000, last: 30_499 };
const NOTES = [
  'Means over five training seeds, with 95 % intervals, in the episodes of seeds 30000-30499.',
  'All trainings clone the same episodes of the planner. Pass 21 begins the round of DAgger.',
];
/** Episodes of the refinement between two points. */
const REFINED_PER_POINT = 2048;
/** Episodes that the teacher plays together. */
const CHUNK = 64;

/** A point of a training: after passes of cloning, or after episodes of the refinement. */
interface Point {
  readonly passes: number;
  readonly refined: number;
  readonly finalScore: number;
  readonly beliefMae: number;
}

type Trainings = Partial<Record<string, Point[]>>;

const DATA = new URL('../docs/students/curves.json', import.meta.url);
const PICTURE = new URL('../docs/students/curves.svg', import.meta.url);
if (!process.argv.includes('--draw')) await trainAll();
writeFileSync(
  PICTURE,
  await svgOf(
    drawTrainingCurves({
      title: 'Five trainings of each student',
      notes: NOTES,
      curves: curvesOf(readData()),
    }),
  ),
);

/** Trains what the data do not have yet. */
async function trainAll(): Promise<void> {
  mkdirSync(new URL('.', DATA), { recursive: true });
  for (const grader of GRADERS) {
    let stored: Played | null = null;
    for (const seed of SEEDS) {
      const name = nameOf(grader, seed);
      if (readData()[name] !== undefined) continue;
      stored ??= await playTeacher(grader);
      process.stderr.write(`${name}\n`);
      const points = await train(grader, seed, stored);
      writeFileSync(DATA, `${JSON.stringify({ ...readData(), [name]: points })}\n`);
    }
  }
}

const nameOf = (grader: StudentGrader, seed: number): string => `${grader} ${seed}`;

function readData(): Trainings {
  return existsSync(DATA) ? JSON.parse(readFileSync(DATA, 'utf8')) : {};
}

/** Returns the episodes that all trainings clone first. */
async function playTeacher(grader: StudentGrader): Promise<Played> {
  const { episodes, ...options } = cloneOptions(grader);
  const { teacher, grader: played, seeds: range } = toTrainRequest({ ...options, episodes });
  const setting = { teacher, student: null, grader: played, engine: {} };
  const seeds = Uint32Array.from({ length: episodes }, (_, k) => range.first + k);
  const actions: number[] = [];
  for (let first = 0; first < episodes; first += CHUNK) {
    actions.push(...(await labelEpisodes(seeds.slice(first, first + CHUNK), setting)).actions);
  }
  return { seeds, actions: Uint8Array.from(actions) };
}

/** Trains a student. @returns the points of its curves. */
async function train(grader: StudentGrader, seed: number, stored: Played): Promise<Point[]> {
  const { episodes, ...options } = cloneOptions(grader);
  const request = toTrainRequest({ ...options, ...REFINEMENT, stored, seed });
  const points: Point[] = [];
  await runTraining(request, null, {
    ...{ engine: {}, signal: new AbortController().signal, onProgress: () => {} },
    onCheckpoint: async (state) => {
      if (isMeasured(state, points.at(-1))) points.push(await measure(state, request));
    },
  });
  return points;
}

/** Returns whether a state comes a pass or REFINED_PER_POINT episodes after the last point. */
function isMeasured({ figures, refinement }: Checkpoint, last: Point | undefined): boolean {
  if (refinement === null) return figures.length > (last?.passes ?? 0);
  return refinement.figures.length * REFINEMENT.refineBatch >= (last?.refined ?? 0) + REFINED_PER_POINT;
}

async function measure({ figures, refinement, learner }: Checkpoint, request: TrainRequest): Promise<Point> {
  const manifest = {
    version: '',
    worldDigest: createWorld().digest,
    featuresVersion: 1,
    training: {},
    evaluation: {},
  };
  const network = new Network((refinement?.actor ?? learner).layers);
  const student = new Student({ ...manifest, grader: request.grader }, network);
  const { rows } = await evaluate({ policies: { student }, seeds: MEASURED, grader: request.grader });
  return {
    passes: figures.length,
    refined: refinement?.figures.at(-1)?.episodes ?? 0,
    finalScore: rows[0].finalScore.mean,
    beliefMae: rows[0].beliefMae,
  };
}

/** Returns the curves of each grader: cloning over passes, and the refinement over episodes, which begins with the clone. */
function curvesOf(data: Trainings): Curve[] {
  return GRADERS.flatMap((grader) => {
    const trainings = SEEDS.map((seed) => data[nameOf(grader, seed)]!);
    const cloning = trainings.map((points) => points.filter(({ refined }) => refined === 0));
    const refining = trainings.map((points, k) => [
      cloning[k].at(-1)!,
      ...points.filter(({ refined }) => refined > 0),
    ]);
    return [
      curveOf(`${grader}: final score of the clone`, 'passes', cloning, 'passes', 'finalScore'),
      curveOf(`${grader}: final score in the refinement`, 'episodes', refining, 'refined', 'finalScore'),
      curveOf(`${grader}: belief MAE of the clone`, 'passes', cloning, 'passes', 'beliefMae'),
      curveOf(`${grader}: belief MAE in the refinement`, 'episodes', refining, 'refined', 'beliefMae'),
    ];
  });
}

function curveOf(
  name: string,
  unit: string,
  trainings: readonly (readonly Point[])[],
  x: 'passes' | 'refined',
  y: 'finalScore' | 'beliefMae',
): Curve {
  const points = trainings[0].map((point, k) => {
    const { mean, low, high } = intervalOf(Float64Array.from(trainings, (training) => training[k][y]));
    return { x: point[x], y: mean, low: low!, high: high! };
  });
  return { name, unit, points };
}
