// A sequence of calls on two batches, whose arrays come from the caller's allocator.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "batch.h"

namespace rhythm {

// The allocator of a sequence's arrays.
class Arrays {
 public:
  virtual ~Arrays() = default;

  // Allocates an array of zeros.
  template <class T>
  T* take(size_t length) {
    taken_.emplace_back(place(length * sizeof(T)), length * sizeof(T));
    return reinterpret_cast<T*>(taken_.back().first);
  }

  // The bytes of all arrays, in order of allocation.
  std::string contents() const {
    size_t whole = 0;
    for (const auto& taken : taken_) whole += taken.second;
    std::string all;
    all.reserve(whole);
    for (const auto& [bytes, length] : taken_) all.append(bytes, length);
    return all;
  }

 private:
  // Allocates zeroed bytes, which stay allocated as long as this object exists.
  virtual char* place(size_t bytes) = 0;

  std::vector<std::pair<char*, size_t>> taken_;
};

struct Shape {
  int num_envs;
  bool columns;  // whether the outputs of the first batch are column-major; the second batch has the other layout
  int threads;
  bool only_steps;  // whether to leave out runs and gathers, and make only a few steps
};

// Plays the sequence. Returns the final bytes of all its arrays, which must not depend on the kernel, the threads or the
// location of the arrays.
std::string play(const Kernel& kernel, const Shape& shape, Arrays& arrays);

}  // namespace rhythm
