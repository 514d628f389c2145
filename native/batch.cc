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

std::optional<Refusal> Batch::refuse(const Step& step) const {
  for (int slot = 0; slot < slots_; slot++) {
    if (step.mask != nullptr && step.mask[slot] == 0) continue;
    const int action = step.actions[slot];
    if (action >= count::Actions) return Refusal{Refusal::Code::IllegalAction, slot, -1, action};
    if (word(slot, state::Step) >= count::Steps) return Refusal{Refusal::Code::EpisodeOver, slot, -1, 0};
  }
  return std::nullopt;
}

std::optional<Refusal> Batch::refuse(const Run& run) const {
  if (run.policy != Policy::Tape) return std::nullopt;
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

void Batch::gather(const Batch& other, const uint32_t* indices) {
  std::vector<uint32_t> words(static_cast<size_t>(slots_) * count::StateWords);
  for (int slot = 0; slot < slots_; slot++) {
    for (int k = 0; k < count::StateWords; k++) {
      words[static_cast<size_t>(slot) * count::StateWords + static_cast<size_t>(k)] =
          other.word(static_cast<int>(indices[slot]), k);
    }
  }
  load(words.data());
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
