// Runs every supported kernel on arrays that end, then on arrays that begin, at a protected page. This detects accesses
// just outside an array. It also detects masked instructions that touch memory outside their mask. Sanitizers miss these,
// because they check loads and stores in the code, not the memory accesses of the processor.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "call_sequence.h"

namespace rhythm {
namespace {

enum class Edge { End, Begin };

// Puts each array on its own pages, between two protected pages.
class Pages : public Arrays {
 public:
  explicit Pages(Edge edge) : edge_(edge) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() override {
    for (const auto& [from, bytes] : mapped_) munmap(from, bytes);
  }

 private:
  char* place(size_t bytes) override {
    const size_t room = (bytes + page_ - 1) / page_ * page_, whole = room + 2 * page_;
    void* from = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (from == MAP_FAILED) std::perror("mmap"), std::abort();
    mapped_.emplace_back(from, whole);
    char* first = static_cast<char*>(from) + page_;
    if (mprotect(first, room, PROT_READ | PROT_WRITE) != 0) std::perror("mprotect"), std::abort();
    return edge_ == Edge::End ? first + room - bytes : first;
  }

  const Edge edge_;
  const size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<std::pair<void*, size_t>> mapped_;
};

// The current call sequence, for the signal handler.
char location[128];

// Prints the location. The signal's default action follows.
void print_location(int) {
  if (write(STDOUT_FILENO, location, std::strlen(location)) < 0) _exit(1);
}

void print_location_on_fault() {
  struct sigaction action = {};
  action.sa_handler = print_location;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS}) sigaction(signal, &action, nullptr);
}

// The last two use threads: steps do from 512 tiles on, other calls from 32.
std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const int num_envs : {1, 3, 15, 16, 17, 33}) {
    for (const bool columns : {false, true}) all.push_back({num_envs, columns, 1, false});
  }
  all.push_back({40 * kTileLanes + 3, true, 3, false});
  all.push_back({520 * kTileLanes + 3, false, 3, true});
  return all;
}

// Returns whether the kernel gives the expected results at both edges. `expected` has the results by num_envs and layout; the
// function adds missing results to it.
bool same_everywhere(const Kernel& kernel, std::map<std::pair<int, bool>, std::string>& expected) {
  for (const Edge edge : {Edge::End, Edge::Begin}) {
    for (const Shape& shape : shapes()) {
      std::snprintf(location, sizeof location, "%s: accesses a protected page (arrays that %s at one, %d environments, %s)\n",
                    kernel.name, edge == Edge::End ? "end" : "begin", shape.num_envs, shape.columns ? "columns" : "rows");
      Pages pages(edge);
      const std::string got = play(kernel, shape, pages);
      if (expected.try_emplace({shape.num_envs, shape.columns}, got).first->second != got) return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace rhythm

int main() {
  rhythm::print_location_on_fault();
  std::map<std::pair<int, bool>, std::string> expected;
  for (int k = 0; k < rhythm::kKernelCount; k++) {
    const rhythm::KnownKernel& known = rhythm::kKernels[k];
    const char* name = known.kernel->name;
    if (!known.supported()) {
      std::printf("%s: not tested, this processor cannot run it\n", name);
    } else if (rhythm::same_everywhere(*known.kernel, expected)) {
      std::printf("%s: accesses only its arrays, and all results are equal\n", name);
    } else {
      return std::printf("%s: its results depend on the location of its arrays, or differ from an earlier kernel's\n", name), 1;
    }
    std::fflush(stdout);
  }
}
