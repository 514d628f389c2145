/** What a planner wants: what an imagined week comes to. */
import type { Trajectory } from '../../backends/backend.js';
import { allocateTrajectory } from '../../backends/outputs.js';
import { byFinalScore, type Judge } from '../../search/scorer.js';
import {
  COMPONENT_NAMES,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_STEPS,
  NUM_TRAITS,
  PROFILE_SIZE,
} from '../../world/fields.js';
import type { Starts } from './starts.js';

export const OBJECTIVES = ['score', 'wellbeing'] as const;

/**
 * 'score', the grader's final score; or 'wellbeing', half of it the week's mean of the meters as the person weighs them,
 * and half the grade without adaptation, which pays for neglecting the first half of the week.
 */
export type Objective = (typeof OBJECTIVES)[number];

const ADAPTATION = COMPONENT_NAMES.indexOf('adaptation');
const BELIEF_ACCURACY = COMPONENT_NAMES.indexOf('belief_accuracy');
/** Weeks with every step recorded that stay in a cache. */
const RECORDED_WEEKS = 2 ** 10;

export interface Judging {
  readonly judge: Judge;
  /** How many weeks to play in one call; undefined for as many as are played best. */
  readonly weeks: number | undefined;
}

/** @param grader f32 [6]. @param starts written anew before weeks are judged. */
export const judging = (objective: Objective, grader: Float32Array, starts: Starts): Judging =>
  objective === 'score'
    ? { judge: byFinalScore, weeks: undefined }
    : { judge: byWellbeing(grader, starts), weeks: RECORDED_WEEKS };

/** What a belief that is nearer to the truth by 1 adds to an objective. */
export function worthOfBelief(objective: Objective, grader: Float32Array): number {
  const others = 1 - grader[ADAPTATION];
  if (objective === 'score') return grader[BELIEF_ACCURACY];
  return others > 0 ? (0.5 * grader[BELIEF_ACCURACY]) / others : 0;
}

function byWellbeing(grader: Float32Array, starts: Starts): Judge {
  let trajectory: Trajectory | null = null;
  let worth = new Float32Array(0);
  const others = 1 - grader[ADAPTATION];
  return (batch, { finalScores, components }, run) => {
    if (trajectory === null) {
      trajectory = allocateTrajectory(finalScores.length);
      worth = new Float32Array(finalScores.length);
    }
    batch.run({ ...run, trajectory });
    batch.read();
    const { indices } = run.from!;
    for (let slot = 0; slot < run.part!.end; slot++) {
      const adaptation = grader[ADAPTATION] * components[slot * NUM_COMPONENTS + ADAPTATION];
      const grade = others > 0 ? (finalScores[slot] - adaptation) / others : 0;
      worth[slot] = 0.5 * (weighedMean(trajectory.meters, slot, starts, indices[slot]) + grade);
    }
    return worth;
  };
}

/**
 * The mean over a week's 28 steps of the meters after each, as the person of a start weighs them. Its five products are
 * written out: they are done for every step of every week that is imagined.
 */
function weighedMean(
  meters: Float32Array,
  slot: number,
  { step, profiles, weighed }: Starts,
  start: number,
): number {
  let sum = weighed[start];
  const at = start * PROFILE_SIZE + NUM_TRAITS;
  const [v, c, p, s, n] = [
    profiles[at],
    profiles[at + 1],
    profiles[at + 2],
    profiles[at + 3],
    profiles[at + 4],
  ];
  const end = (slot + 1) * NUM_STEPS * NUM_METERS;
  for (let k = (slot * NUM_STEPS + step) * NUM_METERS; k < end; k += NUM_METERS) {
    sum += v * meters[k] + c * meters[k + 1] + p * meters[k + 2] + s * meters[k + 3] + n * meters[k + 4];
  }
  return sum / NUM_STEPS;
}
