// Runs batches with several threads under ThreadSanitizer, one after the other and concurrently. Results must not depend on
// the number of threads.
#include <cstdio>
#include <deque>
#include <thread>

#include "call_sequence.h"

namespace rhythm {

namespace portable {
extern const Kernel kernel;
}
namespace scalar {
extern const Kernel kernel;
}

namespace {

// A tile has kTileLanes environments. A step uses threads from 512 tiles on, other calls from fewer. The last tile is not full.
constexpr int kNumEnvs = 520 * kTileLanes + 3;

class Heap : public Arrays {
  char* place(size_t bytes) override { return arrays_.emplace_back(bytes).data(); }

  std::deque<std::vector<char>> arrays_;
};

std::string play_on_threads(const Kernel& kernel, int threads) {
  Heap heap;
  return play(kernel, {kNumEnvs, /*columns=*/false, threads, /*brief=*/true}, heap);
}

}  // namespace
}  // namespace rhythm

int main() {
  using rhythm::play_on_threads;
  for (const rhythm::Kernel* kernel : {&rhythm::portable::kernel, &rhythm::scalar::kernel}) {
    const std::string expected = play_on_threads(*kernel, 1);
    for (const int threads : {2, 3, 8}) {
      if (play_on_threads(*kernel, threads) != expected) return std::printf("%s: %d threads differ\n", kernel->name, threads), 1;
    }
    // Several batches at once, as in worker threads.
    std::vector<std::thread> workers;
    std::vector<int> same(3, 0);
    for (size_t k = 0; k < same.size(); k++) workers.emplace_back([&, k] { same[k] = play_on_threads(*kernel, 3) == expected; });
    for (std::thread& worker : workers) worker.join();
    for (const int each : same) {
      if (!each) return std::printf("%s: concurrent batches give other results\n", kernel->name), 1;
    }
    std::printf("%s: all results are equal\n", kernel->name);
  }
}
