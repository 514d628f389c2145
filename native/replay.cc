// Finds chains of rows, and replays them tile by tile. replay.h explains both.
#include "replay.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace rhythm {

namespace block = world::block;
namespace count = world::count;
namespace state = world::state;

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

// Returns whether beliefs in the history of a row affect its reward.
bool reads_beliefs(const Replay& r, size_t row) {
  return r.belief_histories != nullptr && ends_with_step(r.stops[row]);
}

// Returns whether two rows with equally long histories have the same belief histories.
bool same_beliefs(const Replay& r, size_t row, size_t other) {
  for (size_t t = 0; t < r.stops[row]; t++) {
    const size_t a = row * count::Steps + t, b = other * count::Steps + t;
    if (r.history_given[a] != r.history_given[b]) return false;
    if (r.history_given[a] == 0) continue;
    const size_t bytes = count::Beliefs * sizeof(float);
    if (std::memcmp(r.belief_histories + a * count::Beliefs, r.belief_histories + b * count::Beliefs, bytes) != 0) return false;
  }
  return true;
}

// Returns whether a row's history equals another's, or continues it by one action, in the same episode.
bool continues(const Replay& r, size_t row, size_t other) {
  if (r.seeds[row] != r.seeds[other] || r.modes[row] != r.modes[other]) return false;
  const int more = r.stops[row] - r.stops[other];
  if (more != 0 && more != 1) return false;
  const auto equal = [&](const auto* rows, size_t width, size_t length) {
    return std::memcmp(rows + row * width, rows + other * width, length * sizeof(*rows)) == 0;
  };
  if (!equal(r.histories, count::Steps, r.stops[other])) return false;
  // Only rows whose step ends the episode read beliefs of the history. Two such rows have equally long histories: `more` is 0.
  if (more == 0 && reads_beliefs(r, row) && !same_beliefs(r, row, other)) return false;
  return r.profiles == nullptr || equal(r.profiles, count::ProfileFloats, count::ProfileFloats);
}

// Copies the states that rows continue. Only the results of a step that ends the episode depend on the words after the profile.
void fork(const Tile& from, const uint32_t (&lanes)[kTileLanes], bool ends, Tile& to) {
  static_assert(state::Early == state::Profile + count::ProfileFloats);
  // Two cases are faster: each row continues its own lane's state, or each half of the tile continues one state.
  constexpr int half = kTileLanes / 2;
  const int words = ends ? count::StateWords : state::Early;
  bool all_own = true, equal_halves = true;
  for (uint32_t lane = 0; lane < kTileLanes; lane++) {
    all_own = all_own && lanes[lane] == lane;
    equal_halves = equal_halves && lanes[lane] == lanes[lane / half * half];
  }
  if (all_own) {
    std::memcpy(to.words, from.words, static_cast<size_t>(words) * sizeof to.words[0]);
  } else if (equal_halves) {
    for (int k = 0; k < words; k++) {
      std::fill_n(to.words[k], half, from.words[k][lanes[0]]);
      std::fill_n(to.words[k] + half, half, from.words[k][lanes[half]]);
    }
  } else {
    for (int k = 0; k < words; k++) {
      for (int lane = 0; lane < kTileLanes; lane++) to.words[k][lane] = from.words[k][lanes[lane]];
    }
  }
}

}  // namespace

std::vector<Chain> chains_of(const Replay& replay) {
  const uint32_t* order = replay.order;
  constexpr int keys = count::Steps * count::Steps;
  const auto key_of = [](const Chain& chain) { return chain.last_stop * count::Steps + chain.first_stop; };
  std::vector<Chain> found;
  found.reserve(replay.count);
  size_t next[keys + 1] = {};
  const auto add = [&](const Chain& chain) {
    found.push_back(chain);
    next[key_of(chain) + 1]++;
  };
  Chain chain = {};
  for (uint32_t k = 0; k < replay.count; k++) {
    const uint8_t stop = replay.stops[order[k]];
    if (k == 0 || !continues(replay, order[k], order[k - 1])) {
      if (k > 0) add(chain);
      chain = {k, k, stop, stop};
    }
    chain.end = k + 1;
    chain.last_stop = stop;
  }
  if (replay.count > 0) add(chain);
  // Counting sort: next[key] becomes the place of the next chain with this key.
  for (int key = 0; key < keys; key++) next[key + 1] += next[key];
  std::vector<Chain> chains(found.size());
  for (const Chain& each : found) chains[next[key_of(each)]++] = each;
  return chains;
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

void Replayer::play(const Chain* first, const Chain* last) {
  while (first < last) {
    int tiles = 0;
    while (tiles < kTiles && first < last) first = begin_tile(tiles++, first, last);
    reset(tiles, nullptr);
    for (bool rows_left = true; rows_left;) {
      rows_left = false;
      for (int tile = 0; tile < tiles; tile++) {
        // Tiles [tile, end) have rows left. The inner `for` moves `tile` to `end`, which has none.
        int end = tile;
        while (end < tiles && find_next_stop(end)) end++;
        if (end == tile) continue;
        run_histories(tile, end);
        for (; tile < end; tile++) step_tile(tile);
        rows_left = true;
      }
    }
  }
}

// Puts up to sixteen chains with equally long last histories into a tile. Returns the next chain.
const Chain* Replayer::begin_tile(int tile, const Chain* first, const Chain* last) {
  const int begin = tile * kTileLanes;
  int chains = 0;
  const Chain* next = first;
  for (; next < last && chains < kTileLanes && next->last_stop == first->last_stop; next++) {
    add_chain(begin + chains++, *next);
    // The distance is chosen by hand: as many chains as kTiles tiles hold.
    if (last - next > kStates) prefetch(replay_.order[next[kStates].end - 1]);
  }
  // Unused lanes run too, with any valid mode.
  std::fill(modes_ + begin + chains, modes_ + begin + kTileLanes, modes_[begin]);
  chains_[tile] = chains;
  last_stops_[tile] = first->last_stop;
  return next;
}

// Prefetches the history and the belief of a row.
void Replayer::prefetch(size_t row) const {
  const uint8_t* history = replay_.histories + row * count::Steps;
  __builtin_prefetch(history);
  __builtin_prefetch(history + count::Steps - 1);
  if (replay_.beliefs != nullptr) __builtin_prefetch(replay_.beliefs + row * count::Beliefs);
}

// Puts a chain into a lane, with its last history. The others are beginnings of the last.
void Replayer::add_chain(int state, const Chain& chain) {
  const size_t row = replay_.order[chain.end - 1];
  next_[state] = chain.begin;
  end_[state] = chain.end;
  seeds_[state] = replay_.seeds[row];
  modes_[state] = replay_.modes[row];
  // Entries after the history are not played.
  std::memcpy(histories_[state], replay_.histories + row * count::Steps, sizeof histories_[state]);
  if (reads_beliefs(replay_, row)) {
    constexpr size_t floats = count::Steps * count::Beliefs;
    std::copy_n(replay_.belief_histories + row * floats, floats, belief_histories_[state][0]);
    std::copy_n(replay_.history_given + row * count::Steps, count::Steps, history_given_[state]);
  }
  if (replay_.profiles == nullptr) return;
  std::copy_n(replay_.profiles + row * count::ProfileFloats, count::ProfileFloats, profiles_[state]);
}

// Sets the stop of a tile to the shortest history of the rows that are left. Returns false if none are left.
bool Replayer::find_next_stop(int tile) {
  const int begin = tile * kTileLanes;
  uint8_t stop = count::Steps;
  for (int state = begin; state < begin + chains_[tile]; state++) {
    if (next_[state] < end_[state]) stop = std::min(stop, replay_.stops[replay_.order[next_[state]]]);
  }
  std::fill_n(stops_ + begin, kTileLanes, stop);
  return stop < count::Steps;
}

// Plays the histories of tiles [first, last) to the next stops, and computes the hashes of the states.
void Replayer::run_histories(int first, int last) {
  Run run = {};
  run.policy = Policy::Sequence;
  run.actions = histories_[0];
  run.stops = stops_;
  // A row's step reads the sums and beliefs of its history only if it ends the episode.
  run.meters_only = std::none_of(last_stops_ + first, last_stops_ + last, ends_with_step);
  if (!run.meters_only && replay_.belief_histories != nullptr) {
    run.beliefs = belief_histories_[0][0];
    run.given = history_given_[0];
  }
  const Envs envs = envs_of(tables_, replayed_, 0, last);
  kernel_.run(envs, run, static_cast<size_t>(first), static_cast<size_t>(last));
  kernel_.hash(envs, hashes_, static_cast<size_t>(first), static_cast<size_t>(last));
}

// Takes the steps of the rows that continue the states of a tile.
void Replayer::step_tile(int tile) {
  const int begin = tile * kTileLanes;
  // If each chain has one row left, its state is not needed after the step.
  bool in_place = true;
  for (int state = begin; state < begin + chains_[tile]; state++) in_place = in_place && end_[state] - next_[state] == 1;
  Rows rows = {};
  for (int lane = 0; lane < chains_[tile]; lane++) {
    uint32_t& next = next_[begin + lane];
    for (; next < end_[begin + lane]; next++) {
      const uint32_t row = replay_.order[next];
      if (replay_.stops[row] != stops_[begin]) break;
      rows.rows[rows.count] = row;
      rows.lanes[rows.count++] = static_cast<uint32_t>(lane);
      if (rows.count < kTileLanes) continue;
      step_rows(tile, rows, in_place);
      rows.count = 0;
    }
  }
  if (rows.count > 0) step_rows(tile, rows, in_place);
  if (in_place) chains_[tile] = 0;
}

// Takes the steps of at most sixteen rows, and writes their results. With `in_place`, row k is the only row that continues the
// state of lane k.
void Replayer::step_rows(int tile, const Rows& rows, bool in_place) {
  const int begin = tile * kTileLanes;
  const bool believes = replay_.beliefs != nullptr;
  uint8_t actions[kTileLanes] = {}, given[kTileLanes] = {}, steps[kTileLanes] = {};
  float beliefs[kTileLanes][count::Beliefs];
  if (rows.count < kTileLanes) std::memset(beliefs, 0, sizeof beliefs);
  size_t stepping = 0;
  for (size_t k = 0; k < rows.count; k++) {
    const size_t row = rows.rows[k];
    steps[k] = replay_.actions[row] >= 0;
    actions[k] = steps[k] ? static_cast<uint8_t>(replay_.actions[row]) : 0;
    stepping += steps[k];
    if (!believes) continue;
    given[k] = replay_.given[row];
    std::memcpy(beliefs[k], replay_.beliefs + row * count::Beliefs, sizeof beliefs[k]);
  }
  const bool all_step = stepping == rows.count;
  const Step step = {actions, believes ? beliefs[0] : nullptr, believes ? given : nullptr, all_step ? nullptr : steps};
  const Envs replayed = envs_of(tables_, replayed_, tile, 1);
  const Envs stepped = in_place ? replayed : envs_of(tables_, forked_, 0, 1);
  if (!in_place) fork(replayed_.states[tile], rows.lanes, ends_with_step(stops_[begin]), forked_.states[0]);
  float mae[kTileLanes], skill[kTileLanes];
  kernel_.belief_errors(stepped, step.beliefs, step.given, mae, skill, 0, 1);
  kernel_.step(stepped, step, 0, 1);
  for (size_t k = 0; k < rows.count; k++) {
    const size_t row = rows.rows[k];
    replay_.rewards[row] = steps[k] ? stepped.out.rewards[k] : std::numeric_limits<float>::quiet_NaN();
    replay_.belief_mae[row] = mae[k];
    replay_.belief_skill[row] = skill[k];
    replay_.hashes[row] = hashes_[begin + static_cast<int>(rows.lanes[k])];
  }
}

}  // namespace rhythm
