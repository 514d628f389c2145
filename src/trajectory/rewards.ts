/** The reward stack of one step of an episode. */
import { beliefMae } from '../reference/grade.js';
import { rewardStack } from '../rollout/reward-stack.js';
import { NO_ACTION } from '../validate/actions.js';
import type { World } from '../world/world.js';
import type { StoredRewards } from './episode.js';
import type { Played } from './move.js';

/** @param reward of the step. @param target f32 [3], the person's. */
export function rewardsOf(
  world: World,
  { action, parsed, belief }: Pick<Played, 'action' | 'parsed' | 'belief'>,
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
