// Batches stepped by several threads, for ThreadSanitizer: every call that is shared out, over and over, and batches
// that come and go while others work. What is computed must not depend on the threads.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "batch.h"

namespace rhythm {

namespace portable {
extern const Kernel kernel;
}
namespace scalar {
extern const Kernel kernel;
}

namespace {

namespace count = world::count;

// Enough tiles for every call to be shared out, and a last one that is not full.
constexpr int kSlots = 520 * kTileLanes + 3;

struct Memory {
  template <class T>
  static std::vector<T> rows(int width) {
    return std::vector<T>(static_cast<size_t>(kSlots) * static_cast<size_t>(width));
  }
  std::vector<float> observations = rows<float>(count::ObservationFloats);
  std::vector<float> final_observations = rows<float>(count::ObservationFloats);
  std::vector<float> components = rows<float>(count::Components);
  std::vector<float> rewards = rows<float>(1), scores = rows<float>(1), mae = rows<float>(1), returns = rows<float>(1);
  std::vector<float> early = rows<float>(1), late = rows<float>(1);
  std::vector<int32_t> lengths = rows<int32_t>(1);
  std::vector<uint8_t> terminated = rows<uint8_t>(1), final_mask = rows<uint8_t>(1);
  Outputs outputs() {
    return {observations.data(), final_observations.data(), components.data(), rewards.data(),
            scores.data(),       mae.data(),                early.data(),      late.data(),
            returns.data(),      lengths.data(),            terminated.data(), final_mask.data(), 0};
  }
};

// Legal words that are all alike: what is computed is of no interest here, only who touches it.
std::vector<uint32_t> any_block() {
  std::vector<uint32_t> words(count::BlockWords, 0);
  const float half = 0.5f;
  for (int k = 0; k < world::block::EventThreshold; k++) std::memcpy(&words[static_cast<size_t>(k)], &half, sizeof half);
  words[world::block::EventThreshold] = 1u << 30;
  return words;
}

// A story that uses every call; returns all that it leaves behind.
std::vector<uint32_t> live(const Kernel& kernel, int threads) {
  const std::vector<uint32_t> block = any_block();
  Batch batch(kernel, block.data(), false, kSlots, threads);
  Memory memory;
  const Outputs out = memory.outputs();
  std::vector<uint32_t> seeds(kSlots), indices(kSlots);
  std::vector<uint8_t> actions(kSlots), mask(kSlots);
  for (int i = 0; i < kSlots; i++) {
    const size_t at = static_cast<size_t>(i);
    seeds[at] = static_cast<uint32_t>(i), indices[at] = static_cast<uint32_t>(kSlots - 1 - i);
    actions[at] = static_cast<uint8_t>(i % count::Actions), mask[at] = i % 3 == 0;
  }
  std::vector<uint32_t> words(static_cast<size_t>(kSlots) * count::StateWords);
  std::vector<uint64_t> hashes(kSlots);
  std::vector<float> targets(static_cast<size_t>(kSlots) * count::Beliefs);
  batch.reset(out, {nullptr, seeds.data(), nullptr, nullptr, nullptr, false, nullptr});
  for (int t = 0; t < 4; t++) {
    if (batch.step(out, {actions.data(), nullptr, nullptr, nullptr}, {mask.data(), seeds.data()})) std::abort();
    batch.hash(hashes.data());
    batch.targets(targets.data());
  }
  batch.gather(out, {&batch, out, indices.data()});
  Run run = {};
  run.policy = Policy::Heuristic;
  Batch other(kernel, block.data(), false, kSlots, threads);
  Memory shown;
  if (other.run(shown.outputs(), run, {0, kSlots}, {&batch, out, indices.data()})) std::abort();
  if (batch.run(out, run, {0, kSlots / 2 / kTileLanes * kTileLanes}, {})) std::abort();
  batch.save(words.data(), nullptr, kSlots);
  if (!other.load(shown.outputs(), words.data())) std::abort();
  other.save(words.data(), indices.data(), kSlots);
  for (const uint64_t hash : hashes) words.push_back(static_cast<uint32_t>(hash));
  return words;
}

}  // namespace
}  // namespace rhythm

int main() {
  using rhythm::live;
  for (const rhythm::Kernel* kernel : {&rhythm::portable::kernel, &rhythm::scalar::kernel}) {
    const auto alone = live(*kernel, 1);
    for (const int threads : {2, 3, 8}) {
      if (live(*kernel, threads) != alone) return std::printf("%s: %d threads differ\n", kernel->name, threads), 1;
    }
    // Several batches at once, as worker threads have them.
    std::vector<std::thread> workers;
    std::vector<int> same(3, 0);
    for (size_t k = 0; k < same.size(); k++) workers.emplace_back([&, k] { same[k] = live(*kernel, 3) == alone; });
    for (std::thread& worker : workers) worker.join();
    for (const int each : same) {
      if (!each) return std::printf("%s: batches disturb each other\n", kernel->name), 1;
    }
    std::printf("%s: no race, and no difference\n", kernel->name);
  }
}
