// Reads the arguments of a run, and checks their types, lengths and integers. batch_object.h checks `from`.
#pragma once
#include <napi.h>

#include <optional>

#include "arguments.h"
#include "batch.h"
#include "trajectory_arrays.h"

namespace rhythm {

// Arguments:
// (policy, policySeeds u32|null, actions u8|null, beliefs|null, stops u8|null, trajectory|null, part|null, from|null).
// RunRequest in src/engine/backends/backend.ts explains them. Beliefs, trajectory, part and from are objects as there;
// `from.source` is a Batch of the addon.
// The other arguments are separate, not properties of one object: reading a property takes as long as a hundred steps.
class RunArguments {
 public:
  // Reads the properties of all objects, which may run getters.
  explicit RunArguments(Arguments& args) : args_(args) {
    read(3, beliefs_, "beliefs", kBeliefs);
    if (!is_absent(5)) trajectory_.emplace(args, args.value(5));
    read(6, part_, "part", kPart);
    read(7, from_, "from", kFrom);
  }

  // Returns the run, which is valid only if the arguments are ok.
  Run find_run(size_t num_envs) const {
    const size_t steps = num_envs * world::count::Steps;
    Run run = {};
    run.policy = static_cast<Policy>(args_.integer(args_.value(0), 0, static_cast<int>(Policy::Sequence), "policy"));
    run.policy_seeds = args_.array_or_null<const uint32_t>(1, napi_uint32_array, num_envs, "policySeeds");
    if (run.policy == Policy::Sequence) run.actions = args_.array<const uint8_t>(2, napi_uint8_array, steps, "actions");
    if (beliefs_) {
      run.constant_belief = beliefs_->array_or_null<const float>(0, napi_float32_array, world::count::Beliefs);
      run.beliefs = beliefs_->array_or_null<const float>(1, napi_float32_array, steps * world::count::Beliefs);
      run.given = beliefs_->array_or_null<const uint8_t>(2, napi_uint8_array, steps);
    }
    run.stops = args_.array_or_null<const uint8_t>(4, napi_uint8_array, num_envs, "stops");
    if ((run.beliefs == nullptr) != (run.given == nullptr)) args_.fail<int>("given", "beliefs and given together");
    for (size_t env_index = 0; args_.ok() && run.stops != nullptr && env_index < num_envs; env_index++) {
      if (run.stops[env_index] > world::count::Steps) args_.fail<int>("stops", "steps from 0 to 28");
    }
    if (trajectory_) run.trajectory = trajectory_->find(num_envs);
    return run;
  }

  Part find_part(size_t num_envs) const {
    const int count = static_cast<int>(num_envs);
    if (!part_) return {0, count};
    const int first = part_->integer(0, 0, count - 1);
    // A tile is the states of kTileLanes environments (kernel.h).
    if (first % kTileLanes != 0) args_.fail<int>("first", "a tile's first environment");
    return {first, part_->integer(1, first + 1, count)};
  }

  bool has_source() const { return from_.has_value(); }
  const Napi::Value& source() const { return from_->value(0); }
  const Napi::Value& indices() const { return from_->value(1); }

 private:
  static constexpr const char* kBeliefs[] = {"belief", "beliefs", "given"};
  static constexpr const char* kPart[] = {"first", "end"};
  static constexpr const char* kFrom[] = {"source", "indices"};

  bool is_absent(size_t at) const { return Arguments::is_absent(args_.value(at)); }
  template <size_t Count>
  void read(size_t at, std::optional<Properties<Count>>& properties, const char* name, const char* const (&names)[Count]) {
    if (args_.ok() && !is_absent(at)) properties.emplace(args_, args_.value(at), name, names);
  }

  Arguments& args_;
  std::optional<Properties<3>> beliefs_;
  std::optional<TrajectoryArrays> trajectory_;
  std::optional<Properties<2>> part_, from_;
};

}  // namespace rhythm
