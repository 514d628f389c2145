/** Computes the reward stack (docs/world.md) of one step, as trajectories store it. */
import { beliefMae, clampSkill, skillTerm } from '../../engine/reference/grade.js';
import { NO_ACTION } from '../../engine/validate/actions.js';
import type { World } from '../../world/world.js';
import { rewardStack } from '../rewards/reward-stack.js';
import type { PlayedMove } from './move.js';
import type { StoredRewards } from './trajectory-episode.js';

/** The names of the rewards of a step. */
export const STORED_REWARDS: readonly (keyof StoredRewards)[] = [
  'format_valid',
  'action_legal',
  'env_reward',
  'belief_accuracy',
  'belief_skill',
];

/** Returns the rewards of a step. @param reward the step's reward. @param target f32 [3], the profile's belief target. */
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
    beliefSkill: [belief === null ? 0 : clampSkill(skillTerm(world.params, belief, target))],
  });
  return {
    format_valid: stack.formatValid[0],
    action_legal: stack.actionLegal[0],
    env_reward: stack.envReward[0],
    belief_accuracy: stack.beliefAccuracy[0],
    belief_skill: stack.beliefSkill[0],
  };
}
