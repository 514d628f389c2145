#include "replay.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rhythm {

namespace block = world::block;
namespace count = world::count;

Envs ReplayTile::envs(const Tables& tables) {
  const Outputs out = {observations[0], nullptr,     components[0], rewards, final_scores, belief_mae, first_half_means,
                       second_half_means,      returns,     lengths,       terminated, final_mask, kTileLanes};
  return {&tables, &state, kTileLanes, out};
}

Replayer::Replayer(const Kernel& kernel, const Tables& tables, const Replay& replay)
    : kernel_(kernel), tables_(tables), replay_(replay) {
  for (auto& grader : graders_) std::copy_n(replay.grader, count::Components, grader);
}

void Replayer::play(size_t first, size_t last) {
  while (first < last) {
    const size_t end = prepare_states(first, last);
    replay_histories();
    const bool in_place = end - first == static_cast<size_t>(states_);
    for (size_t at = first; at < end; at += kTileLanes) {
      step_rows(at, std::min(at + kTileLanes, end), lanes_ + (at - first), in_place);
    }
    first = end;
  }
}

// Collects up to sixteen states with equally long histories, which run fastest as one tile, and the rows that continue
// these states. Returns the end of the rows.
size_t Replayer::prepare_states(size_t first, size_t last) {
  const uint32_t* order = replay_.order;
  states_ = 0;
  size_t k = first;
  for (; k < last && k - first < kMaxRows; k++) {
    if (k == first || !same_state(order[k], order[k - 1])) {
      const bool fits = states_ < kTileLanes && replay_.stops[order[k]] == replay_.stops[order[first]];
      if (k != first && !fits) break;
      add_state(order[k]);
    }
    lanes_[k - first] = static_cast<uint32_t>(states_ - 1);
  }
  // Unused lanes run too, with any valid mode.
  std::fill(modes_ + states_, modes_ + kTileLanes, modes_[0]);
  std::fill(stops_ + states_, stops_ + kTileLanes, stops_[0]);
  return k;
}

// Returns whether two rows continue the same state.
bool Replayer::same_state(uint32_t row, uint32_t other) const {
  const Replay& r = replay_;
  if (r.seeds[row] != r.seeds[other] || r.stops[row] != r.stops[other] || r.modes[row] != r.modes[other]) return false;
  const auto equal = [&](const auto* rows, size_t width, size_t length) {
    return std::memcmp(rows + row * width, rows + other * width, length * sizeof(*rows)) == 0;
  };
  if (!equal(r.histories, count::Steps, r.stops[row])) return false;
  if (r.belief_histories != nullptr && !same_beliefs(row, other)) return false;
  return r.profiles == nullptr || equal(r.profiles, count::ProfileFloats, count::ProfileFloats);
}

// Returns whether two rows with equally long histories have the same belief histories.
bool Replayer::same_beliefs(size_t row, size_t other) const {
  const Replay& r = replay_;
  for (size_t t = 0; t < r.stops[row]; t++) {
    const size_t a = row * count::Steps + t, b = other * count::Steps + t;
    if (r.history_given[a] != r.history_given[b]) return false;
    if (r.history_given[a] == 0) continue;
    const size_t bytes = count::Beliefs * sizeof(float);
    if (std::memcmp(r.belief_histories + a * count::Beliefs, r.belief_histories + b * count::Beliefs, bytes) != 0) return false;
  }
  return true;
}

// Adds the state that a row continues.
void Replayer::add_state(uint32_t row) {
  const int lane = states_++;
  const size_t at = row;
  seeds_[lane] = replay_.seeds[at];
  modes_[lane] = replay_.modes[at];
  stops_[lane] = replay_.stops[at];
  // Entries after the history are not played.
  std::copy_n(replay_.histories + at * count::Steps, count::Steps, histories_[lane]);
  if (replay_.belief_histories != nullptr) {
    constexpr size_t floats = count::Steps * count::Beliefs;
    std::copy_n(replay_.belief_histories + at * floats, floats, belief_histories_[lane][0]);
    std::copy_n(replay_.history_given + at * count::Steps, count::Steps, history_given_[lane]);
  }
  if (replay_.profiles == nullptr) return;
  std::copy_n(replay_.profiles + at * count::ProfileFloats, count::ProfileFloats, profiles_[lane]);
}

// Plays the histories of the collected states.
void Replayer::replay_histories() {
  const Envs envs = replayed_.envs(tables_);
  const float* profiles = replay_.profiles == nullptr ? nullptr : profiles_[0];
  kernel_.reset(envs, {nullptr, seeds_, modes_, profiles, graders_[0], false, nullptr, nullptr}, 0, 1);
  Run run = {};
  run.policy = Policy::Sequence;
  run.actions = histories_[0];
  run.stops = stops_;
  if (replay_.belief_histories != nullptr) {
    run.beliefs = belief_histories_[0][0];
    run.given = history_given_[0];
  }
  kernel_.run(envs, run, 0, 1);
  kernel_.hash(envs, hashes_, 0, 1);
  kernel_.targets(envs, targets_[0], 0, 1);
}

// Takes the step of at most sixteen rows. With `in_place`, row k is the only row that continues the state of lane k.
void Replayer::step_rows(size_t first, size_t last, const uint32_t* state_lanes, bool in_place) {
  const size_t rows = last - first;
  uint8_t actions[kTileLanes] = {}, given[kTileLanes] = {}, steps[kTileLanes];
  float beliefs[kTileLanes][count::Beliefs] = {};
  uint32_t lanes[kTileLanes] = {};
  std::fill_n(steps, kTileLanes, uint8_t{1});
  bool all_step = true;
  for (size_t k = 0; k < rows; k++) {
    const size_t row = replay_.order[first + k];
    lanes[k] = state_lanes[k];
    steps[k] = replay_.actions[row] >= 0;
    actions[k] = steps[k] ? static_cast<uint8_t>(replay_.actions[row]) : 0;
    all_step = all_step && steps[k];
    if (replay_.beliefs == nullptr) continue;
    given[k] = replay_.given[row];
    std::copy_n(replay_.beliefs + row * count::Beliefs, count::Beliefs, beliefs[k]);
  }
  ReplayTile& tile = in_place ? replayed_ : forked_;
  if (!in_place) kernel_.gather(tile.envs(tables_), {&replayed_.state, replayed_.envs(tables_).out, lanes}, 0, 1);
  const bool believes = replay_.beliefs != nullptr;
  const Step step = {actions, believes ? beliefs[0] : nullptr, believes ? given : nullptr, all_step ? nullptr : steps};
  kernel_.step(tile.envs(tables_), step, 0, 1);
  for (size_t k = 0; k < rows; k++) {
    const size_t row = replay_.order[first + k];
    if (steps[k]) replay_.rewards[row] = tile.rewards[k];
    put_errors(row, given[k] ? beliefs[k] : nullptr, targets_[lanes[k]]);
    replay_.hashes[row] = hashes_[lanes[k]];
  }
}

// Stores the mean absolute error of a belief after rule 9 (docs/world.md), and its term of belief_skill. Without a belief,
// stores the error of [0.5, 0.5, 0.5], and -1.
void Replayer::put_errors(size_t row, const float* belief, const float* target) const {
  const float* w = tables_.f;
  float error[count::Beliefs];
  for (int k = 0; k < count::Beliefs; k++) {
    const float given = belief == nullptr ? 0.5f : std::min(belief[k], 1.0f);
    error[k] = (given < w[block::SmallestBelief] ? 0.0f : given) - target[k];
  }
  const float sum = (std::fabs(error[0]) + std::fabs(error[1])) + std::fabs(error[2]);
  const float squares = (error[0] * error[0] + error[1] * error[1]) + error[2] * error[2];
  replay_.belief_mae[row] = sum * w[block::PerBelief];
  const float term = 1.0f - w[block::BeliefSkillScale] * (squares * w[block::PerBelief]);
  replay_.belief_skill[row] = belief == nullptr ? -1.0f : std::clamp(term, -1.0f, 1.0f);
}

}  // namespace rhythm
