// A story that uses every call of two batches, on arrays from wherever its caller takes them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "batch.h"

namespace rhythm {

// Where a story's arrays come from.
class Arrays {
 public:
  virtual ~Arrays() = default;

  // Zeros.
  template <class T>
  T* take(size_t length) {
    taken_.emplace_back(place(length * sizeof(T)), length * sizeof(T));
    return reinterpret_cast<T*>(taken_.back().first);
  }

  // All that was taken, one after the other.
  std::string contents() const {
    size_t whole = 0;
    for (const auto& taken : taken_) whole += taken.second;
    std::string all;
    all.reserve(whole);
    for (const auto& [bytes, length] : taken_) all.append(bytes, length);
    return all;
  }

 private:
  // Zeros that stay as long as this object.
  virtual char* place(size_t bytes) = 0;

  std::vector<std::pair<char*, size_t>> taken_;
};

struct Shape {
  int slots;
  bool columns;  // how the first batch lays out its outputs; the second has it the other way round
  int threads;
  bool brief;  // whether a few steps and runs are enough
};

// Lives the story and returns what all its arrays hold in the end, which neither the kernel nor the threads nor where
// the arrays lie may change.
std::string live(const Kernel& kernel, const Shape& shape, Arrays& arrays);

}  // namespace rhythm
