// Counts the steps that read all states to find a refusal (find_refused of kernel.h). A step reads them only if an episode may
// have ended: about once per episode, with and without autoreset. Also checks that the first step after an end is refused.
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "batch.h"

namespace rhythm {

namespace count = world::count;
namespace scalar {
extern const Kernel kernel;
}

namespace {

constexpr int kNumEnvs = kTileLanes + 3;
constexpr int kEpisodes = 5;
constexpr int kFirstPart = 10;  // the steps of some environments before the others begin

int scans = 0;

size_t counted_find_refused(const Envs& envs, const Step& step, const uint8_t* resets, size_t first, size_t last,
                            uint32_t& latest) {
  scans++;
  return scalar::kernel.find_refused(envs, step, resets, first, last, latest);
}

Kernel counting_kernel() {
  Kernel kernel = scalar::kernel;
  kernel.find_refused = counted_find_refused;
  return kernel;
}

// A batch with a world, outputs and arguments. The numbers of the world do not matter: the floats are 0.5, the other words 0.
struct Episodes {
  using Bytes = std::vector<uint8_t>;
  Episodes() : batch(kernel, with_halves(block), false, kNumEnvs, 1) {
    float* at = floats.data();
    const auto take = [&at](int width) { return (at += kNumEnvs * width) - kNumEnvs * width; };
    float* components = take(count::Components);
    float* one[6];
    for (float*& column : one) column = take(1);
    out = {nullptr, nullptr, components,     one[0],       one[1],                  one[2], one[3],
           one[4],  one[5],  lengths.data(), flags.data(), flags.data() + kNumEnvs, 0};
    for (size_t i = 0; i < kNumEnvs; i++) even[i] = i % 2 == 0, odd[i] = i % 2;
    reset(nullptr);
    scans = 0;
  }
  static const uint32_t* with_halves(std::vector<uint32_t>& block) {
    const float half = 0.5f;
    for (size_t k = 0; k < world::block::EventThreshold; k++) std::memcpy(&block[k], &half, sizeof half);
    return block.data();
  }
  void reset(const uint8_t* mask) {
    batch.reset(out, {mask, seeds.data(), nullptr, nullptr, nullptr, false, nullptr, nullptr});
  }
  // Takes a step. Returns the environment whose episode is over, or -1.
  int step(const uint8_t* mask = nullptr, const uint8_t* resets = nullptr) {
    const AutoReset autoreset = {resets, resets == nullptr ? nullptr : seeds.data()};
    const auto refusal = batch.step(out, {actions.data(), nullptr, nullptr, mask}, autoreset);
    return refusal ? refusal->index : -1;
  }

  const Kernel kernel = counting_kernel();
  std::vector<uint32_t> block = std::vector<uint32_t>(count::BlockWords), seeds = std::vector<uint32_t>(kNumEnvs);
  std::vector<float> floats = std::vector<float>(kNumEnvs * (count::Components + 6));
  std::vector<int32_t> lengths = std::vector<int32_t>(kNumEnvs);
  std::vector<uint8_t> flags = Bytes(2 * kNumEnvs), actions = Bytes(kNumEnvs);
  std::vector<uint8_t> all = Bytes(kNumEnvs, 1), none = Bytes(kNumEnvs), even = none, odd = none;
  Outputs out = {};
  Batch batch;
};

// Plays episodes and resets all environments in the step that ends them.
bool same_step() {
  Episodes e;
  bool accepted = true;
  for (int t = 1; t <= kEpisodes * count::Steps; t++) {
    accepted &= e.step(nullptr, t % count::Steps == 0 ? e.all.data() : nullptr) < 0;
  }
  return accepted && scans == kEpisodes - 1;
}

// Plays episodes and resets all environments in the step after their ends.
bool next_step() {
  Episodes e;
  bool accepted = true;
  for (int t = 1; t <= kEpisodes * (count::Steps + 1); t++) {
    const bool resets = t % (count::Steps + 1) == 0;
    accepted &= e.step(resets ? e.none.data() : nullptr, resets ? e.all.data() : nullptr) < 0;
  }
  // Two in each episode: the bound counts the step that resets all environments, although no environment takes it.
  return accepted && scans <= 2 * kEpisodes;
}

// Plays episodes and begins each with resets of masks.
bool masked_resets() {
  Episodes e;
  bool accepted = true;
  for (int t = 1; t <= kEpisodes * count::Steps; t++) {
    accepted &= e.step() < 0;
    if (t % count::Steps == 0) e.reset(e.even.data()), e.reset(e.odd.data());
  }
  return accepted && scans == kEpisodes - 1;
}

// Lets odd environments begin later, so that episodes end at two times. Resets those that end in the same step.
bool two_groups() {
  Episodes e;
  bool accepted = true;
  for (int t = 0; t < kFirstPart; t++) accepted &= e.step(e.even.data()) < 0;
  for (int t = 1; t <= kEpisodes * count::Steps; t++) {
    const uint8_t* resets = nullptr;
    if ((t + kFirstPart) % count::Steps == 0) resets = e.even.data();
    if (t % count::Steps == 0) resets = e.odd.data();
    accepted &= e.step(nullptr, resets) < 0;
  }
  return accepted && scans <= 2 * kEpisodes;
}

// Ends the even environments first, after a scan has lowered the bound. Refuses exactly the step after the end.
bool refuses_after_end() {
  Episodes e;
  bool as_expected = true;
  for (int t = 0; t < count::Steps; t++) as_expected &= e.step() < 0;
  e.reset(e.odd.data());
  as_expected &= e.step() == 0;
  e.reset(e.even.data());
  for (int t = 0; t < kFirstPart; t++) as_expected &= e.step(e.odd.data()) < 0;
  for (int t = kFirstPart; t < count::Steps; t++) as_expected &= e.step() < 0;
  as_expected &= e.step() == 1;
  for (int t = count::Steps - kFirstPart; t < count::Steps; t++) as_expected &= e.step(e.even.data()) < 0;
  return as_expected && e.step() == 0 && e.step(e.odd.data()) == 1;
}

}  // namespace
}  // namespace rhythm

int main() {
  using namespace rhythm;
  const std::initializer_list<std::pair<const char*, bool (*)()>> tests = {{"same-step autoreset", same_step},
                                                                         {"next-step autoreset", next_step},
                                                                         {"resets of masks", masked_resets},
                                                                         {"two groups of environments", two_groups},
                                                                         {"a step after the end", refuses_after_end}};
  bool all = true;
  for (const auto& [name, test] : tests) {
    const bool passed = test();
    std::printf("%s: %s, the states were read in %d steps\n", name, passed ? "as expected" : "NOT AS EXPECTED", scans);
    all &= passed;
  }
  return all ? 0 : 1;
}
