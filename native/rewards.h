// Computes the reward stack of scored completions (docs/world.md, The GRPO reward stack).
#pragma once
#include <cstddef>
#include <cstdint>

namespace rhythm {

// The numbers of the stack, in the order in which src/rollouts/rewards/compute-rewards.ts and rhythm_vec.replay pass them.
struct RewardNumbers {
  // The rewards if the answer is valid or not, if there is a legal action or not, and for missing actions and beliefs.
  double valid, invalid, legal, illegal, no_action, best_belief, no_belief, no_skill;
  // Shaping: the reward for few different actions among the last `window`, and for an action that is new in the episode if few
  // were taken before it. `repeats` and `explores` are not 0 if a term applies.
  double repetition, window, most_distinct, exploration, least_distinct, repeats, explores;
  // The weights of the five rewards in the total.
  double weights[5];
};
constexpr size_t kRewardNumbers = sizeof(RewardNumbers) / sizeof(double);

// Rows of completions. NaN stands for a missing number.
struct RewardRows {
  size_t count;
  const int8_t* actions;  // -1 for none
  const uint8_t* given;   // not 0 where a belief parsed
  const double* step_rewards;
  const double* belief_mae;
  const double* belief_skill;  // null: missing in all rows
  const uint8_t* histories;    // u8 [count, 28]: earlier actions; null without shaping
  const uint8_t* stops;        // the numbers of earlier actions
};

// The rewards and their weighted sums, f32 [count] each.
struct RewardColumns {
  float *format_valid, *action_legal, *env_reward, *belief_accuracy, *belief_skill, *total;
};

// Computes the rewards of all rows, also of rows whose other columns are invalid. `window` must be at least 1. Rows have histories
// and stops, or neither.
void stack_rewards(const RewardNumbers& numbers, const RewardRows& rows, const RewardColumns& out);

}  // namespace rhythm
