/**
 * Draws learning curves from the logs of trainings: `npm run student-curves -- FOLDER`, after
 * `npm run students -- --folder FOLDER`. Writes the points to docs/student-curves.json and the picture to
 * docs/student-curves.svg. Without FOLDER it draws the stored points. docs/students.md explains cloning and refinement.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { svgOf } from '../src/figures/svg.js';
import { type Curve, drawTrainingCurves } from '../src/figures/training-curves.js';
import { intervalOf } from '../src/shared/statistics.js';
import { type LogLine, MEASURED, readLog, type Scores } from './student-logs.js';
import { cloneOf, fileOf, GRADERS, type StudentGrader } from './student-trainings.js';

/** A line of a log that has scores. The seconds of a refinement include those of its clone. */
type Point = Pick<LogLine, 'epochs' | 'refined' | 'coreSeconds'> & Scores;
/** The points of each training, by grader, then by seed. */
type Trainings = Record<StudentGrader, Record<string, Point[]>>;

const DATA = new URL('../docs/student-curves.json', import.meta.url);
const PICTURE = new URL('../docs/student-curves.svg', import.meta.url);

const [folder] = process.argv.slice(2);
if (folder !== undefined) writeFileSync(DATA, `${JSON.stringify(readTrainings(folder))}\n`);
const trainings: Trainings = JSON.parse(readFileSync(DATA, 'utf8'));
const count = Object.keys(trainings[GRADERS[0]]).length;
const picture = {
  title: `Trainings from nothing with ${count} seeds`,
  notes: [
    `Means over ${count} training seeds with 95 % intervals, in the episodes of seeds ${MEASURED.first}-${MEASURED.last}.`,
    'The time is the mean over the seeds: the planner plays, then come cloning, a round of DAgger and the refinement.',
  ],
  curves: GRADERS.flatMap((grader) => {
    const all = Object.values(trainings[grader]);
    return [
      curveOf(`Final score under ${grader}`, all, 'finalScore'),
      curveOf(`Belief MAE of the student of ${grader}`, all, 'beliefMae'),
    ];
  }),
};
writeFileSync(PICTURE, await svgOf(drawTrainingCurves(picture)));

/** Returns the points of the seeds whose trainings are finished. */
function readTrainings(root: string): Trainings {
  const isFinished = (seed: string) =>
    GRADERS.every((grader) => existsSync(fileOf(`${root}/${seed}/`, `student-${grader}`)));
  const seeds = readdirSync(root).filter((name) => /^\d+$/.test(name) && isFinished(name));
  return Object.fromEntries(
    GRADERS.map((grader) => [
      grader,
      Object.fromEntries(seeds.map((seed) => [seed, pointsOf(`${root}/${seed}/`, grader)])),
    ]),
  ) as Trainings;
}

/** Returns the measured points of a clone, then those of its refinement. */
function pointsOf(at: string, grader: StudentGrader): Point[] {
  const clone = readLog(fileOf(at, cloneOf(grader)));
  const { epochs, coreSeconds } = clone[clone.length - 1];
  const refined = readLog(fileOf(at, `student-${grader}`)).map((line) => ({
    ...line,
    epochs,
    coreSeconds: coreSeconds + line.coreSeconds,
  }));
  const points = [...clone, ...refined].flatMap(({ epochs, refined, coreSeconds, scores }) =>
    scores === undefined ? [] : [{ epochs, refined, coreSeconds, ...scores }],
  );
  // A training that begins anew adds lines to its old log. Of points with equal `epochs` and `refined`, the last counts.
  return [...new Map(points.map((point) => [`${point.epochs} ${point.refined}`, point])).values()];
}

/** Returns the mean over trainings, with its interval, at each point. */
function curveOf(name: string, all: readonly (readonly Point[])[], key: 'finalScore' | 'beliefMae'): Curve {
  const intervalAt = (k: number, of: keyof Point) =>
    intervalOf(Float64Array.from(all, (training) => training[k][of]));
  const points = all[0].map((_, k) => {
    const { mean, low, high } = intervalAt(k, key);
    return { x: Math.round(intervalAt(k, 'coreSeconds').mean), y: mean, low: low!, high: high! };
  });
  return { name, unit: 'seconds of one core', points };
}
