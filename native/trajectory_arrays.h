// The arrays of a trajectory, owned by JavaScript, for one call.
#pragma once
#include <napi.h>

#include "arguments.h"
#include "kernel.h"

namespace rhythm {

class TrajectoryArrays {
 public:
  // Reads the properties of `trajectory`, a RecordedTrajectory of src/engine/backends/backend.ts. Runs its getters.
  TrajectoryArrays(Arguments& args, const Napi::Value& trajectory) : arrays_(args, trajectory, "trajectory", kNames) {}

  // Checks the arrays, and returns their addresses.
  Trajectory find(size_t num_envs) const {
    const size_t stride = arrays_.column_stride(6, num_envs);
    const size_t steps = (stride == 0 ? num_envs : stride) * world::count::Steps;
    const auto codes = [&](size_t k) { return arrays_.array_or_null<int8_t>(k, napi_int8_array, steps); };
    const auto floats = [&](size_t k, size_t width) {
      return arrays_.array_or_null<float>(k, napi_float32_array, steps * width);
    };
    constexpr size_t meters = world::count::Meters;
    return {codes(0), codes(1), floats(2, 1), floats(3, meters), floats(4, meters), floats(5, meters), stride};
  }

 private:
  // In the order of Trajectory: two arrays of codes, then the arrays of floats, then the column stride.
  static constexpr const char* kNames[] = {"actions", "events", "rewards", "meters", "deltas", "anomalies", "columnStride"};

  Properties<7> arrays_;
};

}  // namespace rhythm
