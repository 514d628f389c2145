// The arrays of a trajectory, owned by JavaScript, for one call.
#pragma once
#include <napi.h>

#include "arguments.h"
#include "kernel.h"

namespace rhythm {

class TrajectoryArrays {
 public:
  // Keeps the arrays of `trajectory`, an object as in src/engine/backends/backend.ts. Runs its getters, so it must be called
  // before any address is read.
  bool read(Arguments& args, const Napi::Value& trajectory) {
    if (!trajectory.IsObject()) return args.fail<int>("trajectory", "an object") != nullptr;
    for (int k = 0; k < kArrays; k++) {
      array_[k] = trajectory.As<Napi::Object>().Get(kNames[k]);
      if (!array_[k].IsTypedArray()) return args.fail<int>(kNames[k], "a typed array") != nullptr;
    }
    return true;
  }

  // Returns the arrays' addresses, for `steps` steps of all environments together.
  Trajectory find(Arguments& args, size_t steps) const {
    const auto codes = [&](int k) { return args.elements<int8_t>(array_[k], napi_int8_array, steps, kNames[k]); };
    const auto floats = [&](int k, size_t width) {
      return args.elements<float>(array_[k], napi_float32_array, steps * width, kNames[k]);
    };
    constexpr size_t meters = world::count::Meters;
    return {codes(0), codes(1), floats(2, 1), floats(3, meters), floats(4, meters), floats(5, meters)};
  }

 private:
  // In the order of Trajectory: two arrays of codes, then the arrays of floats.
  static constexpr int kArrays = 6;
  static constexpr const char* kNames[kArrays] = {"actions", "events", "rewards", "meters", "deltas", "anomalies"};

  Napi::Value array_[kArrays];
};

}  // namespace rhythm
