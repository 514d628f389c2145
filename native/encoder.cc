// Writes encoded observations. encoder.h explains the parts.
#include "encoder.h"

#include <algorithm>
#include <cstring>

namespace rhythm {

namespace {

constexpr size_t kRawSize = world::count::ObservationFloats;
constexpr size_t kMeters = world::count::Meters;

// Writes `size` one-hot blocks.
void write_one_hot(const float* from, size_t size, float first_code, size_t codes, float* to) {
  std::memset(to, 0, size * codes * sizeof(float));
  for (size_t k = 0; k < size; k++, to += codes) {
    const float code = from[k] - first_code;
    if (code >= 0 && code < static_cast<float>(codes)) to[static_cast<size_t>(code)] = 1;
  }
}

// Scales in float64, rounds once, and clamps to [0, 1].
template <size_t Size>
void scale(const float* from, double low, double inverse_span, float* __restrict to) {
  for (size_t k = 0; k < Size; k++) {
    float x = static_cast<float>((static_cast<double>(from[k]) - low) * inverse_span);
    x = x > 0 ? x : 0;
    to[k] = x > 1 ? 1 : x;
  }
}

template <size_t Size>
void write_numbers(const float* from, double low, double inverse_span, float* to) {
  if (inverse_span != 0) scale<Size>(from, low, inverse_span, to);
  else std::memcpy(to, from, Size * sizeof(float));
}

// Drops the first `size` numbers of `steps`, and appends those of `last`, which are `distance` apart.
template <size_t Size>
void push(const float* last, size_t distance, float* steps) {
  std::memmove(steps, steps + Size, (kHistorySteps - 1) * Size * sizeof(float));
  for (size_t k = 0; k < Size; k++) steps[(kHistorySteps - 1) * Size + k] = last[k * distance];
}

}  // namespace

Encoder::Encoder(const double* parts, size_t num_parts, size_t width) : width_(width) {
  is_legal_ = num_parts <= kMaxParts && width <= kMaxWidth;
  for (size_t k = 0; is_legal_ && k < num_parts; k++) is_legal_ = add(parts + k * kPartNumbers);
}

bool Encoder::add(const double* numbers) {
  // Also false for NaN.
  const auto is_size = [](double number) { return number >= 0 && number <= kMaxWidth; };
  if (!std::all_of(numbers, numbers + 4, is_size)) return false;
  const auto at = [numbers](size_t k) { return static_cast<size_t>(numbers[k]); };
  const Part part = {at(0), at(1), at(2), at(3), numbers[4], numbers[5]};
  const bool is_past = part.source >= kRawSize;
  if (part.source + part.size > (is_past ? kRawSize + kHistorySize : kRawSize)) return false;
  if (part.target + part.size * std::max<size_t>(part.codes, 1) > width_) return false;
  const size_t entry = is_past ? part.size / kHistorySteps : part.size;
  if ((entry != 1 && entry != kMeters) || (is_past && part.size % kHistorySteps != 0)) return false;
  has_history_ = has_history_ || is_past;
  parts_[num_parts_++] = part;
  return true;
}

void Encoder::encode(const StridedRows<const float>& raw, const float* history, const StridedRows<float>& out,
                     const uint8_t* mask, size_t num_envs) const {
  // Columns are written for sixteen environments at a time: for a cache line.
  constexpr size_t block = 16;
  float rows[block][kMaxWidth], numbers[kRawSize];
  size_t envs[block];
  for (size_t begin = 0; begin < num_envs; begin += block) {
    size_t count = 0;
    for (size_t env = begin; env < std::min(begin + block, num_envs); env++) {
      if (mask != nullptr && mask[env] == 0) continue;
      const float* row = raw.at(env, kRawSize);
      if (raw.stride != 0) {
        for (size_t k = 0; k < kRawSize; k++) numbers[k] = row[k * raw.stride];
        row = numbers;
      }
      write(row, has_history_ ? history + env * kHistorySize : nullptr, out.stride == 0 ? out.at(env, width_) : rows[count]);
      envs[count++] = env;
    }
    if (out.stride == 0) continue;
    for (size_t k = 0; k < width_; k++) {
      for (size_t m = 0; m < count; m++) out.data[k * out.stride + envs[m]] = rows[m][k];
    }
  }
}

// Writes the observation of an environment.
void Encoder::write(const float* raw, const float* history, float* out) const {
  for (size_t p = 0; p < num_parts_; p++) {
    const auto [source, size, target, codes, low, inverse_span] = parts_[p];
    const float* from = source < kRawSize ? raw + source : history + (source - kRawSize);
    float* to = out + target;
    if (codes > 0) {
      write_one_hot(from, size, static_cast<float>(low), codes, to);
      continue;
    }
    switch (size) {
      case 1: write_numbers<1>(from, low, inverse_span, to); break;
      case kMeters: write_numbers<kMeters>(from, low, inverse_span, to); break;
      case kHistorySteps: write_numbers<kHistorySteps>(from, low, inverse_span, to); break;
      default: write_numbers<kHistorySteps * kMeters>(from, low, inverse_span, to);
    }
  }
}

void push_history(const StridedRows<const float>& raw, float* history, const uint8_t* mask, size_t num_envs) {
  const size_t step = raw.step();
  for (size_t env = 0; env < num_envs; env++) {
    if (mask != nullptr && mask[env] == 0) continue;
    const float* row = raw.at(env, kRawSize);
    float* steps = history + env * kHistorySize;
    push<1>(row + world::observation::LastAction * step, step, steps);
    push<1>(row + world::observation::Reward * step, step, steps + kHistorySteps);
    push<kMeters>(row + world::observation::Deltas * step, step, steps + 2 * kHistorySteps);
    push<kMeters>(row + world::observation::Anomalies * step, step, steps + (2 + kMeters) * kHistorySteps);
  }
}

}  // namespace rhythm
