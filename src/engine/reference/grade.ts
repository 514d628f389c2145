/** The grade of a finished episode (docs/world.md, The grade): beliefs, six components and their weighted sum. */
import type { Params } from '../../world/block.js';
import { METER_NAMES, NUM_COMPONENTS } from '../../world/fields.js';
import { clamp01 } from './profile.js';

const f32 = Math.fround;
const PROGRESS = METER_NAMES.indexOf('progress');
const CONNECTION = METER_NAMES.indexOf('connection');

/** The part of an episode's state that the grade depends on. */
export interface GradedState {
  /** f32 [5], at the end. */
  readonly meters: Float32Array;
  readonly crashes: number;
  readonly early: number;
  readonly late: number;
  /** f32 [3]; three times 0.5 if no belief was given. */
  readonly belief: Float32Array;
  readonly given: boolean;
  /** f32 [6]. */
  readonly grader: Float32Array;
}

/** Rule 9: belief. Returns a given number as float32, clamped to [0, 1], and +0 if below `smallest`. */
export function clampBelief(x: number, smallest: number): number {
  const clamped = clamp01(f32(x));
  return clamped < smallest ? 0 : clamped;
}

/** Returns the mean absolute error of a belief against the target, in [0, 1]. */
export function beliefMae(params: Params, belief: Float32Array, target: Float32Array): number {
  const error = (k: number): number => Math.abs(f32(belief[k] - target[k]));
  return f32(f32(f32(error(0) + error(1)) + error(2)) * params.perBelief);
}

/** Returns the mean reward of half an episode, from its sum. */
export function halfMean(params: Params, sum: number): number {
  return f32(sum * params.perHalf);
}

function adaptation(params: Params, firstHalfMean: number, secondHalfMean: number): number {
  const gain = clamp01(f32(params.adaptationScale * f32(secondHalfMean - firstHalfMean)));
  return f32(gain * clamp01(f32(params.adaptationGateOffset + secondHalfMean)));
}

/** Writes the six components, in the order of the grader's weights. */
export function gradeComponents(params: Params, state: GradedState, mae: number, out: Float32Array): void {
  out[0] = f32(1 - f32(state.crashes * params.perReading));
  out[1] = state.meters[PROGRESS];
  out[2] = state.meters[CONNECTION];
  out[3] = adaptation(params, halfMean(params, state.early), halfMean(params, state.late));
  out[4] = clamp01(f32(0.5 + f32(0.5 * f32(f32(state.early + state.late) * params.perStep))));
  out[5] = state.given ? f32(1 - mae) : 0;
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
