/**
 * Refines each clone of the package (a student before its refinement) with five training seeds, and draws final score and
 * belief error over the episodes of the refinement. Writes docs/student-curves.json, with which an interrupted run continues,
 * and student-curves.svg. With --draw it only draws.
 * Takes about seven minutes of one core.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Network } from '../src/agents/student/network.js';
import { loadStudent } from '../src/agents/student/shipped-students.js';
import { Student } from '../src/agents/student/student.js';
import { svgOf } from '../src/figures/svg.js';
import { type Curve, drawTrainingCurves } from '../src/figures/training-curves.js';
import { evaluate } from '../src/index.js';
import { intervalOf } from '../src/shared/statistics.js';
import { runTraining } from '../src/training/student/train.js';
import { toTrainRequest } from '../src/training/student/train-options.js';
import { cloneOf, GRADERS, type StudentGrader } from './student-trainings.js';

const SEEDS = [1, 2, 3, 4, 5];
/** A quarter of the refinement of the package, with the same batches. */
const REFINEMENT = { refineEpisodes: 16_384, refineBatch: 512 };
/** The episodes in which the curves are measured. */
const MEASURED = { first: 30_000, last: 30_999 };
/** Episodes of the refinement between two points. */
const PER_POINT = 2048;
const NOTES = [
  'Means over five training seeds that begin with the same clone, with 95 % intervals, in the episodes of seeds 30000-30999.',
];

interface Point {
  /** Episodes of the refinement. */
  readonly episodes: number;
  readonly finalScore: number;
  readonly beliefMae: number;
}

type Trainings = Partial<Record<string, Point[]>>;

const DATA = new URL('../docs/student-curves.json', import.meta.url);
const PICTURE = new URL('../docs/student-curves.svg', import.meta.url);

if (!process.argv.includes('--draw')) await trainAll();
const picture = { title: 'Five refinements of each clone', notes: NOTES, curves: curvesOf(readData()) };
writeFileSync(PICTURE, await svgOf(drawTrainingCurves(picture)));

/** Runs the trainings that the data lack. */
async function trainAll(): Promise<void> {
  for (const grader of GRADERS) {
    for (const seed of SEEDS) {
      const name = nameOf(grader, seed);
      if (readData()[name] !== undefined) continue;
      process.stderr.write(`${name}\n`);
      const points = await refine(grader, seed);
      writeFileSync(DATA, `${JSON.stringify({ ...readData(), [name]: points })}\n`);
    }
  }
}

function nameOf(grader: StudentGrader, seed: number): string {
  return `${grader} ${seed}`;
}

function readData(): Trainings {
  return existsSync(DATA) ? JSON.parse(readFileSync(DATA, 'utf8')) : {};
}

/** Refines a clone. @returns the points of its curves, of which the first is the clone's. */
async function refine(grader: StudentGrader, seed: number): Promise<Point[]> {
  const from = await loadStudent(cloneOf(grader));
  const points = [await measure(from, 0)];
  await runTraining(toTrainRequest({ from, ...REFINEMENT, seed }), null, {
    ...{ engine: {}, signal: new AbortController().signal, onProgress: () => {} },
    onCheckpoint: async ({ refinement }) => {
      const { actor, figures } = refinement!;
      const { episodes } = figures.at(-1)!;
      if (episodes % PER_POINT !== 0) return;
      points.push(await measure(new Student(from.manifest, new Network(actor.layers)), episodes));
    },
  });
  return points;
}

async function measure(student: Student, episodes: number): Promise<Point> {
  const { grader } = student.manifest;
  const { rows } = await evaluate({ policies: { student }, seeds: MEASURED, grader });
  return { episodes, finalScore: rows[0].finalScore.mean, beliefMae: rows[0].beliefMae };
}

function curvesOf(data: Trainings): Curve[] {
  return GRADERS.flatMap((grader) => {
    const trainings = SEEDS.map((seed) => data[nameOf(grader, seed)]!);
    return [
      curveOf(`Final score under ${grader}`, trainings, 'finalScore'),
      curveOf(`Belief MAE of the student of ${grader}`, trainings, 'beliefMae'),
    ];
  });
}

/** Returns the mean over trainings, with its interval, at each point. */
function curveOf(
  name: string,
  trainings: readonly (readonly Point[])[],
  key: 'finalScore' | 'beliefMae',
): Curve {
  const points = trainings[0].map(({ episodes }, k) => {
    const { mean, low, high } = intervalOf(Float64Array.from(trainings, (training) => training[k][key]));
    return { x: episodes, y: mean, low: low!, high: high! };
  });
  return { name, unit: 'episodes of the refinement', points };
}
