/** Computes the reward stack of one step, as trajectories store it. */
import { beliefMae } from '../../engine/reference/grade.js';
import { NO_ACTION } from '../../engine/validate/actions.js';
import type { World } from '../../world/world.js';
import { rewardStack } from '../rewards/reward-stack.js';
import type { PlayedMove } from './move.js';
import type { StoredRewards } from './trajectory-episode.js';

/** @param reward the reward of the step. @param target f32 [3], the profile's belief target. */
export function storedRewardsOf(
  world: World,
  { action, parsed, belief }: Pick<PlayedMove, 'action' | 'parsed' | 'belief'>,
  reward: number,
  target: Float32Array,
): StoredRewards {
  const stack = rewardStack({
    actions: [parsed ? action : NO_ACTION],
    given: [belief !== null],
    stepRewards: [reward],
    beliefMae: [belief === null ? 0 : beliefMae(world.params, belief, target)],
  });
  return {
    format_valid: stack.formatValid[0],
    action_legal: stack.actionLegal[0],
    env_reward: stack.envReward[0],
    belief_accuracy: stack.beliefAccuracy[0],
  };
}
