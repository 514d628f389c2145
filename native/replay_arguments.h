// Reads and checks the arguments of a replay.
#pragma once
#include <napi.h>

#include "arguments.h"
#include "replay.h"

namespace rhythm {

// Checks all values that index memory.
inline void check_rows(Arguments& args, const Replay& replay, size_t rows) {
  for (size_t k = 0; args.ok() && k < replay.count; k++) {
    const uint32_t row = replay.order[k];
    if (row >= rows) {
      args.fail<int>("order", "rows");
      return;
    }
    const int action = replay.actions[row];
    if (replay.modes[row] > world::mode::Given) args.fail<int>("modes", "codes of modes");
    if (replay.stops[row] >= world::count::Steps) args.fail<int>("stops", "steps before the last");
    if (action < -1 || action >= world::count::Actions) args.fail<int>("actions", "codes of actions, or -1");
  }
}

// (order u32, seeds u32, modes u8, profiles f32|null, grader f32, stops u8, histories u8, actions i8,
//  beliefs f32|null, given u8|null, rewards f32, beliefMae f32, hashes u64). The result is valid only if `args` are ok.
inline Replay replay_of(Arguments& args) {
  const auto length = [&](size_t at) {
    const Napi::Value value = args.value(at);
    return value.IsTypedArray() ? value.As<Napi::TypedArray>().ElementLength() : 0;
  };
  const size_t rows = length(1);
  Replay replay = {};
  replay.count = length(0);
  replay.order = args.array<const uint32_t>(0, napi_uint32_array, replay.count, "order");
  replay.seeds = args.array<const uint32_t>(1, napi_uint32_array, rows, "seeds");
  replay.modes = args.array<const uint8_t>(2, napi_uint8_array, rows, "modes");
  replay.profiles =
      args.array_or_null<const float>(3, napi_float32_array, rows * world::count::ProfileFloats, "profiles");
  replay.grader = args.array<const float>(4, napi_float32_array, world::count::Components, "grader");
  replay.stops = args.array<const uint8_t>(5, napi_uint8_array, rows, "stops");
  replay.histories = args.array<const uint8_t>(6, napi_uint8_array, rows * world::count::Steps, "histories");
  replay.actions = args.array<const int8_t>(7, napi_int8_array, rows, "actions");
  replay.beliefs = args.array_or_null<const float>(8, napi_float32_array, rows * world::count::Beliefs, "beliefs");
  replay.given = args.array_or_null<const uint8_t>(9, napi_uint8_array, rows, "given");
  if ((replay.beliefs == nullptr) != (replay.given == nullptr)) args.fail<int>("given", "beliefs and given together");
  replay.rewards = args.array<float>(10, napi_float32_array, rows, "rewards");
  replay.belief_mae = args.array<float>(11, napi_float32_array, rows, "beliefMae");
  replay.hashes = args.array<uint64_t>(12, napi_biguint64_array, rows, "hashes");
  check_rows(args, replay, rows);
  return replay;
}

}  // namespace rhythm
