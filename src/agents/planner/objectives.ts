/** The objectives of planners: values of an imagined episode. */
import type { Trajectory } from '../../engine/backends/backend.js';
import { allocateTrajectory } from '../../engine/backends/outputs.js';
import { resultOf } from '../../engine/engine-calls.js';
import type { Params } from '../../world/block.js';
import {
  COMPONENT_NAMES,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_STEPS,
  NUM_TRAITS,
  PROFILE_SIZE,
} from '../../world/fields.js';
import { errorCountedBy } from '../inference/belief-error.js';
import { byFinalScore, type ScoreEpisodes } from '../search/scorer.js';
import type { ImaginedStarts } from './imagined-starts.js';

export const OBJECTIVES = ['score', 'wellbeing'] as const;

/**
 * 'score' is the grader's final score. 'wellbeing' is half the mean of the meters, weighted by the profile, and half the
 * grade without `adaptation`, because that component rewards neglect of the first half.
 */
export type Objective = (typeof OBJECTIVES)[number];

const ADAPTATION = COMPONENT_NAMES.indexOf('adaptation');
const BELIEF_SKILL = COMPONENT_NAMES.indexOf('belief_skill');
const BELIEF_ACCURACY = COMPONENT_NAMES.indexOf('belief_accuracy');
/**
 * The gain of a smaller squared error at a step, relative to the gain at the step before. Tuned on seeds 30000-30099
 * under v3.
 */
const LATER_SHARE = 0.9;
/** The number of episodes whose trajectories fit a cache. */
const RECORDED_EPISODES = 2 ** 10;

/** The function that scores imagined episodes. */
export interface Scoring {
  readonly scoreEpisodes: ScoreEpisodes;
  /** The number of episodes that one call plays on each thread. Absent: as many as without trajectories. */
  readonly episodesPerThread?: number;
}

/** Returns the scoring of an objective. @param grader f32 [8]. @param starts written before every evaluation. */
export const scoringOf = (objective: Objective, grader: Float32Array, starts: ImaginedStarts): Scoring =>
  objective === 'score'
    ? { scoreEpisodes: byFinalScore }
    : { scoreEpisodes: byWellbeing(grader, starts), episodesPerThread: RECORDED_EPISODES };

/**
 * Returns the gain in the objective for each unit of belief error that the action of a step removes. The error is the one
 * that the grader counts: absolute or squared.
 */
export function valuePerBeliefError(
  objective: Objective,
  grader: Float32Array,
  params: Params,
  step: number,
): number {
  const worth = worthInGrade(grader, params, step);
  const otherWeights = 1 - grader[ADAPTATION];
  if (objective === 'score') return worth;
  return otherWeights > 0 ? (0.5 * worth) / otherWeights : 0;
}

/**
 * Returns how much the grade rises if the action of a step reduces the belief's error by 1. `belief_accuracy` counts the
 * last belief. `belief_skill` counts the belief of every later step. A later step counts less, because other actions
 * would reduce part of the error anyway.
 */
function worthInGrade(grader: Float32Array, params: Params, step: number): number {
  if (errorCountedBy(grader) === 'absolute') return grader[BELIEF_ACCURACY];
  const { beliefSkillFrom, beliefSkillScale, perSkillStep } = params;
  let steps = 0;
  for (let later = step + 1, share = 1; later < NUM_STEPS; later++, share *= LATER_SHARE)
    if (later >= beliefSkillFrom) steps += share;
  return grader[BELIEF_SKILL] * beliefSkillScale * perSkillStep * steps;
}

function byWellbeing(grader: Float32Array, starts: ImaginedStarts): ScoreEpisodes {
  let trajectory: Trajectory | null = null;
  let values = new Float32Array(0);
  const otherWeights = 1 - grader[ADAPTATION];
  return function* (batch, { finalScores, components }, run) {
    if (trajectory === null) {
      trajectory = allocateTrajectory(finalScores.length);
      values = new Float32Array(finalScores.length);
    }
    yield* resultOf(batch.run({ ...run, trajectory }));
    yield* resultOf(batch.read(['finalScores', 'firstHalfMeans', 'components']));
    const { indices } = run.from!;
    for (let env = 0; env < run.part!.end; env++) {
      const adaptation = grader[ADAPTATION] * components[env * NUM_COMPONENTS + ADAPTATION];
      const grade = otherWeights > 0 ? (finalScores[env] - adaptation) / otherWeights : 0;
      values[env] = 0.5 * (weightedMean(trajectory.meters, env, starts, indices[env]) + grade);
    }
    return values;
  };
}

/**
 * Returns the mean over 28 steps of the meters, weighted by the profile. The five products are written out because this
 * runs for every step of every imagined episode.
 */
function weightedMean(
  meters: Float32Array,
  env: number,
  { step, profiles, weightedSums }: ImaginedStarts,
  start: number,
): number {
  let sum = weightedSums[start];
  const at = start * PROFILE_SIZE + NUM_TRAITS;
  const [v, c, p, s, n] = [
    profiles[at],
    profiles[at + 1],
    profiles[at + 2],
    profiles[at + 3],
    profiles[at + 4],
  ];
  const end = (env + 1) * NUM_STEPS * NUM_METERS;
  for (let k = (env * NUM_STEPS + step) * NUM_METERS; k < end; k += NUM_METERS) {
    sum += v * meters[k] + c * meters[k + 1] + p * meters[k + 2] + s * meters[k + 3] + n * meters[k + 4];
  }
  return sum / NUM_STEPS;
}
