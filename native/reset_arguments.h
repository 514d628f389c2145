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
  Reset take(Arguments& args, size_t slots) {
    const bool later = args.count() > kStart;
    if (later) start_ = take_start(args, slots);
    const Reset reset = {args.array_or_null<const uint8_t>(0, napi_uint8_array, slots, "mask"),
                         args.array<const uint32_t>(1, napi_uint32_array, slots, "seeds"),
                         args.array_or_null<const uint8_t>(2, napi_uint8_array, slots, "modes"),
                         args.array_or_null<const float>(3, napi_float32_array, slots * world::count::ProfileFloats, "profiles"),
                         args.array_or_null<const float>(4, napi_float32_array, slots * world::count::Components, "graders"),
                         false,
                         nullptr,
                         later ? &start_ : nullptr};
    check(args, slots, reset);
    return reset;
  }

 private:
  static constexpr size_t kStart = 5;

  static Start take_start(Arguments& args, size_t slots) {
    return {args.array<const uint8_t>(kStart, napi_uint8_array, slots, "steps"),
            args.array<const float>(kStart + 1, napi_float32_array, slots * world::count::Meters, "meters"),
            args.array_or_null<const float>(kStart + 2, napi_float32_array, slots, "early"),
            args.array_or_null<const float>(kStart + 3, napi_float32_array, slots, "late"),
            args.array_or_null<const float>(kStart + 4, napi_float32_array, slots, "returns"),
            args.array_or_null<const uint8_t>(kStart + 5, napi_uint8_array, slots, "crashes")};
  }

  // Checks all values that index a table: the modes of all environments, the steps of those that are reset.
  static void check(Arguments& args, size_t slots, const Reset& reset) {
    for (size_t slot = 0; args.ok() && reset.modes != nullptr && slot < slots; slot++) {
      if (reset.modes[slot] > world::mode::Given) args.fail<int>("modes", "codes of modes");
    }
    for (size_t slot = 0; args.ok() && reset.start != nullptr && slot < slots; slot++) {
      const bool begins = reset.mask == nullptr || reset.mask[slot] != 0;
      if (begins && reset.start->steps[slot] >= world::count::Steps) args.fail<int>("steps", "steps before the last");
    }
  }

  Start start_ = {};
};

}  // namespace rhythm
