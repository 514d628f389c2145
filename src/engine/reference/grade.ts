/** The grade of a finished episode (docs/world.md, The grade): beliefs, eight components and their weighted sum. */
import type { Params } from '../../world/block.js';
import { METER, NUM_COMPONENTS } from '../../world/fields.js';
import { clamp01 } from './profile.js';

const f32 = Math.fround;

/** The part of an episode's state that the grade depends on. */
export interface GradedState {
  /** f32 [5], at the end. */
  readonly meters: Float32Array;
  /** The number of meters below the crash threshold, summed over all steps. */
  readonly crashes: number;
  /** Sums of the noiseless rewards of the first and of the last 14 steps. */
  readonly early: number;
  readonly late: number;
  /** Sum of the weighted meters after each step. */
  readonly well: number;
  /** Sum of the terms of `belief_skill`. */
  readonly skill: number;
  /** f32 [3]; 0.5 each if no belief was given. */
  readonly belief: Float32Array;
  readonly given: boolean;
  /** f32 [8]: the weights. */
  readonly grader: Float32Array;
}

/**
 * Rule 9: belief. Returns a belief's term of `belief_skill`: 1 minus a multiple of its mean squared error. It is 1 for the
 * truth, and 0 on average over sampled profiles for the belief [0.5, 0.5, 0.5].
 */
export function skillTerm(params: Params, belief: Float32Array, target: Float32Array): number {
  const square = (k: number): number => {
    const error = f32(belief[k] - target[k]);
    return f32(error * error);
  };
  const q = f32(f32(f32(square(0) + square(1)) + square(2)) * params.perBelief);
  return f32(1 - f32(params.beliefSkillScale * q));
}

/** Clamps to [-1, 1], the range of `belief_skill`. */
export const clampSkill = (x: number): number => Math.min(Math.max(x, -1), 1);

/** Returns the mean absolute error of a belief against the target, in [0, 1]. */
export function beliefMae(params: Params, belief: Float32Array, target: Float32Array): number {
  const error = (k: number): number => Math.abs(f32(belief[k] - target[k]));
  return f32(f32(f32(error(0) + error(1)) + error(2)) * params.perBelief);
}

/** Returns the mean reward of half an episode, from its sum. */
export function halfMean(params: Params, sum: number): number {
  return f32(sum * params.perHalf);
}

/** Returns the component `wellbeing`, from the sum of the weighted meters. */
function wellbeing(params: Params, well: number): number {
  return clamp01(f32(params.wellbeingScale * f32(f32(well * params.perStep) - params.wellbeingBase)));
}

/** Returns the component `adaptation`: the scaled improvement, times a factor that falls to 0 for a poor second half. */
function adaptation(params: Params, firstHalfMean: number, secondHalfMean: number): number {
  const improvement = clamp01(f32(params.adaptationScale * f32(secondHalfMean - firstHalfMean)));
  return f32(improvement * clamp01(f32(params.adaptationGateOffset + secondHalfMean)));
}

/**
 * Writes the components to `out`: crash_free, progress, connection, adaptation, efficiency, belief_accuracy, wellbeing and
 * belief_skill. @param mae the `beliefMae` of the last belief.
 */
export function gradeComponents(params: Params, state: GradedState, mae: number, out: Float32Array): void {
  // A reading is the value of one meter after one step.
  out[0] = f32(1 - f32(state.crashes * params.perReading));
  out[1] = state.meters[METER.progress];
  out[2] = state.meters[METER.connection];
  out[3] = adaptation(params, halfMean(params, state.early), halfMean(params, state.late));
  out[4] = clamp01(f32(0.5 + f32(0.5 * f32(f32(state.early + state.late) * params.perStep))));
  out[5] = state.given ? f32(1 - mae) : 0;
  out[6] = wellbeing(params, state.well);
  out[7] = clampSkill(f32(state.skill * params.perSkillStep));
}

/** Returns the final score in [0, 1]: the components under a grader's weights, summed left to right. */
export function finalScore(grader: Float32Array, components: Float32Array): number {
  let sum = f32(grader[0] * components[0]);
  for (let k = 1; k < NUM_COMPONENTS; k++) sum = f32(sum + f32(grader[k] * components[k]));
  return clamp01(sum);
}

/** Rule 10: time. Returns the term that the grade adds to the last reward. */
export function terminalReward(params: Params, score: number): number {
  return f32(params.terminalScale * f32(score - 0.5));
}
