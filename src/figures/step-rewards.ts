/** Computes the mean reward of each step from trajectories, without the noise, and without the grade in the last reward. */
import { rewardNoise } from '../engine/reference/rules.js';
import { threefry } from '../engine/reference/threefry.js';
import { checkLength } from '../shared/values.js';
import { NUM_STEPS } from '../world/fields.js';
import { createWorld, type World } from '../world/world.js';
import { SECOND_HALF } from './episode-axis.js';

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
