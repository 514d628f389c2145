// Encodes observations: copies, scales or one-hot encodes their numbers. The caller decides which: src/engine/observe/encoding.ts
// and rhythm_vec.observations.
#pragma once
#include <cstddef>
#include <cstdint>

#include "generated/world.h"

namespace rhythm {

// The number of past steps in a history (docs/world.md, What an agent sees). A history has the numbers of an observation that
// describe a step: last actions [7], rewards [7], deltas [7, 5] and anomalies [7, 5], each with the oldest step first.
constexpr size_t kHistorySteps = 7;
constexpr size_t kHistorySize = kHistorySteps * (world::count::ObservationFloats - world::observation::LastAction);

// Rows of numbers, one for each environment. With a stride above 0, number k of environment i is at k * stride + i.
template <class T>
struct StridedRows {
  T* data;
  size_t stride;
  // Returns the first number of an environment. `width` is the size of a row.
  T* at(size_t env, size_t width) const { return stride == 0 ? data + env * width : data + env; }
  size_t step() const { return stride == 0 ? 1 : stride; }
};

class Encoder {
 public:
  static constexpr size_t kMaxParts = 32, kMaxWidth = 512;
  // The numbers that describe a part: source, size, target, codes, low, inverse_span. `size` numbers of the source, a raw
  // observation followed by a history, are written to the encoded observation: from index `source` to index `target` on. If
  // `codes` is above 0, each is written as a one-hot block of `codes` numbers, of which the first stands for the code `low`.
  // Other numbers are scaled: to 0 at `low`, by the factor `inverse_span`. They are copied if `inverse_span` is 0.
  static constexpr size_t kPartNumbers = 6;

  // Reads the parts of an encoded observation of `width` numbers: f64 [parts, 6].
  Encoder(const double* parts, size_t num_parts, size_t width);

  // Returns whether all parts are inside the observation. Only then may `encode` be called.
  bool is_legal() const { return is_legal_; }
  bool has_history() const { return has_history_; }

  // Writes the observations of the environments of a mask (null: all) to `out`. `history` is f32 [num_envs, 84], or null without
  // histories.
  void encode(const StridedRows<const float>& raw, const float* history, const StridedRows<float>& out, const uint8_t* mask,
              size_t num_envs) const;

 private:
  struct Part {
    size_t source, size, target, codes;
    double low, inverse_span;
  };

  bool add(const double* numbers);
  void write(const float* raw, const float* history, float* out) const;

  const size_t width_;
  bool is_legal_, has_history_ = false;
  Part parts_[kMaxParts];
  size_t num_parts_ = 0;
};

// Appends the last step to the history of each environment of a mask (null: all), and drops the oldest.
void push_history(const StridedRows<const float>& raw, float* history, const uint8_t* mask, size_t num_envs);

}  // namespace rhythm
