// The computations on arrays as JavaScript functions: unwraps and checks arguments. src/engine/arrays.ts explains them.
#pragma once
#include <napi.h>

#include "arguments.h"
#include "encoder.h"

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

}  // namespace rhythm
