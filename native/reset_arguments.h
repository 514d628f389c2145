// Reads and checks the arguments of a reset.
#pragma once
#include <napi.h>

#include "arguments.h"
#include "kernel.h"

namespace rhythm {

// (mask u8|null, seeds u32, modes u8|null, profiles f32|null, graders f32|null), or, for episodes that begin at a later
// step: (..., steps u8, meters f32, early f32|null, late f32|null, returns f32|null, crashes u8|null)
class ResetArguments {
 public:
  // Returns the request, which is valid only if the arguments are ok. It points into this object.
  Reset read(Arguments& args, size_t num_envs) {
    const bool later = args.count() > kStart;
    if (later) start_ = read_start(args, num_envs);
    const Reset reset = {args.array_or_null<const uint8_t>(0, napi_uint8_array, num_envs, "mask"),
                         args.array<const uint32_t>(1, napi_uint32_array, num_envs, "seeds"),
                         args.array_or_null<const uint8_t>(2, napi_uint8_array, num_envs, "modes"),
                         args.array_or_null<const float>(3, napi_float32_array, num_envs * world::count::ProfileFloats, "profiles"),
                         args.array_or_null<const float>(4, napi_float32_array, num_envs * world::count::Components, "graders"),
                         false,
                         nullptr,
                         later ? &start_ : nullptr};
    check(args, num_envs, reset);
    return reset;
  }

 private:
  static constexpr size_t kStart = 5;

  static Start read_start(Arguments& args, size_t num_envs) {
    return {args.array<const uint8_t>(kStart, napi_uint8_array, num_envs, "steps"),
            args.array<const float>(kStart + 1, napi_float32_array, num_envs * world::count::Meters, "meters"),
            args.array_or_null<const float>(kStart + 2, napi_float32_array, num_envs, "early"),
            args.array_or_null<const float>(kStart + 3, napi_float32_array, num_envs, "late"),
            args.array_or_null<const float>(kStart + 4, napi_float32_array, num_envs, "returns"),
            args.array_or_null<const uint8_t>(kStart + 5, napi_uint8_array, num_envs, "crashes")};
  }

  // Checks all values that index a table: the modes of all environments, the steps of those that are reset.
  static void check(Arguments& args, size_t num_envs, const Reset& reset) {
    for (size_t env_index = 0; args.ok() && reset.modes != nullptr && env_index < num_envs; env_index++) {
      if (reset.modes[env_index] > world::mode::Given) args.fail<int>("modes", "codes of modes");
    }
    for (size_t env_index = 0; args.ok() && reset.start != nullptr && env_index < num_envs; env_index++) {
      const bool begins = reset.mask == nullptr || reset.mask[env_index] != 0;
      if (begins && reset.start->steps[env_index] >= world::count::Steps) args.fail<int>("steps", "steps before the last");
    }
  }

  Start start_ = {};
};

}  // namespace rhythm
