/** The objectives of planners: what they maximise in imagined episodes. */
import { resultOf } from '../../engine/engine-calls.js';
import { clamp01 } from '../../engine/reference/profile.js';
import type { Params } from '../../world/block.js';
import { COMPONENT, NUM_COMPONENTS, NUM_STEPS } from '../../world/fields.js';
import { createWorld, type World } from '../../world/world.js';
import { errorCountedBy } from '../inference/samples.js';
import { byFinalScore, type ScoreEpisodes } from '../search/scorer.js';

/** The names of the objectives. */
export const OBJECTIVES = ['score', 'wellbeing'] as const;

/**
 * 'score' is the grader's final score. 'wellbeing' is half the mean of the meters, weighted by the profile, plus half the
 * grade without `adaptation` (its other weights scaled to sum to 1), because that component rewards neglect of the first half.
 */
export type Objective = (typeof OBJECTIVES)[number];

/** The weight of a step in `worthInGrade`, relative to the step before. Tuned on seeds 30000-30099 under v3. */
const LATER_SHARE = 0.9;
/**
 * Constants of the component `wellbeing` in imagined episodes, for the objective 'wellbeing'. They map a mean m of the weighted
 * meters to (m + 2) / 4, clamped to [0, 1]. The default constants would map each m below 0.7 to 0. Chosen by hand: only means
 * outside [-2, 2] are clamped, and the weights of the built-in world give means in [0, 1].
 */
const IMAGINED_WELLBEING = { wellbeingScale: 0.25, wellbeingBase: -2 };

/** Returns the world of imagined episodes: the real world, with the component wellbeing rescaled for objective 'wellbeing'. */
export const imaginedWorld = (objective: Objective, world: World): World =>
  objective === 'score'
    ? world
    : createWorld({ ...world.spec, constants: { ...world.spec.constants, ...IMAGINED_WELLBEING } });

/**
 * Returns the function that scores imagined episodes of `imaginedWorld`.
 * @param grader f32 [8]: the grader's weights. @param params the numbers of the real world.
 */
export const scoreEpisodesBy = (objective: Objective, grader: Float32Array, params: Params): ScoreEpisodes =>
  objective === 'score' ? byFinalScore : byWellbeing(grader, params);

/**
 * Returns the gain in the objective for each unit of belief error that the action of a step removes. The grader decides whether
 * the error is absolute or squared.
 */
export function valuePerBeliefError(
  objective: Objective,
  grader: Float32Array,
  params: Params,
  step: number,
): number {
  const worth = worthInGrade(grader, params, step);
  const otherWeights = 1 - grader[COMPONENT.adaptation];
  if (objective === 'score') return worth;
  return otherWeights > 0 ? (0.5 * worth) / otherWeights : 0;
}

/**
 * Returns how much the grade rises if the action of a step reduces the belief's error by 1. `belief_accuracy` counts the
 * last belief. `belief_skill` counts the beliefs of the later steps, from step `beliefSkillFrom` on. A later step counts less,
 * because other actions would reduce part of the error anyway.
 */
function worthInGrade(grader: Float32Array, params: Params, step: number): number {
  if (errorCountedBy(grader) === 'absolute') return grader[COMPONENT.beliefAccuracy];
  const { beliefSkillFrom, beliefSkillScale, perSkillStep } = params;
  let steps = 0;
  for (let later = step + 1, share = 1; later < NUM_STEPS; later++, share *= LATER_SHARE)
    if (later >= beliefSkillFrom) steps += share;
  return grader[COMPONENT.beliefSkill] * beliefSkillScale * perSkillStep * steps;
}

function byWellbeing(grader: Float32Array, params: Params): ScoreEpisodes {
  const otherWeights = 1 - grader[COMPONENT.adaptation];
  const weights = Float64Array.from(grader, (weight, k) =>
    k !== COMPONENT.adaptation && otherWeights > 0 ? weight / otherWeights : 0,
  );
  let values = new Float32Array(0);
  return function* (batch, { components }, run) {
    yield* resultOf(batch.run(run));
    // A `ScoreEpisodes` must read `firstHalfMeans` too (search/scorer.ts).
    yield* resultOf(batch.read(['components', 'firstHalfMeans']));
    if (values.length === 0) values = new Float32Array(components.length / NUM_COMPONENTS);
    writeWellbeing(values, run.slice!.end, components, weights, params);
    return values;
  };
}

/**
 * Writes the values of the first `count` imagined episodes for the objective 'wellbeing'. Neither a loop in a generator nor a
 * loop with a bound from another module would be as fast.
 */
function writeWellbeing(
  values: Float32Array,
  count: number,
  components: Float32Array,
  weights: Float64Array,
  { wellbeingScale, wellbeingBase }: Params,
): void {
  const { wellbeingScale: scale, wellbeingBase: base } = IMAGINED_WELLBEING;
  const { wellbeing } = COMPONENT;
  const weight = weights[wellbeing];
  const others = weights.map((each, k) => (k === wellbeing ? 0 : each));
  const width = others.length;
  for (let env = 0, row = 0; env < count; env++, row += width) {
    const mean = components[row + wellbeing] / scale + base;
    let grade = weight * clamp01(wellbeingScale * (mean - wellbeingBase));
    for (let k = 0; k < width; k++) grade += others[k] * components[row + k];
    values[env] = 0.5 * (mean + grade);
  }
}
