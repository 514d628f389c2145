// Reads and checks the arguments of a replay.
#pragma once
#include <napi.h>

#include "arguments.h"
#include "replay.h"

namespace rhythm {

// Checks the values that index memory, except the codes in histories, which Batch::replay checks.
inline void check_rows(Arguments& args, const Replay& replay, size_t rows) {
  for (size_t k = 0; args.ok() && k < replay.count; k++) {
    const uint32_t row = replay.order[k];
    if (row >= rows) {
      args.fail<int>("order", "rows");
      return;
    }
    const int action = replay.actions[row];
    if (replay.modes[row] > world::mode::Given) args.fail<int>("modes", "codes of modes");
    if (replay.stops[row] >= world::count::Steps) args.fail<int>("stops", "lengths of histories, 0 to 27");
    if (action < -1 || action >= world::count::Actions) args.fail<int>("actions", "codes of actions, or -1");
  }
}

// Reads a ReplayRequest of src/engine/backends/backend.ts. The result is valid only if `args` are ok.
inline Replay replay_of(Arguments& args, const Napi::Value& request) {
  static constexpr const char* names[] = {"order",     "seeds",   "modes",       "profiles",        "grader", "stops",
                                          "histories", "actions", "beliefs",     "given",           "rewards", "beliefMae",
                                          "hashes",    "beliefSkill", "beliefHistories", "historyGiven"};
  // The properties are read by their indices in `names`.
  const Properties<16> properties(args, request, "request", names);
  const size_t rows = properties.length(1);
  Replay replay = {};
  replay.count = properties.length(0);
  replay.order = properties.array<const uint32_t>(0, napi_uint32_array, replay.count);
  replay.seeds = properties.array<const uint32_t>(1, napi_uint32_array, rows);
  replay.modes = properties.array<const uint8_t>(2, napi_uint8_array, rows);
  replay.profiles = properties.array_or_null<const float>(3, napi_float32_array, rows * world::count::ProfileFloats);
  replay.grader = properties.array<const float>(4, napi_float32_array, world::count::Components);
  replay.stops = properties.array<const uint8_t>(5, napi_uint8_array, rows);
  replay.histories = properties.array<const uint8_t>(6, napi_uint8_array, rows * world::count::Steps);
  replay.actions = properties.array<const int8_t>(7, napi_int8_array, rows);
  replay.beliefs = properties.array_or_null<const float>(8, napi_float32_array, rows * world::count::Beliefs);
  replay.given = properties.array_or_null<const uint8_t>(9, napi_uint8_array, rows);
  if ((replay.beliefs == nullptr) != (replay.given == nullptr)) args.fail<int>("given", "beliefs and given together");
  replay.rewards = properties.array<float>(10, napi_float32_array, rows);
  replay.belief_mae = properties.array<float>(11, napi_float32_array, rows);
  replay.hashes = properties.array<uint64_t>(12, napi_biguint64_array, rows);
  replay.belief_skill = properties.array<float>(13, napi_float32_array, rows);
  replay.belief_histories =
      properties.array_or_null<const float>(14, napi_float32_array, rows * world::count::Steps * world::count::Beliefs);
  replay.history_given = properties.array_or_null<const uint8_t>(15, napi_uint8_array, rows * world::count::Steps);
  if ((replay.belief_histories == nullptr) != (replay.history_given == nullptr)) {
    args.fail<int>("historyGiven", "beliefHistories and historyGiven together");
  }
  check_rows(args, replay, rows);
  return replay;
}

}  // namespace rhythm
