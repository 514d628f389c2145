#include "batch.h"

#include <algorithm>

namespace rhythm {

namespace state = world::state;
namespace count = world::count;

namespace {

// A part smaller than this many tiles costs more to hand over than to do: a wake-up takes some microseconds.
constexpr size_t kLeastTilesToStep = 256;
constexpr size_t kLeastTilesToRun = 16;

// Whatever indexes a table or bounds a loop.
bool legal_codes(const uint32_t* words) {
  const uint32_t steps = words[state::Step];
  if (steps > count::Steps || words[state::Mode] > world::mode::Given || words[state::Given] > 1) return false;
  for (uint32_t t = 0; t < steps; t++) {
    if ((words[state::Tape + t / 8] >> 4 * (t % 8) & 15) >= count::Actions) return false;
  }
  return true;
}

// A loop that compilers turn into vector code.
uint8_t most(const uint8_t* bytes, size_t length) {
  uint8_t most = 0;
  for (size_t i = 0; i < length; i++) most = std::max(most, bytes[i]);
  return most;
}

void copy_shown(const Outputs& from, size_t index, const Outputs& to, size_t slot) {
  const auto row = [&](const float* source, float* target, size_t width) {
    std::copy_n(source + index * width, width, target + slot * width);
  };
  row(from.observations, to.observations, count::ObservationFloats);
  row(from.components, to.components, count::Components);
  row(from.rewards, to.rewards, 1);
  row(from.final_scores, to.final_scores, 1);
  row(from.belief_mae, to.belief_mae, 1);
  to.terminated[slot] = from.terminated[index];
}

// What a batch shows, kept while the original is overwritten.
class ShownCopy {
 public:
  Outputs of(const Outputs& from, size_t slots) {
    const auto keep = [&](std::vector<float>& copy, const float* source, size_t width) {
      copy.assign(source, source + slots * width);
      return copy.data();
    };
    terminated_.assign(from.terminated, from.terminated + slots);
    return {keep(observations_, from.observations, count::ObservationFloats),
            keep(rewards_, from.rewards, 1),
            terminated_.data(),
            keep(final_scores_, from.final_scores, 1),
            keep(components_, from.components, count::Components),
            keep(belief_mae_, from.belief_mae, 1)};
  }

 private:
  std::vector<float> observations_, rewards_, final_scores_, components_, belief_mae_;
  std::vector<uint8_t> terminated_;
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

template <class Work>
void Batch::each_part(size_t least, const Work& work) {
  if (threads_ == 1 || tiles_.size() < 2 * least) return work(0, tiles_.size());
  if (pool_ == nullptr) pool_ = std::make_unique<ThreadPool>(threads_);
  pool_->split(tiles_.size(), work);
}

void Batch::reset(const Outputs& out, const Reset& reset) {
  const Slots slots = view(out);
  each_part(kLeastTilesToRun, [&](size_t first, size_t last) { kernel_.reset(slots, reset, first, last); });
}

std::optional<Refusal> Batch::refuse(const Step& step) {
  const size_t tile = kernel_.check(view({}), step, 0, tiles_.size());
  for (int slot = static_cast<int>(tile) * kTileLanes; slot < slots_; slot++) {
    if (step.mask != nullptr && step.mask[slot] == 0) continue;
    const int action = step.actions[slot];
    if (action >= count::Actions) return Refusal{Refusal::Code::IllegalAction, slot, -1, action};
    if (word(slot, state::Step) >= count::Steps) return Refusal{Refusal::Code::EpisodeOver, slot, -1, 0};
  }
  return std::nullopt;
}

std::optional<Refusal> Batch::refuse(const Run& run) const {
  if (run.policy != Policy::Tape) return std::nullopt;
  const size_t length = static_cast<size_t>(slots_) * count::Steps;
  if (most(run.actions, length) < count::Actions) return std::nullopt;
  for (int slot = 0; slot < slots_; slot++) {
    const int stop = run.stops == nullptr ? count::Steps : run.stops[slot];
    for (int t = static_cast<int>(word(slot, state::Step)); t < stop; t++) {
      const int action = run.actions[static_cast<size_t>(slot) * count::Steps + static_cast<size_t>(t)];
      if (action >= count::Actions) return Refusal{Refusal::Code::IllegalAction, slot, t, action};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> Batch::step(const Outputs& out, const Step& step, const AutoReset& autoreset) {
  if (const auto refusal = refuse(step)) return refusal;
  forget_grades(out);
  const Slots slots = view(out);
  const Reset begin = {autoreset.mask, autoreset.seeds, nullptr, nullptr, nullptr, true};
  each_part(kLeastTilesToStep, [&](size_t first, size_t last) {
    kernel_.step(slots, step, first, last);
    if (begin.mask != nullptr) kernel_.reset(slots, begin, first, last);
  });
  stale_grades_ = begin.mask != nullptr;
  return std::nullopt;
}

std::optional<Refusal> Batch::run(const Outputs& out, const Run& run) {
  if (const auto refusal = refuse(run)) return refusal;
  forget_grades(out);
  const Slots slots = view(out);
  each_part(kLeastTilesToRun, [&](size_t first, size_t last) { kernel_.run(slots, run, first, last); });
  return std::nullopt;
}

void Batch::forget_grades(const Outputs& out) {
  if (!stale_grades_) return;
  stale_grades_ = false;
  for (int slot = 0; slot < slots_; slot++) {
    if (word(slot, state::Step) == count::Steps) continue;
    out.terminated[slot] = 0;
    out.final_scores[slot] = out.belief_mae[slot] = 0;
    std::fill_n(out.components + static_cast<size_t>(slot) * count::Components, count::Components, 0.0f);
  }
}

void Batch::gather(const Outputs& out, const Batch& other, const Outputs& from, const uint32_t* indices) {
  // A batch that gathers from itself would read what it has overwritten.
  const bool itself = &other == this;
  const std::vector<Tile> tiles = itself ? tiles_ : std::vector<Tile>();
  const Tile* source = itself ? tiles.data() : other.tiles_.data();
  ShownCopy copy;
  // A copied grade of a replaced episode is as stale as the original.
  stale_grades_ = other.stale_grades_;
  const Outputs shown = itself ? copy.of(from, static_cast<size_t>(slots_)) : from;
  each_part(kLeastTilesToRun, [&](size_t first, size_t last) {
    for (size_t tile = first; tile < last; tile++) gather_tile(tile, source, indices);
    const int end = std::min(slots_, static_cast<int>(last) * kTileLanes);
    for (int slot = static_cast<int>(first) * kTileLanes; slot < end; slot++) {
      copy_shown(shown, indices[slot], out, static_cast<size_t>(slot));
    }
  });
}

void Batch::gather_tile(size_t tile, const Tile* source, const uint32_t* indices) {
  const int first = static_cast<int>(tile) * kTileLanes;
  const int lanes = std::min(kTileLanes, slots_ - first);
  const uint32_t* words[kTileLanes];
  for (int lane = 0; lane < lanes; lane++) {
    const uint32_t index = indices[first + lane];
    words[lane] = &source[index / kTileLanes].words[0][index % kTileLanes];
  }
  for (int k = 0; k < count::StateWords; k++) {
    for (int lane = 0; lane < lanes; lane++) tiles_[tile].words[k][lane] = words[lane][k * kTileLanes];
  }
}

void Batch::save(uint32_t* words) const {
  for (int slot = 0; slot < slots_; slot++) {
    for (int k = 0; k < count::StateWords; k++) *words++ = word(slot, k);
  }
}

bool Batch::load(const uint32_t* words) {
  for (int slot = 0; slot < slots_; slot++) {
    if (!legal_codes(words + static_cast<size_t>(slot) * count::StateWords)) return false;
  }
  for (int slot = 0; slot < slots_; slot++) {
    for (int k = 0; k < count::StateWords; k++) word(slot, k) = *words++;
  }
  return true;
}

void Batch::show(const Outputs& out) {
  const Slots slots = view(out);
  each_part(kLeastTilesToRun, [&](size_t first, size_t last) { kernel_.show(slots, first, last); });
}

void Batch::hash(uint64_t* hashes) {
  const Slots slots = view({});
  each_part(kLeastTilesToRun, [&](size_t first, size_t last) { kernel_.hash(slots, hashes, first, last); });
}

void Batch::targets(float* rows) {
  const Slots slots = view({});
  each_part(kLeastTilesToRun, [&](size_t first, size_t last) { kernel_.targets(slots, rows, first, last); });
}

}  // namespace rhythm
