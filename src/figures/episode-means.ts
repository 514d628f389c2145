/** Reduces many episodes to the data of figures: the most frequent actions, percentiles of the meters, and mean rewards, by step. */

import { rewardNoise } from '../engine/reference/rules.js';
import { threefry } from '../engine/reference/threefry.js';
import { checkLength } from '../shared/values.js';
import { NUM_ACTIONS, NUM_METERS, NUM_STEPS } from '../world/fields.js';
import { createWorld, type World } from '../world/world.js';

/** The first step of the second half (docs/world.md, rule 8). */
export const SECOND_HALF = NUM_STEPS / 2;

/**
 * Returns the most frequent action of each step, the lowest code if several are equally frequent.
 * @param actions i8 [n, 28]: action codes of whole episodes, such as a run's `trajectory.actions`; n is at least 1.
 * @returns u8 [28].
 * @throws InputError `wrong_length`.
 */
export function commonActionsOf(actions: ArrayLike<number>): Uint8Array {
  const episodes = Math.max(1, Math.floor(actions.length / NUM_STEPS));
  checkLength('actions', actions.length, episodes * NUM_STEPS, `${episodes} x ${NUM_STEPS}`);
  const counts = new Uint32Array(NUM_STEPS * NUM_ACTIONS);
  for (let i = 0; i < actions.length; i++) counts[(i % NUM_STEPS) * NUM_ACTIONS + actions[i]]++;
  return Uint8Array.from({ length: NUM_STEPS }, (_, step) => {
    const row = counts.subarray(step * NUM_ACTIONS, (step + 1) * NUM_ACTIONS);
    return row.indexOf(Math.max(...row));
  });
}

/** The percentiles of bands, ascending: the median and two bands around it. */
export const PERCENTILES = [10, 25, 50, 75, 90] as const;

/** Percentiles of the meters, by step. */
export interface Bands {
  /** The number of episodes. */
  readonly episodes: number;
  /** f64 [5, 28, 5], row-major: percentile (of PERCENTILES), step, meter. In [0, 1]. */
  readonly values: Float64Array;
}

/**
 * Returns the percentiles of each meter after each step, interpolated between episodes.
 * @param meters f32 [n, 28, 5], row-major, such as a run's `trajectory.meters`; n is at least 1.
 * @throws InputError `wrong_length`.
 */
export function bandsOf(meters: Float32Array): Bands {
  const width = NUM_STEPS * NUM_METERS;
  const episodes = Math.max(1, Math.floor(meters.length / width));
  checkLength('meters', meters.length, episodes * width, `${episodes} x ${NUM_STEPS} x ${NUM_METERS}`);
  const values = new Float64Array(PERCENTILES.length * width);
  const column = new Float32Array(episodes);
  for (let k = 0; k < width; k++) {
    for (let i = 0; i < episodes; i++) column[i] = meters[i * width + k];
    column.sort();
    PERCENTILES.forEach((percentile, p) => {
      values[p * width + k] = quantile(column, percentile / 100);
    });
  }
  return { episodes, values };
}

/** Returns a quantile, interpolated linearly. @param sorted ascending. */
function quantile(sorted: Float32Array, share: number): number {
  const position = share * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

/** Mean rewards without noise. */
export interface StepRewards {
  /** [28]: means over episodes. */
  readonly steps: ArrayLike<number>;
  /** The mean reward of each half, as in the grade. */
  readonly firstHalf: number;
  readonly secondHalf: number;
}

/** The data of a run of complete episodes. */
export interface RewardedRun {
  /** f32 [n, 28], by step. */
  readonly rewards: Float32Array;
  /** f32 [n]. */
  readonly finalScores: Float32Array;
  /** u32 [n]: the seeds, which determine the noise. */
  readonly seeds: ArrayLike<number>;
}

/**
 * Returns mean rewards without noise, and without the grade in the last reward.
 * @param run a run without imagination, because imagined episodes have other noise. @throws InputError `wrong_length`.
 */
export function stepRewardsOf(run: RewardedRun, world: World = createWorld()): StepRewards {
  const episodes = run.seeds.length;
  checkLength('rewards', run.rewards.length, episodes * NUM_STEPS, `${episodes} x ${NUM_STEPS}`);
  checkLength('final scores', run.finalScores.length, episodes, 'one for each seed');
  const steps = new Float64Array(NUM_STEPS);
  for (let i = 0; i < episodes; i++) {
    for (let step = 0; step < NUM_STEPS; step++) {
      steps[step] += (run.rewards[i * NUM_STEPS + step] - noiseOf(world, run.seeds[i], step)) / episodes;
    }
    steps[NUM_STEPS - 1] -= (world.params.terminalScale * (run.finalScores[i] - 0.5)) / episodes;
  }
  return {
    steps,
    firstHalf: mean(steps.subarray(0, SECOND_HALF)),
    secondHalf: mean(steps.subarray(SECOND_HALF)),
  };
}

const draws = { x0: 0, x1: 0 };

/** Returns the noise in the reward of a step. */
function noiseOf({ params }: World, seed: number, step: number): number {
  threefry(seed, params.streamNoise, step, 0, draws);
  return rewardNoise(params, draws);
}

const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
