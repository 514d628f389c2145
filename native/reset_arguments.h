// Reads and checks the arguments of a reset.
#pragma once
#include <napi.h>

#include <optional>

#include "arguments.h"
#include "kernel.h"

namespace rhythm {

// The request of a reset, an object as in src/engine/backends/backend.ts.
class ResetArguments {
 public:
  // Reads the properties, which runs their getters.
  ResetArguments(Arguments& args, const Napi::Value& request) : args_(args), request_(args, request, "request", kNames) {
    if (args.ok() && !request_.value(5).IsUndefined()) start_properties_.emplace(args, request_.value(5), "start", kStartNames);
  }

  // Returns the request, which is valid only if the arguments are ok. It points into this object. Here and in find_start, each
  // property is read by its index in kNames or kStartNames.
  Reset find(size_t num_envs) {
    if (start_properties_) start_ = find_start(num_envs);
    const Reset reset = {request_.array_or_null<const uint8_t>(0, napi_uint8_array, num_envs),
                         request_.array<const uint32_t>(1, napi_uint32_array, num_envs),
                         request_.array_or_null<const uint8_t>(2, napi_uint8_array, num_envs),
                         request_.array_or_null<const float>(3, napi_float32_array, num_envs * world::count::ProfileFloats),
                         request_.array_or_null<const float>(4, napi_float32_array, num_envs * world::count::Components),
                         false,
                         nullptr,
                         start_properties_ ? &start_ : nullptr};
    check(num_envs, reset);
    return reset;
  }

 private:
  static constexpr const char* kNames[] = {"mask", "seeds", "modes", "profiles", "graders", "start"};
  static constexpr const char* kStartNames[] = {"steps",   "meters", "early", "late",    "returns",
                                                 "crashes", "well",   "skill", "beliefs", "given"};

  Start find_start(size_t num_envs) const {
    const auto& start = *start_properties_;
    return {start.array<const uint8_t>(0, napi_uint8_array, num_envs),
            start.array<const float>(1, napi_float32_array, num_envs * world::count::Meters),
            start.array_or_null<const float>(2, napi_float32_array, num_envs),
            start.array_or_null<const float>(3, napi_float32_array, num_envs),
            start.array_or_null<const float>(4, napi_float32_array, num_envs),
            start.array_or_null<const uint8_t>(5, napi_uint8_array, num_envs),
            start.array_or_null<const float>(6, napi_float32_array, num_envs),
            start.array_or_null<const float>(7, napi_float32_array, num_envs),
            start.array_or_null<const float>(8, napi_float32_array, num_envs * world::count::Beliefs),
            start.array_or_null<const uint8_t>(9, napi_uint8_array, num_envs)};
  }

  // Checks the modes, and the steps of the environments to reset, because they are indices of tables. Checks that `beliefs`
  // and `given` come together.
  void check(size_t num_envs, const Reset& reset) {
    for (size_t env_index = 0; args_.ok() && reset.modes != nullptr && env_index < num_envs; env_index++) {
      if (reset.modes[env_index] > world::mode::Given) args_.fail<int>("modes", "codes of modes");
    }
    if (reset.start != nullptr && (reset.start->beliefs == nullptr) != (reset.start->given == nullptr)) {
      args_.fail<int>("given", "beliefs and given together");
    }
    for (size_t env_index = 0; args_.ok() && reset.start != nullptr && env_index < num_envs; env_index++) {
      const bool is_reset = reset.mask == nullptr || reset.mask[env_index] != 0;
      if (is_reset && reset.start->steps[env_index] >= world::count::Steps) args_.fail<int>("steps", "steps from 0 to 27");
    }
  }

  Arguments& args_;
  Properties<6> request_;
  std::optional<Properties<10>> start_properties_;
  Start start_ = {};
};

}  // namespace rhythm
