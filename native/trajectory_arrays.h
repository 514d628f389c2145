// The arrays of a trajectory, owned by JavaScript, for one call.
#pragma once
#include <napi.h>

#include "arguments.h"
#include "kernel.h"

namespace rhythm {

class TrajectoryArrays {
 public:
  // Reads the properties of `trajectory`, an object as in src/engine/backends/backend.ts. Runs its getters.
  TrajectoryArrays(Arguments& args, const Napi::Value& trajectory) : arrays_(args, trajectory, "trajectory", kNames) {}

  // Returns the arrays' addresses, for `steps` steps of all environments together.
  Trajectory find(size_t steps) const {
    const auto codes = [&](size_t k) { return arrays_.array<int8_t>(k, napi_int8_array, steps); };
    const auto floats = [&](size_t k, size_t width) { return arrays_.array<float>(k, napi_float32_array, steps * width); };
    constexpr size_t meters = world::count::Meters;
    return {codes(0), codes(1), floats(2, 1), floats(3, meters), floats(4, meters), floats(5, meters)};
  }

 private:
  // In the order of Trajectory: two arrays of codes, then the arrays of floats.
  static constexpr const char* kNames[] = {"actions", "events", "rewards", "meters", "deltas", "anomalies"};

  Properties<6> arrays_;
};

}  // namespace rhythm
