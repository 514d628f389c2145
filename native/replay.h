// Replays rows. Each row is a separate episode: it begins, plays its history, and takes one more step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel.h"

namespace rhythm {

// The columns of a replay and its output arrays, as in the backend request.
struct Replay {
  const uint32_t* order;  // row numbers; rows that continue the same state should be neighbours
  size_t count;
  const uint32_t* seeds;
  const uint8_t* modes;
  const float* profiles;  // null: no row has mode `given`
  const float* grader;
  const uint8_t* stops;
  const uint8_t* histories;
  const int8_t* actions;
  const float* beliefs;  // null: no row has a belief
  const uint8_t* given;  // null if `beliefs` is null
  const float* belief_histories;  // null: no history has a belief
  const uint8_t* history_given;   // null if `belief_histories` is null
  float* rewards;
  float* belief_mae;
  float* belief_skill;
  uint64_t* hashes;
};

// Returns the rows of a replay by history length, and rows of one length in their order.
std::vector<uint32_t> order_by_length(const Replay& replay);

// Tiles of episodes with the outputs that a replay reads, small enough to stay in the first-level cache.
template <int Tiles>
struct alignas(64) ReplayTiles {
  static constexpr int kEnvs = Tiles * kTileLanes;
  Tile states[Tiles];
  float rewards[kEnvs];
  uint8_t final_mask[kEnvs];
};

// Replays rows that are ordered by history length. A tile has up to sixteen states with equally long histories. A state that
// several rows continue is computed once and forked.
class Replayer {
 public:
  Replayer(const Kernel& kernel, const Tables& tables, const Replay& replay);
  // Plays the rows order[first] to order[last - 1].
  void play(size_t first, size_t last);

 private:
  // Tiles that are replayed together. A hash is a chain of dependent operations; those of several tiles overlap.
  static constexpr int kTiles = 4;
  static constexpr int kStates = kTiles * kTileLanes;
  // The maximum number of rows that continue the states of a tile.
  static constexpr size_t kMaxRows = 16 * kTileLanes;

  size_t prepare_states(int tile, size_t first, size_t last);
  bool same_state(uint32_t row, uint32_t other) const;
  void prefetch(size_t row) const;
  bool reads_beliefs(uint32_t row) const;
  bool same_beliefs(size_t row, size_t other) const;
  void add_state(int state, uint32_t row);
  void reset(int tiles, const float* graders);
  void replay_histories(int tiles);
  void step_tile(int tile, size_t first, size_t last);
  void step_rows(int tile, size_t first, size_t last, const uint32_t* state_lanes, bool in_place);

  const Kernel& kernel_;
  const Tables& tables_;
  const Replay& replay_;
  ReplayTiles<kTiles> replayed_ = {};
  ReplayTiles<1> forked_ = {};
  int states_[kTiles] = {};           // the number of states in each tile
  uint32_t lanes_[kTiles][kMaxRows];  // for each row of a tile: the lane of its state
  uint32_t seeds_[kStates] = {};
  uint8_t modes_[kStates] = {};
  uint8_t stops_[kStates] = {};
  float profiles_[kStates][world::count::ProfileFloats] = {};
  uint8_t histories_[kStates][world::count::Steps] = {};
  float belief_histories_[kStates][world::count::Steps][world::count::Beliefs] = {};
  uint8_t history_given_[kStates][world::count::Steps] = {};
  uint64_t hashes_[kStates];
};

}  // namespace rhythm
