// Checks calls, divides their tiles between threads, and clears the results of episodes that an autoreset has replaced.
#include "batch.h"

#include <algorithm>
#include <deque>
#include <new>

namespace rhythm {

namespace state = world::state;
namespace count = world::count;

namespace {

// A call uses several threads if it has at least twice this many tiles (of sixteen episodes, kernel.h). With fewer, waking a
// thread, which takes some microseconds, costs more time than the thread saves. A tile of a step takes less time than one of a
// whole run, so a step needs more tiles. Chosen by hand.
constexpr size_t kMinTilesToStep = 256;
constexpr size_t kMinTilesToRun = 16;

// Returns whether all codes of a state that index a table or bound a loop are valid.
bool legal_codes(const uint32_t* words) {
  const uint32_t steps = words[state::Step];
  const uint32_t first_step = words[state::Began];
  if (steps > count::Steps || words[state::Mode] > world::mode::Given || words[state::Given] > 1) return false;
  if (first_step >= count::Steps || first_step > steps) return false;
  // The state's field `tape` has the actions taken: four bits per action, eight actions per word.
  for (uint32_t t = 0; t < steps; t++) {
    if ((words[state::Tape + t / 8] >> 4 * (t % 8) & 15) >= count::Actions) return false;
  }
  return true;
}

// Returns the latest step at which the reset begins an episode.
int latest_start(const Reset& reset, int num_envs) {
  int latest = 0;
  for (int env = 0; env < num_envs; env++) {
    const int step = reset.mask == nullptr || reset.mask[env] != 0 ? reset.start->steps[env] : 0;
    latest = std::max(latest, step);
  }
  return latest;
}

// Copies of a batch's outputs. A call may read them while it overwrites the originals.
class OutputsCopy {
 public:
  Outputs make(const Outputs& from, size_t num_envs) {
    const size_t rows = from.column_stride == 0 ? num_envs : from.column_stride;
    Outputs to = from;
    copy(to.observations, rows * count::ObservationFloats);
    copy(to.final_observations, rows * count::ObservationFloats);
    copy(to.components, rows * count::Components);
    for (float** array : {&to.rewards, &to.final_scores, &to.belief_mae, &to.first_half_means,
                          &to.second_half_means, &to.episode_returns}) {
      copy(*array, num_envs);
    }
    copy(to.episode_lengths, num_envs);
    copy(to.terminated, num_envs);
    copy(to.final_mask, num_envs);
    return to;
  }

 private:
  template <class T>
  void copy(T*& array, size_t length) {
    if (array == nullptr) return;
    const char* bytes = reinterpret_cast<const char*>(array);
    copies_.emplace_back(bytes, bytes + length * sizeof(T));
    array = reinterpret_cast<T*>(copies_.back().data());
  }

  std::deque<std::vector<char>> copies_;
};

// Indexes an array of `width` numbers per environment, row-major or column-major.
class RowIndex {
 public:
  RowIndex(const Outputs& out, size_t width)
      : env_stride_(out.column_stride == 0 ? width : 1), number_stride_(out.column_stride == 0 ? 1 : out.column_stride) {}
  size_t at(int env, size_t k) const { return static_cast<size_t>(env) * env_stride_ + k * number_stride_; }

 private:
  size_t env_stride_, number_stride_;
};

}  // namespace

Batch::Batch(const Kernel& kernel, const uint32_t* block, bool imagination, int num_envs, int threads)
    : kernel_(kernel),
      num_envs_(num_envs),
      tables_(std::make_unique<Tables>()),
      tiles_(static_cast<size_t>((num_envs + kTileLanes - 1) / kTileLanes)),
      threads_(threads) {
  build_tables(block, imagination, *tables_);
}

// Returns the thread pool, or null if there is no memory for it. Then the calling thread does all the work: no call fails
// half-way.
ThreadPool* Batch::pool() {
  if (pool_ == nullptr) pool_.reset(new (std::nothrow) ThreadPool(threads_));
  return pool_.get();
}

template <class Work>
void Batch::each_part_of(size_t first_tile, size_t last_tile, size_t min_tiles, const Work& work) {
  const size_t tiles = last_tile - first_tile;
  if (threads_ == 1 || tiles < 2 * min_tiles || pool() == nullptr) return work(first_tile, last_tile);
  pool_->split(tiles, [&](size_t first, size_t last) { work(first_tile + first, first_tile + last); });
}

template <class Work>
void Batch::each_part(size_t min_tiles, const Work& work) {
  each_part_of(0, tiles_.size(), min_tiles, work);
}

void Batch::reset(const Outputs& out, const Reset& reset) {
  const Envs envs = envs_with(out);
  if (reset.mask == nullptr) max_steps_taken_ = 0;
  if (reset.start != nullptr) max_steps_taken_ = std::max(max_steps_taken_, latest_start(reset, num_envs_));
  each_part(kMinTilesToRun, [&](size_t first, size_t last) { kernel_.reset(envs, reset, first, last); });
}

std::optional<Refusal> Batch::find_refusal(const Step& step, const AutoReset& autoreset) {
  // The common case does not read the states.
  if (max_steps_taken_ < count::Steps && kernel_.all_legal(step.actions, static_cast<size_t>(num_envs_))) return std::nullopt;
  uint32_t latest = count::Steps;
  const size_t tile = kernel_.find_refused(envs_with({}), step, autoreset.mask, 0, tiles_.size(), latest);
  for (int env = static_cast<int>(tile) * kTileLanes; env < num_envs_; env++) {
    if (step.mask != nullptr && step.mask[env] == 0) continue;
    const int action = step.actions[env];
    if (action >= count::Actions) return Refusal{Refusal::Code::IllegalAction, env, -1, action};
    if (word(env, state::Step) >= count::Steps) return Refusal{Refusal::Code::EpisodeOver, env, -1, 0};
  }
  // Resets lower the bound here, where the states are read anyway.
  max_steps_taken_ = static_cast<int>(latest);
  return std::nullopt;
}

std::optional<Refusal> Batch::find_refusal(const Run& run, const CopySource& from) const {
  if (run.policy != Policy::Sequence) return std::nullopt;
  const size_t length = static_cast<size_t>(num_envs_) * count::Steps;
  if (kernel_.all_legal(run.actions, length)) return std::nullopt;
  for (int env = 0; env < num_envs_; env++) {
    const int stop = run.stops == nullptr ? count::Steps : run.stops[env];
    const uint32_t first = from.batch == nullptr ? word(env, state::Step)
                                                 : from.batch->word(static_cast<int>(from.indices[env]), state::Step);
    for (int t = static_cast<int>(first); t < stop; t++) {
      const int action = run.actions[static_cast<size_t>(env) * count::Steps + static_cast<size_t>(t)];
      if (action >= count::Actions) return Refusal{Refusal::Code::IllegalAction, env, t, action};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> Batch::step(const Outputs& out, const Step& step, const AutoReset& autoreset) {
  if (const auto refusal = find_refusal(step, autoreset)) return refusal;
  const Envs envs = envs_with(out);
  const Reset then_reset = {autoreset.mask, autoreset.seeds, nullptr, nullptr, nullptr, true, step.mask, nullptr};
  each_part(kMinTilesToStep, [&](size_t first, size_t last) {
    if (stale_results_) clear_replaced_results(out, first, last);
    kernel_.step(envs, step, first, last);
    if (autoreset.mask == nullptr) return;
    copy_final_observations(out, step, autoreset.mask, first, last);
    kernel_.reset(envs, then_reset, first, last);
  });
  stale_results_ = autoreset.mask != nullptr;
  max_steps_taken_ = std::min(max_steps_taken_ + 1, count::Steps);
  return std::nullopt;
}

std::optional<Refusal> Batch::run(const Outputs& out, Run run, const Part& part, const CopySource& from) {
  // The first part checks the actions of all parts.
  if (part.first == 0) {
    if (const auto refusal = find_refusal(run, from)) return refusal;
  }
  run_checked(out, run, part, from);
  return std::nullopt;
}

void Batch::run_checked(const Outputs& out, Run run, const Part& part, const CopySource& from) {
  const Gather origin = {from.batch == nullptr ? nullptr : from.batch->tiles_.data(), from.outputs, from.indices};
  run.copy = from.batch == nullptr ? nullptr : &origin;
  const Envs envs = envs_with(out);
  const size_t first_tile = static_cast<size_t>(part.first / kTileLanes);
  const size_t last_tile = static_cast<size_t>((part.end + kTileLanes - 1) / kTileLanes);
  const bool copies_stale = from.batch != nullptr && from.batch->stale_results_;
  if (copies_stale) {
    // Copies here and not in the run: results of replaced episodes are cleared after the copy and before the run.
    each_part_of(first_tile, last_tile, kMinTilesToRun,
                 [&](size_t first, size_t last) { kernel_.gather(envs, origin, first, last); });
    run.copy = nullptr;
  }
  if (stale_results_ || copies_stale) clear_replaced_results(out, first_tile, last_tile);
  // Environments after `part` keep their outputs, which may be stale.
  stale_results_ = stale_results_ && part.end < num_envs_;
  max_steps_taken_ = count::Steps;
  each_part_of(first_tile, last_tile, kMinTilesToRun,
               [&](size_t first, size_t last) { kernel_.run(envs, run, first, last); });
}

void Batch::clear_replaced_results(const Outputs& out, size_t first_tile, size_t last_tile) const {
  const RowIndex components(out, count::Components), observations(out, count::ObservationFloats);
  const int end = std::min(num_envs_, static_cast<int>(last_tile) * kTileLanes);
  for (int env = static_cast<int>(first_tile) * kTileLanes; env < end; env++) {
    if (word(env, state::Step) == count::Steps) continue;
    out.terminated[env] = 0;
    out.final_scores[env] = out.belief_mae[env] = out.episode_returns[env] = 0;
    out.first_half_means[env] = out.second_half_means[env] = 0;
    out.episode_lengths[env] = 0;
    for (size_t k = 0; k < count::Components; k++) out.components[components.at(env, k)] = 0;
    if (out.final_observations == nullptr) continue;
    for (size_t k = 0; k < count::ObservationFloats; k++) out.final_observations[observations.at(env, k)] = 0;
  }
}

void Batch::copy_final_observations(const Outputs& out, const Step& step, const uint8_t* mask, size_t first_tile,
                                    size_t last_tile) const {
  if (out.final_observations == nullptr) return;
  const RowIndex observations(out, count::ObservationFloats);
  const int end = std::min(num_envs_, static_cast<int>(last_tile) * kTileLanes);
  for (int env = static_cast<int>(first_tile) * kTileLanes; env < end; env++) {
    if (mask[env] == 0 || (step.mask != nullptr && step.mask[env] == 0)) continue;
    for (size_t k = 0; k < count::ObservationFloats; k++) {
      out.final_observations[observations.at(env, k)] = out.observations[observations.at(env, k)];
    }
  }
}

void Batch::gather(const Outputs& out, const CopySource& from) {
  // A batch that gathers from itself would read environments that it has overwritten, so it first copies all. If there is no
  // memory for the copies, nothing has changed.
  const bool from_itself = from.batch == this;
  const std::vector<Tile> tiles = from_itself ? tiles_ : std::vector<Tile>();
  OutputsCopy copies;
  const Gather origin = {from_itself ? tiles.data() : from.batch->tiles_.data(),
                         from_itself ? copies.make(from.outputs, static_cast<size_t>(num_envs_)) : from.outputs, from.indices};
  // Results of replaced episodes are copied too.
  stale_results_ = from.batch->stale_results_;
  max_steps_taken_ = from.batch->max_steps_taken_;
  const Envs envs = envs_with(out);
  each_part(kMinTilesToRun, [&](size_t first, size_t last) { kernel_.gather(envs, origin, first, last); });
}

void Batch::save(uint32_t* words, const uint32_t* indices, size_t length) const {
  for (size_t i = 0; i < length; i++) {
    const int env = static_cast<int>(indices == nullptr ? i : indices[i]);
    for (int k = 0; k < count::StateWords; k++) *words++ = word(env, k);
  }
}

bool Batch::load(const Outputs& out, const uint32_t* words, bool keeps_outputs) {
  for (int env = 0; env < num_envs_; env++) {
    if (!legal_codes(words + static_cast<size_t>(env) * count::StateWords)) return false;
  }
  for (int env = 0; env < num_envs_; env++) {
    for (int k = 0; k < count::StateWords; k++) word(env, k) = *words++;
  }
  loaded(out, keeps_outputs);
  return true;
}

void Batch::loaded(const Outputs& out, bool keeps_outputs) {
  max_steps_taken_ = count::Steps;
  if (keeps_outputs) return;
  const Envs envs = envs_with(out);
  each_part(kMinTilesToRun, [&](size_t first, size_t last) { kernel_.restore_outputs(envs, first, last); });
  if (out.final_observations != nullptr) {
    const size_t rows = out.column_stride == 0 ? static_cast<size_t>(num_envs_) : out.column_stride;
    std::fill_n(out.final_observations, rows * count::ObservationFloats, 0.0f);
  }
  stale_results_ = false;
}

void Batch::copied() {
  stale_results_ = true;
  max_steps_taken_ = count::Steps;
}

void Batch::hash(uint64_t* hashes) {
  const Envs envs = envs_with({});
  each_part(kMinTilesToRun, [&](size_t first, size_t last) { kernel_.hash(envs, hashes, first, last); });
}

void Batch::targets(float* rows) {
  const Envs envs = envs_with({});
  each_part(kMinTilesToRun, [&](size_t first, size_t last) { kernel_.targets(envs, rows, first, last); });
}

std::optional<Refusal> Batch::find_refusal(const Replay& replay) const {
  const auto [low, high] = std::minmax_element(replay.order, replay.order + replay.count);
  const uint8_t* histories = replay.histories + static_cast<size_t>(*low) * count::Steps;
  if (kernel_.all_legal(histories, static_cast<size_t>(*high - *low + 1) * count::Steps)) return std::nullopt;
  for (size_t k = 0; k < replay.count; k++) {
    const uint32_t row = replay.order[k];
    for (int t = 0; t < replay.stops[row]; t++) {
      const int action = replay.histories[static_cast<size_t>(row) * count::Steps + static_cast<size_t>(t)];
      if (action >= count::Actions) return Refusal{Refusal::Code::IllegalAction, static_cast<int>(row), t, action};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> Batch::replay(const Replay& replay) {
  if (replay.count == 0) return std::nullopt;
  if (const auto refusal = find_refusal(replay)) return refusal;
  const std::vector<Chain> chains = chains_of(replay);
  const size_t tiles = (chains.size() + kTileLanes - 1) / kTileLanes;
  // The more rows the chains (replay.h) have, the longer a tile of chains takes, and the fewer tiles are enough for several
  // threads.
  const size_t min_tiles = std::max<size_t>(1, kMinTilesToRun * chains.size() / replay.count);
  each_part_of(0, tiles, min_tiles, [&](size_t first, size_t last) {
    Replayer(kernel_, *tables_, replay)
        .play(&chains[first * kTileLanes], chains.data() + std::min(last * kTileLanes, chains.size()));
  });
  return std::nullopt;
}

}  // namespace rhythm
