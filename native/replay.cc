#include "replay.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace rhythm {

namespace block = world::block;
namespace count = world::count;

namespace {

// Returns the environments of `count` tiles, from tile `first` on.
template <int Tiles>
Envs envs_of(const Tables& tables, ReplayTiles<Tiles>& t, int first, int count) {
  Outputs out = {};
  out.rewards = t.rewards + first * kTileLanes;
  out.final_mask = t.final_mask + first * kTileLanes;
  return {&tables, t.states + first, count * kTileLanes, out};
}

// Returns whether the step after a history ends the episode.
bool ends_with_step(uint8_t stop) { return stop == count::Steps - 1; }

}  // namespace

std::vector<uint32_t> order_by_length(const Replay& replay) {
  size_t next[count::Steps + 1] = {};
  for (size_t k = 0; k < replay.count; k++) next[replay.stops[replay.order[k]] + 1]++;
  for (int length = 0; length < count::Steps; length++) next[length + 1] += next[length];
  std::vector<uint32_t> order(replay.count);
  for (size_t k = 0; k < replay.count; k++) order[next[replay.stops[replay.order[k]]]++] = replay.order[k];
  return order;
}

Replayer::Replayer(const Kernel& kernel, const Tables& tables, const Replay& replay)
    : kernel_(kernel), tables_(tables), replay_(replay) {
  // All rows have the same grader. Later resets keep it.
  float graders[kStates][count::Components];
  for (auto& grader : graders) std::copy_n(replay.grader, count::Components, grader);
  reset(kTiles, graders[0]);
}

void Replayer::reset(int tiles, const float* graders) {
  const float* profiles = replay_.profiles == nullptr ? nullptr : profiles_[0];
  const Reset reset = {nullptr, seeds_, modes_, profiles, graders, false, nullptr, nullptr};
  kernel_.reset(envs_of(tables_, replayed_, 0, tiles), reset, 0, static_cast<size_t>(tiles));
}

void Replayer::play(size_t first, size_t last) {
  while (first < last) {
    size_t begin[kTiles + 1] = {first};
    int tiles = 0;
    for (; tiles < kTiles && begin[tiles] < last; tiles++) begin[tiles + 1] = prepare_states(tiles, begin[tiles], last);
    replay_histories(tiles);
    for (int tile = 0; tile < tiles; tile++) step_tile(tile, begin[tile], begin[tile + 1]);
    first = begin[tiles];
  }
}

// Collects up to sixteen states with equally long histories, which run fastest as one tile, and the rows that continue
// these states. Returns the end of the rows.
size_t Replayer::prepare_states(int tile, size_t first, size_t last) {
  const uint32_t* order = replay_.order;
  const int begin = tile * kTileLanes;
  int states = 0;
  size_t k = first;
  for (; k < last && k - first < kMaxRows; k++) {
    if (k == first || !same_state(order[k], order[k - 1])) {
      const bool fits = states < kTileLanes && replay_.stops[order[k]] == replay_.stops[order[first]];
      if (k != first && !fits) break;
      add_state(begin + states++, order[k]);
    }
    lanes_[tile][k - first] = static_cast<uint32_t>(states - 1);
    if (k + kStates < last) prefetch(order[k + kStates]);
  }
  // Unused lanes run too, with any valid mode.
  std::fill(modes_ + begin + states, modes_ + begin + kTileLanes, modes_[begin]);
  std::fill(stops_ + begin + states, stops_ + begin + kTileLanes, stops_[begin]);
  states_[tile] = states;
  return k;
}

// Prefetches a row that is replayed after the next tiles.
void Replayer::prefetch(size_t row) const {
  const uint8_t* history = replay_.histories + row * count::Steps;
  __builtin_prefetch(history);
  __builtin_prefetch(history + count::Steps - 1);
  if (replay_.beliefs != nullptr) __builtin_prefetch(replay_.beliefs + row * count::Beliefs);
}

// Returns whether beliefs in the history of a row affect its reward.
bool Replayer::reads_beliefs(uint32_t row) const {
  return replay_.belief_histories != nullptr && ends_with_step(replay_.stops[row]);
}

// Returns whether two rows continue the same state.
bool Replayer::same_state(uint32_t row, uint32_t other) const {
  const Replay& r = replay_;
  if (r.seeds[row] != r.seeds[other] || r.stops[row] != r.stops[other] || r.modes[row] != r.modes[other]) return false;
  const auto equal = [&](const auto* rows, size_t width, size_t length) {
    return std::memcmp(rows + row * width, rows + other * width, length * sizeof(*rows)) == 0;
  };
  if (!equal(r.histories, count::Steps, r.stops[row])) return false;
  if (reads_beliefs(row) && !same_beliefs(row, other)) return false;
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

// Sets a state to the one that a row continues.
void Replayer::add_state(int state, uint32_t row) {
  const size_t at = row;
  seeds_[state] = replay_.seeds[at];
  modes_[state] = replay_.modes[at];
  stops_[state] = replay_.stops[at];
  // Entries after the history are not played.
  std::memcpy(histories_[state], replay_.histories + at * count::Steps, sizeof histories_[state]);
  if (reads_beliefs(row)) {
    constexpr size_t floats = count::Steps * count::Beliefs;
    std::copy_n(replay_.belief_histories + at * floats, floats, belief_histories_[state][0]);
    std::copy_n(replay_.history_given + at * count::Steps, count::Steps, history_given_[state]);
  }
  if (replay_.profiles == nullptr) return;
  std::copy_n(replay_.profiles + at * count::ProfileFloats, count::ProfileFloats, profiles_[state]);
}

// Plays the histories of the collected states.
void Replayer::replay_histories(int tiles) {
  reset(tiles, nullptr);
  Run run = {};
  run.policy = Policy::Sequence;
  run.actions = histories_[0];
  run.stops = stops_;
  // A row's step reads the sums and beliefs of its history only if it ends the episode.
  run.meters_only = std::none_of(stops_, stops_ + tiles * kTileLanes, ends_with_step);
  if (!run.meters_only && replay_.belief_histories != nullptr) {
    run.beliefs = belief_histories_[0][0];
    run.given = history_given_[0];
  }
  const Envs envs = envs_of(tables_, replayed_, 0, tiles);
  const auto end = static_cast<size_t>(tiles);
  kernel_.run(envs, run, 0, end);
  kernel_.hash(envs, hashes_, 0, end);
}

// Takes the steps of the rows that continue the states of a tile.
void Replayer::step_tile(int tile, size_t first, size_t last) {
  const bool in_place = last - first == static_cast<size_t>(states_[tile]);
  for (size_t at = first; at < last; at += kTileLanes) {
    step_rows(tile, at, std::min(at + kTileLanes, last), lanes_[tile] + (at - first), in_place);
  }
}

// Takes the step of at most sixteen rows. With `in_place`, row k is the only row that continues the state of lane k.
void Replayer::step_rows(int tile, size_t first, size_t last, const uint32_t* state_lanes, bool in_place) {
  const size_t rows = last - first;
  const int begin = tile * kTileLanes;
  const bool believes = replay_.beliefs != nullptr;
  uint8_t actions[kTileLanes] = {}, given[kTileLanes] = {}, steps[kTileLanes] = {};
  float beliefs[kTileLanes][count::Beliefs];
  uint32_t lanes[kTileLanes] = {};
  if (rows < kTileLanes) std::memset(beliefs, 0, sizeof beliefs);
  size_t stepping = 0;
  for (size_t k = 0; k < rows; k++) {
    const size_t row = replay_.order[first + k];
    lanes[k] = state_lanes[k];
    steps[k] = replay_.actions[row] >= 0;
    actions[k] = steps[k] ? static_cast<uint8_t>(replay_.actions[row]) : 0;
    stepping += steps[k];
    if (!believes) continue;
    given[k] = replay_.given[row];
    std::memcpy(beliefs[k], replay_.beliefs + row * count::Beliefs, sizeof beliefs[k]);
  }
  const bool all_step = stepping == rows;
  const Step step = {actions, believes ? beliefs[0] : nullptr, believes ? given : nullptr, all_step ? nullptr : steps};
  const Envs replayed = envs_of(tables_, replayed_, tile, 1);
  const Envs stepped = in_place ? replayed : envs_of(tables_, forked_, 0, 1);
  if (!in_place) kernel_.gather(stepped, {replayed.tiles, replayed.out, lanes}, 0, 1);
  float mae[kTileLanes], skill[kTileLanes];
  kernel_.belief_errors(stepped, step.beliefs, step.given, mae, skill, 0, 1);
  kernel_.step(stepped, step, 0, 1);
  for (size_t k = 0; k < rows; k++) {
    const size_t row = replay_.order[first + k];
    replay_.rewards[row] = steps[k] ? stepped.out.rewards[k] : std::numeric_limits<float>::quiet_NaN();
    replay_.belief_mae[row] = mae[k];
    replay_.belief_skill[row] = skill[k];
    replay_.hashes[row] = hashes_[begin + static_cast<int>(lanes[k])];
  }
}

}  // namespace rhythm
