// Computes the rewards row by row. rewards.h explains the numbers.
#include "rewards.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "generated/world.h"

namespace rhythm {

namespace {

constexpr size_t kSteps = world::count::Steps;

// Returns how many different actions are among `count` codes, the bits of `more` included.
int distinct(const uint8_t* codes, size_t count, uint32_t more, uint32_t& set) {
  set = more;
  for (size_t k = 0; k < count; k++) set |= uint32_t{1} << (codes[k] & 31);
  int found = 0;
  for (uint32_t rest = set; rest != 0; rest &= rest - 1) found++;
  return found;
}

// Returns a step's reward plus the shaping terms of its action. Each addition rounds to float32.
float shaped(const RewardNumbers& numbers, float reward, int action, const uint8_t* history, size_t stop) {
  const uint32_t own = uint32_t{1} << (action & 31);
  uint32_t set;
  const auto before = static_cast<size_t>(numbers.window) - 1;
  if (numbers.repeats != 0 && stop >= before && distinct(history + stop - before, before, own, set) <= numbers.most_distinct) {
    reward = reward + static_cast<float>(numbers.repetition);
  }
  if (numbers.explores != 0 && distinct(history, stop, 0, set) < numbers.least_distinct && (set & own) == 0) {
    reward = reward + static_cast<float>(numbers.exploration);
  }
  return reward;
}

}  // namespace

void stack_rewards(const RewardNumbers& n, const RewardRows& rows, const RewardColumns& out) {
  for (size_t row = 0; row < rows.count; row++) {
    const bool has_action = rows.actions[row] >= 0, has_belief = rows.given[row] != 0;
    const double valid = has_action && has_belief ? n.valid : n.invalid, legal = has_action ? n.legal : n.illegal;
    float env = static_cast<float>(has_action ? rows.step_rewards[row] : n.no_action);
    if (has_action && rows.histories != nullptr) {
      env = shaped(n, env, rows.actions[row], rows.histories + row * kSteps, std::min<size_t>(rows.stops[row], kSteps));
    }
    const auto accuracy = static_cast<float>(has_belief ? n.best_belief - rows.belief_mae[row] : n.no_belief);
    const double term = rows.belief_skill == nullptr ? std::numeric_limits<double>::quiet_NaN()
                        : has_belief                 ? rows.belief_skill[row]
                                                     : n.no_skill;
    const auto skill = static_cast<float>(term);
    out.format_valid[row] = static_cast<float>(valid);
    out.action_legal[row] = static_cast<float>(legal);
    out.env_reward[row] = env;
    out.belief_accuracy[row] = accuracy;
    out.belief_skill[row] = skill;
    // In float64, rounded once. Missing rewards are left out.
    double sum = n.weights[0] * valid + n.weights[1] * legal;
    if (!std::isnan(env)) sum = sum + n.weights[2] * env;
    if (!std::isnan(accuracy)) sum = sum + n.weights[3] * accuracy;
    // Skips a weight of 0, because adding 0 would turn a sum of -0 into +0.
    if (n.weights[4] != 0 && !std::isnan(skill)) sum = sum + n.weights[4] * skill;
    out.total[row] = static_cast<float>(sum);
  }
}

}  // namespace rhythm
