// Replays rows. Each row is a separate episode: it begins, plays its history, and takes one more step.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernel.h"

namespace rhythm {

// The columns of a replay and its output arrays, as in the backend request.
struct Replay {
  const uint32_t* order;  // row numbers, grouped by history length and then by the state that they continue
  size_t count;
  const uint32_t* seeds;
  const uint8_t* modes;
  const float* profiles;  // null: no row has mode `given`
  const float* grader;
  const uint8_t* stops;
  const uint8_t* histories;
  const int8_t* actions;
  const float* beliefs;  // null: no row gives a belief
  const uint8_t* given;  // null if `beliefs` is null
  const float* belief_histories;  // null: no history gives a belief
  const uint8_t* history_given;   // null if `belief_histories` is null
  float* rewards;
  float* belief_mae;
  float* belief_skill;
  uint64_t* hashes;
};

// A tile of episodes with its outputs, small enough to stay in the first-level cache.
struct alignas(64) ReplayTile {
  Tile state;
  float observations[world::count::ObservationFloats][kTileLanes];
  float components[world::count::Components][kTileLanes];
  float rewards[kTileLanes], final_scores[kTileLanes], belief_mae[kTileLanes];
  float first_half_means[kTileLanes], second_half_means[kTileLanes], returns[kTileLanes];
  int32_t lengths[kTileLanes];
  uint8_t terminated[kTileLanes], final_mask[kTileLanes];

  Envs envs(const Tables& tables);
};

// Plays rows, sixteen states at a time. A state that several rows continue is computed once and forked.
class Replayer {
 public:
  Replayer(const Kernel& kernel, const Tables& tables, const Replay& replay);
  // Plays the rows order[first] to order[last - 1].
  void play(size_t first, size_t last);

 private:
  // The maximum number of rows that continue one set of states. A set has at most sixteen states.
  static constexpr size_t kMaxRows = 16 * kTileLanes;

  size_t prepare_states(size_t first, size_t last);
  bool same_state(uint32_t row, uint32_t other) const;
  bool same_beliefs(size_t row, size_t other) const;
  void add_state(uint32_t row);
  void replay_histories();
  void step_rows(size_t first, size_t last, const uint32_t* state_lanes, bool in_place);
  void put_errors(size_t row, const float* belief, const float* target) const;

  const Kernel& kernel_;
  const Tables& tables_;
  const Replay& replay_;
  ReplayTile replayed_ = {}, forked_ = {};
  int states_ = 0;
  uint32_t lanes_[kMaxRows];  // for each row: the lane of its state
  uint32_t seeds_[kTileLanes] = {};
  uint8_t modes_[kTileLanes] = {};
  uint8_t stops_[kTileLanes] = {};
  float profiles_[kTileLanes][world::count::ProfileFloats] = {};
  float graders_[kTileLanes][world::count::Components];
  uint8_t histories_[kTileLanes][world::count::Steps] = {};
  float belief_histories_[kTileLanes][world::count::Steps][world::count::Beliefs] = {};
  uint8_t history_given_[kTileLanes][world::count::Steps] = {};
  uint64_t hashes_[kTileLanes];
  float targets_[kTileLanes][world::count::Beliefs];
};

}  // namespace rhythm
