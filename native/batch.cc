#include "batch.h"

#include <algorithm>
#include <deque>
#include <new>

namespace rhythm {

namespace state = world::state;
namespace count = world::count;

namespace {

// The least tiles per thread. A smaller part takes less time than waking a thread, which takes some microseconds.
constexpr size_t kLeastTilesToStep = 256;
constexpr size_t kLeastTilesToRun = 16;

// Returns whether a state's codes are valid: all that index a table or bound a loop.
bool legal_codes(const uint32_t* words) {
  const uint32_t steps = words[state::Step];
  const uint32_t began = words[state::Began];
  if (steps > count::Steps || words[state::Mode] > world::mode::Given || words[state::Given] > 1) return false;
  if (began >= count::Steps || began > steps) return false;
  for (uint32_t t = 0; t < steps; t++) {
    if ((words[state::Tape + t / 8] >> 4 * (t % 8) & 15) >= count::Actions) return false;
  }
  return true;
}

// Returns the latest step at which an episode begins.
int latest_of(const Reset& reset, int slots) {
  int latest = 0;
  for (int slot = 0; slot < slots; slot++) {
    const int step = reset.mask == nullptr || reset.mask[slot] != 0 ? reset.start->steps[slot] : 0;
    latest = std::max(latest, step);
  }
  return latest;
}

// A copy of a batch's outputs, kept while the original is overwritten.
class ShownCopy {
 public:
  Outputs of(const Outputs& from, size_t slots) {
    const size_t rows = from.column_stride == 0 ? slots : from.column_stride;
    Outputs copy = from;
    keep(copy.observations, rows * count::ObservationFloats);
    keep(copy.final_observations, rows * count::ObservationFloats);
    keep(copy.components, rows * count::Components);
    for (float** array : {&copy.rewards, &copy.final_scores, &copy.belief_mae, &copy.early_means, &copy.late_means,
                          &copy.episode_returns}) {
      keep(*array, slots);
    }
    keep(copy.episode_lengths, slots);
    keep(copy.terminated, slots);
    keep(copy.final_mask, slots);
    return copy;
  }

 private:
  template <class T>
  void keep(T*& array, size_t length) {
    if (array == nullptr) return;
    const char* bytes = reinterpret_cast<const char*>(array);
    kept_.emplace_back(bytes, bytes + length * sizeof(T));
    array = reinterpret_cast<T*>(kept_.back().data());
  }

  std::deque<std::vector<char>> kept_;
};

// Addresses the `width` numbers of one slot in an array of rows or of columns.
class Row {
 public:
  Row(const Outputs& out, size_t width)
      : slot_(out.column_stride == 0 ? width : 1), number_(out.column_stride == 0 ? 1 : out.column_stride) {}
  size_t at(int slot, size_t k) const { return static_cast<size_t>(slot) * slot_ + k * number_; }

 private:
  size_t slot_, number_;
};

}  // namespace

Batch::Batch(const Kernel& kernel, const uint32_t* block, bool imagination, int slots, int threads)
    : kernel_(kernel),
      slots_(slots),
      tables_(std::make_unique<Tables>()),
      tiles_(static_cast<size_t>((slots + kTileLanes - 1) / kTileLanes)),
      threads_(threads) {
  build_tables(block, imagination, *tables_);
}

// Returns the thread pool, or null if there is no memory for it. Then the caller does all the work, so no call fails half-way.
ThreadPool* Batch::pool() {
  if (pool_ == nullptr) pool_.reset(new (std::nothrow) ThreadPool(threads_));
  return pool_.get();
}

template <class Work>
void Batch::each_part_of(size_t first_tile, size_t last_tile, size_t least, const Work& work) {
  const size_t tiles = last_tile - first_tile;
  if (threads_ == 1 || tiles < 2 * least || pool() == nullptr) return work(first_tile, last_tile);
  pool_->split(tiles, [&](size_t first, size_t last) { work(first_tile + first, first_tile + last); });
}

template <class Work>
void Batch::each_part(size_t least, const Work& work) {
  each_part_of(0, tiles_.size(), least, work);
}

void Batch::reset(const Outputs& out, const Reset& reset) {
  const Slots slots = view(out);
  if (reset.mask == nullptr) oldest_ = 0;
  if (reset.start != nullptr) oldest_ = std::max(oldest_, latest_of(reset, slots_));
  each_part(kLeastTilesToRun, [&](size_t first, size_t last) { kernel_.reset(slots, reset, first, last); });
}

std::optional<Refusal> Batch::refuse(const Step& step) {
  // The common case does not read the states.
  if (oldest_ < count::Steps && kernel_.legal(step.actions, static_cast<size_t>(slots_))) return std::nullopt;
  const size_t tile = kernel_.check(view({}), step, 0, tiles_.size());
  for (int slot = static_cast<int>(tile) * kTileLanes; slot < slots_; slot++) {
    if (step.mask != nullptr && step.mask[slot] == 0) continue;
    const int action = step.actions[slot];
    if (action >= count::Actions) return Refusal{Refusal::Code::IllegalAction, slot, -1, action};
    if (word(slot, state::Step) >= count::Steps) return Refusal{Refusal::Code::EpisodeOver, slot, -1, 0};
  }
  return std::nullopt;
}

std::optional<Refusal> Batch::refuse(const Run& run, const From& from) const {
  if (run.policy != Policy::Tape) return std::nullopt;
  const size_t length = static_cast<size_t>(slots_) * count::Steps;
  if (kernel_.legal(run.actions, length)) return std::nullopt;
  for (int slot = 0; slot < slots_; slot++) {
    const int stop = run.stops == nullptr ? count::Steps : run.stops[slot];
    const uint32_t first = from.batch == nullptr ? word(slot, state::Step)
                                                 : from.batch->word(static_cast<int>(from.indices[slot]), state::Step);
    for (int t = static_cast<int>(first); t < stop; t++) {
      const int action = run.actions[static_cast<size_t>(slot) * count::Steps + static_cast<size_t>(t)];
      if (action >= count::Actions) return Refusal{Refusal::Code::IllegalAction, slot, t, action};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> Batch::step(const Outputs& out, const Step& step, const AutoReset& autoreset) {
  if (const auto refusal = refuse(step)) return refusal;
  const Slots slots = view(out);
  const Reset begin = {autoreset.mask, autoreset.seeds, nullptr, nullptr, nullptr, true, step.mask, nullptr};
  each_part(kLeastTilesToStep, [&](size_t first, size_t last) {
    if (stale_results_) forget_results(out, first, last);
    kernel_.step(slots, step, first, last);
    if (begin.mask == nullptr) return;
    keep_final(out, step, begin.mask, first, last);
    kernel_.reset(slots, begin, first, last);
  });
  stale_results_ = begin.mask != nullptr;
  oldest_ = std::min(oldest_ + 1, count::Steps);
  return std::nullopt;
}

std::optional<Refusal> Batch::run(const Outputs& out, Run run, const Part& part, const From& from) {
  if (part.first == 0) {
    if (const auto refusal = refuse(run, from)) return refusal;
  }
  const Gather origin = {from.batch == nullptr ? nullptr : from.batch->tiles_.data(), from.shown, from.indices};
  run.from = from.batch == nullptr ? nullptr : &origin;
  const Slots slots = view(out);
  const size_t first_tile = static_cast<size_t>(part.first / kTileLanes);
  const size_t last_tile = static_cast<size_t>((part.end + kTileLanes - 1) / kTileLanes);
  const bool copies_stale = from.batch != nullptr && from.batch->stale_results_;
  if (copies_stale) {
    // Copy first, so that results of replaced episodes can be cleared before the run.
    each_part_of(first_tile, last_tile, kLeastTilesToRun,
                 [&](size_t first, size_t last) { kernel_.gather(slots, origin, first, last); });
    run.from = nullptr;
  }
  if (stale_results_ || copies_stale) forget_results(out, first_tile, last_tile);
  // Slots that a run in parts has not reached keep their outputs.
  stale_results_ = stale_results_ && part.end < slots_;
  oldest_ = count::Steps;
  each_part_of(first_tile, last_tile, kLeastTilesToRun,
               [&](size_t first, size_t last) { kernel_.run(slots, run, first, last); });
  return std::nullopt;
}

void Batch::forget_results(const Outputs& out, size_t first_tile, size_t last_tile) const {
  const Row components(out, count::Components), observations(out, count::ObservationFloats);
  const int end = std::min(slots_, static_cast<int>(last_tile) * kTileLanes);
  for (int slot = static_cast<int>(first_tile) * kTileLanes; slot < end; slot++) {
    if (word(slot, state::Step) == count::Steps) continue;
    out.terminated[slot] = 0;
    out.final_scores[slot] = out.belief_mae[slot] = out.episode_returns[slot] = 0;
    out.early_means[slot] = out.late_means[slot] = 0;
    out.episode_lengths[slot] = 0;
    for (size_t k = 0; k < count::Components; k++) out.components[components.at(slot, k)] = 0;
    if (out.final_observations == nullptr) continue;
    for (size_t k = 0; k < count::ObservationFloats; k++) out.final_observations[observations.at(slot, k)] = 0;
  }
}

void Batch::keep_final(const Outputs& out, const Step& step, const uint8_t* mask, size_t first_tile,
                       size_t last_tile) const {
  if (out.final_observations == nullptr) return;
  const Row observations(out, count::ObservationFloats);
  const int end = std::min(slots_, static_cast<int>(last_tile) * kTileLanes);
  for (int slot = static_cast<int>(first_tile) * kTileLanes; slot < end; slot++) {
    if (mask[slot] == 0 || (step.mask != nullptr && step.mask[slot] == 0)) continue;
    for (size_t k = 0; k < count::ObservationFloats; k++) {
      out.final_observations[observations.at(slot, k)] = out.observations[observations.at(slot, k)];
    }
  }
}

void Batch::gather(const Outputs& out, const From& from) {
  // A batch that gathers from itself would read overwritten slots, so it copies them. The copies are made before any change:
  // if there is no memory for them, nothing has changed.
  const bool itself = from.batch == this;
  const std::vector<Tile> tiles = itself ? tiles_ : std::vector<Tile>();
  ShownCopy copy;
  const Gather origin = {itself ? tiles.data() : from.batch->tiles_.data(),
                         itself ? copy.of(from.shown, static_cast<size_t>(slots_)) : from.shown, from.indices};
  // A copied result of a replaced episode is as stale as the original.
  stale_results_ = from.batch->stale_results_;
  oldest_ = from.batch->oldest_;
  const Slots slots = view(out);
  each_part(kLeastTilesToRun, [&](size_t first, size_t last) { kernel_.gather(slots, origin, first, last); });
}

void Batch::save(uint32_t* words, const uint32_t* indices, size_t length) const {
  for (size_t i = 0; i < length; i++) {
    const int slot = static_cast<int>(indices == nullptr ? i : indices[i]);
    for (int k = 0; k < count::StateWords; k++) *words++ = word(slot, k);
  }
}

bool Batch::load(const Outputs& out, const uint32_t* words) {
  for (int slot = 0; slot < slots_; slot++) {
    if (!legal_codes(words + static_cast<size_t>(slot) * count::StateWords)) return false;
  }
  for (int slot = 0; slot < slots_; slot++) {
    for (int k = 0; k < count::StateWords; k++) word(slot, k) = *words++;
  }
  const Slots slots = view(out);
  each_part(kLeastTilesToRun, [&](size_t first, size_t last) { kernel_.show(slots, first, last); });
  if (out.final_observations != nullptr) {
    const size_t rows = out.column_stride == 0 ? static_cast<size_t>(slots_) : out.column_stride;
    std::fill_n(out.final_observations, rows * count::ObservationFloats, 0.0f);
  }
  stale_results_ = false;
  oldest_ = count::Steps;
  return true;
}

void Batch::hash(uint64_t* hashes) {
  const Slots slots = view({});
  each_part(kLeastTilesToRun, [&](size_t first, size_t last) { kernel_.hash(slots, hashes, first, last); });
}

void Batch::targets(float* rows) {
  const Slots slots = view({});
  each_part(kLeastTilesToRun, [&](size_t first, size_t last) { kernel_.targets(slots, rows, first, last); });
}

std::optional<Refusal> Batch::refuse(const Replay& replay) const {
  const auto [low, high] = std::minmax_element(replay.order, replay.order + replay.count);
  const uint8_t* histories = replay.histories + static_cast<size_t>(*low) * count::Steps;
  if (kernel_.legal(histories, static_cast<size_t>(*high - *low + 1) * count::Steps)) return std::nullopt;
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
  if (const auto refusal = refuse(replay)) return refusal;
  const size_t tiles = (replay.count + kTileLanes - 1) / kTileLanes;
  each_part_of(0, tiles, kLeastTilesToRun, [&](size_t first, size_t last) {
    Replayer(kernel_, *tables_, replay).play(first * kTileLanes, std::min(last * kTileLanes, replay.count));
  });
  return std::nullopt;
}

}  // namespace rhythm
