// Encodes observations: copies, scales or one-hot encodes their numbers. rhythm_vec.observations decides which.
#pragma once
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "arrays.h"
#include "generated/world.h"

namespace rhythm::python {

// A record of the history has the numbers of an observation that describe the last step: those from the last action on.
inline constexpr size_t kRecordStart = world::observation::LastAction;
inline constexpr size_t kRecordSize = world::count::ObservationFloats - kRecordStart;

class Encoder {
 public:
  // `width` is the size of an encoded observation, `steps` the number of records in a history. Each part is a tuple
  // (source, size, target, codes, is_past): `size` numbers of a raw observation, from index `source` on, are written to the
  // encoded one, from index `target` on. If `is_past`, the `size` numbers of each record of the history are written, one record
  // after the other. If `codes` is above 0, the raw number is a code, and is written as a one-hot block of `codes` numbers. The
  // first of them stands for the code first_codes[source]. `first_codes` is f32 [22]. `low` and `inverse_span`, f64 [22], scale
  // numbers that are not one-hot; if they are None, these numbers are copied.
  Encoder(size_t width, size_t steps, const py::list& parts, const py::object& first_codes, const py::object& low,
          const py::object& inverse_span)
      : width_(width), steps_(steps), is_scaled_(!low.is_none()) {
    if (steps < 1) raise_input("out_of_range", "Expected at least one record in a history, got 0. Pass the number of records.");
    std::copy_n(data_of<float>(first_codes, kWidth, "first_codes"), kWidth, first_codes_);
    if (is_scaled_) {
      std::copy_n(data_of<double>(low, kWidth, "low"), kWidth, low_);
      std::copy_n(data_of<double>(inverse_span, kWidth, "inverse_span"), kWidth, inverse_span_);
    }
    for (const py::handle& item : parts) add(py::cast<py::tuple>(item));
  }

  size_t width() const { return width_; }
  bool has_history() const { return !past_.empty(); }
  // The number of floats of an environment's history.
  size_t history_size() const { return steps_ * kRecordSize; }

  // Writes the observations of the environments of a mask (null: all). `history` is f32 [num_envs, steps, 12], or null
  // without histories. `raw_stride` and `out_stride` are 0 for row-major arrays, else the distance between columns.
  void encode(const float* raw, size_t raw_stride, const float* history, float* out, size_t out_stride, const uint8_t* mask,
              size_t num_envs) const {
    for (size_t env = 0; env < num_envs; env++) {
      if (mask != nullptr && mask[env] == 0) continue;
      float numbers[kWidth];
      for (size_t k = 0; k < kWidth; k++) numbers[k] = raw_stride == 0 ? raw[env * kWidth + k] : raw[k * raw_stride + env];
      const float* records = history == nullptr ? nullptr : history + env * steps_ * kRecordSize;
      // A constant distance of 1 lets the compiler write several numbers at once.
      if (out_stride == 0) {
        write_env(numbers, records, out + env * width_, std::integral_constant<size_t, 1>{});
      } else {
        write_env(numbers, records, out + env, out_stride);
      }
    }
  }

  // Appends the record of the last step to the history of each environment of a mask (null: all), and drops the oldest.
  void push(const float* raw, size_t raw_stride, float* history, const uint8_t* mask, size_t num_envs) const {
    const size_t kept = (steps_ - 1) * kRecordSize;
    for (size_t env = 0; env < num_envs; env++) {
      if (mask != nullptr && mask[env] == 0) continue;
      float* records = history + env * steps_ * kRecordSize;
      std::memmove(records, records + kRecordSize, kept * sizeof(float));
      for (size_t k = 0; k < kRecordSize; k++) {
        records[kept + k] = raw_stride == 0 ? raw[env * kWidth + kRecordStart + k] : raw[(kRecordStart + k) * raw_stride + env];
      }
    }
  }

 private:
  static constexpr size_t kWidth = world::count::ObservationFloats;
  struct Part {
    size_t source, size, target, codes;
  };

  void add(const py::tuple& item) {
    const auto number = [&](size_t k) { return py::cast<size_t>(item[k]); };
    const Part part = {number(0), number(1), number(2), number(3)};
    const bool is_past = py::cast<bool>(item[4]);
    const size_t written = (part.codes > 0 ? part.codes : part.size) * (is_past ? steps_ : 1);
    const size_t first = is_past ? kRecordStart : 0;
    if ((part.size != 1 && part.size != world::count::Meters) || part.source < first || part.source > kWidth - part.size ||
        written > width_ || part.target > width_ - written) {
      raise_input("out_of_range", "Expected a part inside the observation, got another. Pass the parts of rhythm_vec.observations.");
    }
    (is_past ? past_ : current_).push_back(part);
  }

  // Writes an environment's observation from `out` on. `stride` is the distance from each of its numbers to the next.
  template <class Stride>
  void write_env(const float* numbers, const float* records, float* out, Stride stride) const {
    write<0>(current_, numbers, 0, out, stride);
    if (records == nullptr) return;
    for (size_t step = 0; step < steps_; step++) write<kRecordStart>(past_, records + step * kRecordSize, step, out, stride);
  }

  // Writes `parts` of one record of the history, or of the current observation. `step` is the record's index; it is 0 for the
  // current observation. numbers[0] is the raw number at index First of an observation.
  template <size_t First, class Stride>
  void write(const std::vector<Part>& parts, const float* numbers, size_t step, float* out, Stride stride) const {
    float encoded[kWidth - First];
    for (size_t k = 0; k < kWidth - First; k++) encoded[k] = is_scaled_ ? scaled(numbers[k], First + k) : numbers[k];
    for (const Part& part : parts) {
      float* block = out + (part.target + step * (part.codes > 0 ? part.codes : part.size)) * stride;
      if (part.codes > 0) {
        write_one_hot(numbers[part.source - First] - first_codes_[part.source], part.codes, block, stride);
      } else if (part.size == 1) {
        block[0] = encoded[part.source - First];
      } else {
        for (size_t k = 0; k < world::count::Meters; k++) block[k * stride] = encoded[part.source - First + k];
      }
    }
  }

  template <class Stride>
  static void write_one_hot(float code, size_t codes, float* block, Stride stride) {
    for (size_t k = 0; k < codes; k++) block[k * stride] = 0;
    if (code >= 0 && code < static_cast<float>(codes)) block[static_cast<size_t>(code) * stride] = 1;
  }

  // Scales in float64 and rounds once.
  float scaled(float number, size_t k) const {
    const double x = (static_cast<double>(number) - low_[k]) * inverse_span_[k];
    return static_cast<float>(x < 0 ? 0 : x > 1 ? 1 : x);
  }

  const size_t width_, steps_;
  const bool is_scaled_;
  float first_codes_[kWidth];
  double low_[kWidth] = {}, inverse_span_[kWidth] = {};
  std::vector<Part> current_, past_;
};

}  // namespace rhythm::python
