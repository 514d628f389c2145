// The computations on arrays as JavaScript functions: unwraps and checks arguments. src/engine/arrays.ts explains them.
#pragma once
#include <napi.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "arguments.h"
#include "encoder.h"
#include "rewards.h"
#include "student.h"

namespace rhythm {

// Returns the rows of argument `at`, `width` numbers for each environment; the stride is the next argument.
template <class T>
StridedRows<T> rows_of(Arguments& args, size_t at, size_t num_envs, size_t width, const char* name) {
  const size_t stride = args.column_stride(args.value(at + 1), num_envs);
  return {args.array<T>(at, napi_float32_array, width * (stride == 0 ? num_envs : stride), name), stride};
}

// (numEnvs, parts, numParts, width, raw, rawStride, history, out, outStride, mask)
inline void Encode(const Napi::CallbackInfo& info) {
  Arguments args(info);
  const size_t num_envs = static_cast<size_t>(args.integer(info[0], 1, world::count::MaxEnvs, "numEnvs"));
  const size_t num_parts = static_cast<size_t>(args.integer(info[2], 1, Encoder::kMaxParts, "numParts"));
  const size_t width = static_cast<size_t>(args.integer(info[3], 1, Encoder::kMaxWidth, "width"));
  const auto* parts = args.array<const double>(1, napi_float64_array, num_parts * Encoder::kPartNumbers, "parts");
  if (!args.ok()) return;
  const Encoder encoder(parts, num_parts, width);
  if (!encoder.is_legal()) args.fail<int>("parts", "parts inside the observation");
  const auto raw = rows_of<const float>(args, 4, num_envs, world::count::ObservationFloats, "raw");
  const float* history = nullptr;
  if (encoder.has_history()) history = args.array<const float>(6, napi_float32_array, num_envs * kHistorySize, "history");
  const auto out = rows_of<float>(args, 7, num_envs, width, "out");
  const auto* mask = args.array_or_null<const uint8_t>(9, napi_uint8_array, num_envs, "mask");
  if (args.ok()) encoder.encode(raw, history, out, mask, num_envs);
}

// (numEnvs, raw, rawStride, history, mask)
inline void PushHistory(const Napi::CallbackInfo& info) {
  Arguments args(info);
  const size_t num_envs = static_cast<size_t>(args.integer(info[0], 1, world::count::MaxEnvs, "numEnvs"));
  const auto raw = rows_of<const float>(args, 1, num_envs, world::count::ObservationFloats, "raw");
  float* history = args.array<float>(3, napi_float32_array, num_envs * kHistorySize, "history");
  const auto* mask = args.array_or_null<const uint8_t>(4, napi_uint8_array, num_envs, "mask");
  if (args.ok()) push_history(raw, history, mask, num_envs);
}

// (rows, numbers, actions, given, stepRewards, beliefMae, beliefSkill, histories, stops, and the six columns of RewardColumns)
inline void StackRewards(const Napi::CallbackInfo& info) {
  Arguments args(info);
  const size_t count = static_cast<size_t>(args.integer(info[0], 1, std::numeric_limits<int>::max(), "rows"));
  const auto* numbers = args.array<const double>(1, napi_float64_array, kRewardNumbers, "numbers");
  const RewardRows rows = {count,
                           args.array<const int8_t>(2, napi_int8_array, count, "actions"),
                           args.array<const uint8_t>(3, napi_uint8_array, count, "given"),
                           args.array<const double>(4, napi_float64_array, count, "stepRewards"),
                           args.array<const double>(5, napi_float64_array, count, "beliefMae"),
                           args.array_or_null<const double>(6, napi_float64_array, count, "beliefSkill"),
                           args.array_or_null<const uint8_t>(7, napi_uint8_array, count * world::count::Steps, "histories"),
                           args.array_or_null<const uint8_t>(8, napi_uint8_array, count, "stops")};
  const auto column = [&](size_t at) { return args.array<float>(at, napi_float32_array, count, "rewards"); };
  const RewardColumns out = {column(9), column(10), column(11), column(12), column(13), column(14)};
  if (!args.ok()) return;
  RewardNumbers read;
  std::memcpy(&read, numbers, sizeof read);
  if ((rows.histories == nullptr) == (rows.stops == nullptr) && read.window >= 1) stack_rewards(read, rows, out);
  else args.fail<int>("stops and window", "stops with histories, and a window above 0");
}

// (numEnvs, block, observations, playing, memory, inputs). Returns 0 if an observation has an illegal step or action, else 1.
inline Napi::Value Observe(const Napi::CallbackInfo& info) {
  Arguments args(info);
  const size_t num_envs = static_cast<size_t>(args.integer(info[0], 1, world::count::MaxEnvs, "numEnvs"));
  const auto* block = args.array<const uint32_t>(1, napi_uint32_array, world::count::BlockWords, "block");
  const auto* observations =
      args.array<const float>(2, napi_float32_array, num_envs * world::count::ObservationFloats, "observations");
  const auto* playing = args.array<const uint8_t>(3, napi_uint8_array, num_envs, "playing");
  auto* memory = args.array<float>(4, napi_float32_array, num_envs * kStudentMemorySize, "memory");
  auto* inputs = args.array<float>(5, napi_float32_array, num_envs * kFeatures, "inputs");
  const bool is_legal =
      args.ok() && observe(block, num_envs, observations, playing, reinterpret_cast<StudentMemory*>(memory), inputs);
  return Napi::Number::New(info.Env(), is_legal);
}

// (sizes, numLayers, weights, rows, inputs, outputs, scratch)
inline void Forward(const Napi::CallbackInfo& info) {
  Arguments args(info);
  const size_t layers = static_cast<size_t>(args.integer(info[1], 1, kMaxLayers, "numLayers"));
  const auto* sizes = args.array<const uint32_t>(0, napi_uint32_array, layers + 1, "sizes");
  const size_t rows = static_cast<size_t>(args.integer(info[3], 1, std::numeric_limits<int>::max(), "rows"));
  if (!args.ok()) return;
  if (!legal_sizes(sizes, layers)) return static_cast<void>(args.fail<int>("sizes", "layers of 1 to 2^16 numbers"));
  const auto* weights = args.array<const float>(2, napi_float32_array, weights_of(sizes, layers), "weights");
  const auto* inputs = args.array<const float>(4, napi_float32_array, rows * sizes[0], "inputs");
  auto* outputs = args.array<float>(5, napi_float32_array, rows * sizes[layers], "outputs");
  auto* scratch = args.array<float>(6, napi_float32_array, 3 * *std::max_element(sizes, sizes + layers + 1), "scratch");
  if (args.ok()) forward(sizes, layers, weights, rows, inputs, outputs, scratch);
}

}  // namespace rhythm
