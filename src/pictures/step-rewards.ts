/** From trajectories to what each step of the week pays, as the grade counts it. */
import { rewardLuck } from '../reference/step.js';
import { threefry } from '../reference/threefry.js';
import { checkLength } from '../validate/values.js';
import { NUM_STEPS } from '../world/fields.js';
import { createWorld, type World } from '../world/world.js';
import { LATE } from './week.js';

export interface StepRewards {
  /** [28], means over episodes. */
  readonly steps: ArrayLike<number>;
  /** Their means over each half, the grade's early_mean and late_mean. */
  readonly early: number;
  readonly late: number;
}

/** What is needed of a run from the beginning to the end of its weeks. */
export interface RewardedRun {
  /** f32 [n, 28], of the trajectory. */
  readonly rewards: Float32Array;
  /** f32 [n]. */
  readonly finalScores: Float32Array;
  /** u32 [n]: which luck each episode had. */
  readonly seeds: ArrayLike<number>;
}

/**
 * Mean rewards, less what a trajectory's rewards hold beside: luck, and the grade in the last step's.
 * @param run of real episodes, not imagined ones. @throws InputError `wrong_length`.
 */
export function stepRewardsOf(run: RewardedRun, world: World = createWorld()): StepRewards {
  const episodes = run.seeds.length;
  checkLength('rewards', run.rewards.length, episodes * NUM_STEPS, `${episodes} x ${NUM_STEPS}`);
  checkLength('final scores', run.finalScores.length, episodes, 'one a seed');
  const steps = new Float64Array(NUM_STEPS);
  for (let i = 0; i < episodes; i++) {
    for (let step = 0; step < NUM_STEPS; step++) {
      steps[step] += (run.rewards[i * NUM_STEPS + step] - luckOf(world, run.seeds[i], step)) / episodes;
    }
    steps[NUM_STEPS - 1] -= (world.params.terminalScale * (run.finalScores[i] - 0.5)) / episodes;
  }
  return { steps, early: mean(steps.subarray(0, LATE)), late: mean(steps.subarray(LATE)) };
}

const noise = { x0: 0, x1: 0 };

function luckOf({ params }: World, seed: number, step: number): number {
  threefry(seed, params.streamNoise, step, 0, noise);
  return rewardLuck(params, noise);
}

const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
