// Fails the n-th allocation of each call of a batch, for every n. The call must then succeed, or throw std::bad_alloc and
// change nothing. An alarm ends a hanging process.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>

#include "batch.h"

namespace {

// The number of allocations that succeed before one fails. If it is negative, all succeed. Only the calling thread allocates.
long left = -1;
bool failed = false;

void* allocate(size_t bytes, size_t alignment) {
  if (left == 0) failed = true;
  if (left >= 0 && left-- == 0) return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* allocate_or_throw(size_t bytes, size_t alignment) {
  void* memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return allocate_or_throw(bytes, alignof(std::max_align_t)); }
void* operator new(size_t bytes, std::align_val_t to) { return allocate_or_throw(bytes, static_cast<size_t>(to)); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, alignof(std::max_align_t)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace rhythm {

namespace count = world::count;
namespace scalar {
extern const Kernel kernel;
}

namespace {

// 41 tiles (kernel.h), the last not full. Runs use threads from 32 tiles on (kMinTilesToRun of batch.cc).
constexpr int kNumEnvs = 40 * kTileLanes + 3;
constexpr int kThreads = 6;
constexpr size_t kRows = kNumEnvs;

template <class T>
using Column = std::vector<T>;

// The memory of a batch's outputs.
struct OutputMemory {
  Column<float> floats = Column<float>(static_cast<size_t>(kNumEnvs) * (count::ObservationFloats + count::Components + 6));
  Column<int32_t> lengths = Column<int32_t>(kNumEnvs);
  Column<uint8_t> flags = Column<uint8_t>(2 * kNumEnvs);

  Outputs outputs() {
    float* at = floats.data();
    const auto take = [&at](size_t width) { return (at += kNumEnvs * width) - kNumEnvs * width; };
    float* observations = take(count::ObservationFloats);
    float* components = take(count::Components);
    float* one[6];
    for (float*& column : one) column = take(1);
    return {observations, nullptr, components, one[0],         one[1],       one[2],                one[3], one[4],
            one[5],       lengths.data(),      flags.data(), flags.data() + kNumEnvs, 0};
  }
  bool operator==(const OutputMemory& other) const {
    return std::memcmp(floats.data(), other.floats.data(), floats.size() * sizeof(float)) == 0 && lengths == other.lengths &&
           flags == other.flags;
  }
};

// The world block and the arguments of all calls.
struct World {
  Column<uint32_t> block = Column<uint32_t>(count::BlockWords);
  Column<uint32_t> seeds = Column<uint32_t>(kNumEnvs), backwards = Column<uint32_t>(kNumEnvs);
  Column<uint8_t> codes = Column<uint8_t>(static_cast<size_t>(kNumEnvs) * count::Steps), modes = Column<uint8_t>(kNumEnvs);
  Column<int8_t> actions = Column<int8_t>(kNumEnvs);
  Column<float> grader = Column<float>(count::Components), floats = Column<float>(kRows);
  Column<uint64_t> hashes = Column<uint64_t>(kRows);
  Column<uint32_t> words = Column<uint32_t>(static_cast<size_t>(kNumEnvs) * count::StateWords);

  World() {
    // The numbers of the world do not matter: the floats are 0.5, the other words 0.
    const float half = 0.5f;
    for (int k = 0; k < world::block::EventThreshold; k++) std::memcpy(&block[static_cast<size_t>(k)], &half, sizeof half);
    for (uint32_t i = 0; i < kNumEnvs; i++) seeds[i] = i, backwards[i] = kNumEnvs - 1 - i, codes[i] = i % count::Actions;
  }
};

// The outputs and states of a batch.
struct Snapshot {
  OutputMemory outputs;
  Column<uint32_t> words = Column<uint32_t>(static_cast<size_t>(kNumEnvs) * count::StateWords);

  bool operator==(const Snapshot& other) const { return outputs == other.outputs && words == other.words; }
};

Snapshot snapshot_of(const Batch& batch, const OutputMemory& outputs) {
  Snapshot snapshot;
  snapshot.outputs = outputs;
  batch.save(snapshot.words.data(), nullptr, kNumEnvs);
  return snapshot;
}

constexpr int kCalls = 6;
// Makes call k of a batch. The caller has made calls 0 to k - 1 before.
void make_call(int k, Batch& batch, const Outputs& out, World& w) {
  Run run = {};
  run.policy = Policy::Heuristic;
  switch (k) {
    case 0:
      return batch.reset(out, {nullptr, w.seeds.data(), nullptr, nullptr, nullptr, false, nullptr, nullptr});
    case 1:
      batch.step(out, {w.codes.data(), nullptr, nullptr, nullptr}, {});
      return;
    case 2:
      return batch.gather(out, {&batch, out, w.backwards.data()});
    case 3:
      batch.run(out, run, {0, kNumEnvs}, {});
      return;
    case 4:
      batch.save(w.words.data(), w.backwards.data(), kNumEnvs);
      if (!batch.load(out, w.words.data(), false)) std::abort();
      return;
    default:
      batch.replay({w.backwards.data(), kRows, w.seeds.data(), w.modes.data(), nullptr, w.grader.data(), w.modes.data(),
                    w.codes.data(), w.actions.data(), nullptr, nullptr, nullptr, nullptr, w.floats.data(), w.floats.data(),
                    w.floats.data(), w.hashes.data()});
      return;
  }
}

// Makes the calls up to `last`; -1 is the constructor. Allocation n of the last call fails, counted from 0; none if n is -1.
// Sets `refused` to whether a call threw. Returns the outputs and states; null if the constructor failed.
std::unique_ptr<Snapshot> play(int last, long n, bool& refused) {
  World w;
  OutputMemory outputs;
  const Outputs out = outputs.outputs();
  refused = failed = false;
  std::unique_ptr<Batch> batch;
  const auto without_memory = [&](int k, const auto& work) {
    try {
      if (k == last) left = n;
      work();
    } catch (const std::bad_alloc&) {
      refused = true;
    }
    left = -1;
  };
  without_memory(-1, [&] { batch = std::make_unique<Batch>(scalar::kernel, w.block.data(), false, kNumEnvs, kThreads); });
  if (batch == nullptr) return nullptr;
  for (int k = 0; k <= last; k++) without_memory(k, [&] { make_call(k, *batch, out, w); });
  return std::make_unique<Snapshot>(snapshot_of(*batch, outputs));
}

// Returns whether call k either succeeds or changes nothing, for every failing allocation.
bool succeeds_or_changes_nothing(int k) {
  bool refused = false;
  int refusals = 0;
  const auto before = k < 0 ? nullptr : play(k - 1, -1, refused), after = play(k, -1, refused);
  for (long n = 0;; n++) {
    alarm(60);
    const auto got = play(k, n, refused);
    if (!failed) {
      std::printf("call %d: %ld allocations, the call throws for %d of them\n", k, n, refusals);
      return true;
    }
    refusals += refused;
    if (k < 0 ? refused != (got == nullptr) : !(*got == (refused ? *before : *after))) {
      std::printf("call %d without allocation %ld: the state equals neither that before the call nor that after it\n", k, n);
      return false;
    }
  }
}

}  // namespace
}  // namespace rhythm

int main() {
  for (int k = -1; k < rhythm::kCalls; k++) {
    if (!rhythm::succeeds_or_changes_nothing(k)) return 1;
    std::fflush(stdout);
  }
}
