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

// A tile has kTileLanes environments. Steps use threads from 512 tiles on, other calls from 32. The last tile is not full.
constexpr Shape kShapes[] = {{520 * kTileLanes + 3, false, 0, true}, {40 * kTileLanes + 3, false, 0, false}};

class Heap : public Arrays {
  char* place(size_t bytes) override { return arrays_.emplace_back(bytes).data(); }

  std::deque<std::vector<char>> arrays_;
};

std::string play_on_threads(const Kernel& kernel, int threads) {
  std::string all;
  for (Shape shape : kShapes) {
    Heap heap;
    shape.threads = threads;
    all += play(kernel, shape, heap);
  }
  return all;
}

}  // namespace
}  // namespace rhythm

int main() {
  using rhythm::play_on_threads;
  for (const rhythm::Kernel* kernel : {&rhythm::portable::kernel, &rhythm::scalar::kernel}) {
    const std::string expected = play_on_threads(*kernel, 8);
    // Several batches at once, as in worker threads, on 1 and 2 threads.
    std::vector<std::thread> workers;
    std::vector<int> same(2, 0);
    for (int k = 0; k < 2; k++) workers.emplace_back([&, k] { same[k] = play_on_threads(*kernel, k + 1) == expected; });
    for (std::thread& worker : workers) worker.join();
    for (int k = 0; k < 2; k++) {
      if (!same[k]) return std::printf("%s: a concurrent batch on %d threads gives other results\n", kernel->name, k + 1), 1;
    }
    std::printf("%s: all results are equal\n", kernel->name);
  }
}
