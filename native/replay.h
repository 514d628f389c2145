// Replays rows. A row begins an episode, plays its history, and takes one more step unless its action is negative.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel.h"

namespace rhythm {

// The columns of a replay and its output arrays, as in ReplayRequest of src/engine/backends/backend.ts.
struct Replay {
  const uint32_t* order;  // row numbers; a state is computed once if the rows that continue it are neighbours here
  size_t count;
  const uint32_t* seeds;
  const uint8_t* modes;
  const float* profiles;  // null: no row has mode `given`
  const float* grader;
  const uint8_t* stops;  // the lengths of the histories
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

// Neighbouring rows order[begin] to order[end - 1] of one episode. Each history equals the one before, or continues it by one
// action. So a replay of the last history reaches the states of all rows, one after the other.
struct Chain {
  uint32_t begin, end;
  uint8_t first_stop, last_stop;  // the lengths of the first and the last history
};

// Returns the chains of a replay, sorted by the length of the last history, then of the first. Ties keep their order.
std::vector<Chain> chains_of(const Replay& replay);

// Tiles of episodes with the outputs that a replay reads, small enough to stay in the first-level cache.
template <int Tiles>
struct alignas(64) ReplayTiles {
  static constexpr int kEnvs = Tiles * kTileLanes;
  Tile states[Tiles];
  float rewards[kEnvs];
  uint8_t final_mask[kEnvs];
};

// Replays chains. A tile (kernel.h) has up to sixteen chains whose last histories are equally long, so that its lanes play the
// same steps. The replay stops at each state that a row continues, the shortest histories first. A state that several rows
// continue is computed once and forked.
class Replayer {
 public:
  Replayer(const Kernel& kernel, const Tables& tables, const Replay& replay);
  // Plays the rows of chains [first, last).
  void play(const Chain* first, const Chain* last);

 private:
  // The number of tiles that are replayed together. The operations of one hash depend on each other, but the processor
  // overlaps the hashes of several tiles. Four is chosen by hand: more tiles need more of the first-level cache.
  static constexpr int kTiles = 4;
  static constexpr int kStates = kTiles * kTileLanes;
  // Rows that are stepped together, and the lanes of the states that they continue.
  struct Rows {
    size_t count;
    uint32_t rows[kTileLanes], lanes[kTileLanes];
  };

  const Chain* begin_tile(int tile, const Chain* first, const Chain* last);
  void add_chain(int state, const Chain& chain);
  void prefetch(size_t row) const;
  void reset(int tiles, const float* graders);
  bool find_next_stop(int tile);
  void run_histories(int first_tile, int last_tile);
  void step_tile(int tile);
  void step_rows(int tile, const Rows& rows, bool in_place);

  const Kernel& kernel_;
  const Tables& tables_;
  const Replay& replay_;
  ReplayTiles<kTiles> replayed_ = {};
  ReplayTiles<1> forked_ = {};
  int chains_[kTiles] = {};                // the number of chains in each tile
  uint8_t last_stops_[kTiles] = {};        // the last_stop of the chains in each tile
  uint32_t next_[kStates], end_[kStates];  // the rows that are left of each chain: order[next] to order[end - 1]
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
