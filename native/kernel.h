// A kernel: the rules compiled for one register width, as functions over a range of tiles. Each lane of a register holds a
// number of one episode.
#pragma once
#include <cstddef>
#include <cstdint>

#include "generated/world.h"
#include "tables.h"

namespace rhythm {

constexpr int kTileLanes = 16;

// The states of sixteen episodes: the first word of each, then the second word of each, and so on.
struct alignas(64) Tile {
  uint32_t words[world::count::StateWords][kTileLanes];
};

// The output arrays of a batch, owned by the caller (see src/engine/backends/backend.ts). In a replay all pointers but
// rewards and final_mask are null.
struct Outputs {
  float* observations;        // null: not kept
  float* final_observations;  // null: not kept
  float* components;          // null: neither this nor the arrays from final_scores to terminated are kept
  float* rewards;
  float* final_scores;
  float* belief_mae;
  float* first_half_means;
  float* second_half_means;
  float* episode_returns;
  int32_t* episode_lengths;
  uint8_t* terminated;
  uint8_t* final_mask;
  size_t column_stride;  // elements between columns; 0: row-major
};

// The environments of a batch.
struct Envs {
  const Tables* tables;
  Tile* tiles;
  int count;
  Outputs out;
};

// The states of episodes that begin at a later step. A pointer is null if EnvStarts of src/engine/validate/starts.ts has no
// such array.
struct Start {
  const uint8_t* steps;  // the step at which the episode begins
  const float* meters;
  const float* early;    // sum of the rewards of the first half, without noise
  const float* late;     // sum of the rewards of the second half, without noise
  const float* returns;  // sum of the rewards
  const uint8_t* crashes;  // how often a meter was below the crash threshold
  const float* well;   // sum of the weighted meters
  const float* skill;  // sum of the terms of belief_skill
  const float* beliefs;  // the last belief, in [0, 1]
  const uint8_t* given;  // 0 or 1; null if `beliefs` is null
};

// A reset. A pointer is null if ResetRequest of src/engine/backends/backend.ts has no such array.
struct Reset {
  const uint8_t* mask;
  const uint32_t* seeds;
  const uint8_t* modes;
  const float* profiles;
  const float* graders;
  // Whether this reset follows a step: then environments that took the step keep its reward and grade.
  bool after_step;
  const uint8_t* stepped;  // the environments that took the step; null: all
  const Start* start;      // null: episodes begin at step 0
};

// A step. A pointer is null if StepRequest of src/engine/backends/backend.ts has no such array.
struct Step {
  const uint8_t* actions;
  const float* beliefs;
  const uint8_t* given;
  const uint8_t* mask;
};

enum class Policy { Random, Heuristic, Sequence };

// The arrays that record the steps of a run. A null array is not recorded.
struct Trajectory {
  int8_t* actions;
  int8_t* events;
  float* rewards;
  float* meters;
  float* deltas;
  float* anomalies;
  size_t column_stride;  // elements between columns; 0: row-major
};

// A copy of environments: environment indices[i] of the source becomes environment i.
struct Gather {
  const Tile* tiles;
  Outputs outputs;
  const uint32_t* indices;
};

// A run. A pointer is null if RunRequest of src/engine/backends/backend.ts has no such array.
struct Run {
  const Gather* copy;  // made before the run; null: no copy
  Policy policy;
  const uint32_t* policy_seeds;
  const uint8_t* actions;
  const float* constant_belief;
  const float* beliefs;
  const uint8_t* given;
  const uint8_t* stops;  // the step at which each environment stops
  Trajectory trajectory;
  // Whether an action sequence updates only meters and time of the states, and no outputs. Later steps then compute their
  // rewards as usual, but the episode cannot be graded.
  bool meters_only;
};

struct Kernel {
  const char* name;
  int lanes;
  void (*reset)(const Envs&, const Reset&, size_t first_tile, size_t last_tile);
  // Returns whether all bytes of an array are codes of actions.
  bool (*all_legal)(const uint8_t* codes, size_t length);
  // Returns the first tile in which a step has an invalid action or follows the end of an episode, else last_tile. Then sets
  // `latest` to the largest number of steps that an environment outside `resets` (null: any environment) has taken.
  size_t (*find_refused)(const Envs&, const Step&, const uint8_t* resets, size_t first_tile, size_t last_tile,
                         uint32_t& latest);
  void (*step)(const Envs&, const Step&, size_t first_tile, size_t last_tile);
  void (*run)(const Envs&, const Run&, size_t first_tile, size_t last_tile);
  void (*gather)(const Envs&, const Gather&, size_t first_tile, size_t last_tile);
  // Computes the outputs of loaded states.
  void (*restore_outputs)(const Envs&, size_t first_tile, size_t last_tile);
  void (*hash)(const Envs&, uint64_t* hashes, size_t first_tile, size_t last_tile);
  void (*targets)(const Envs&, float* belief_targets, size_t first_tile, size_t last_tile);
  // Computes the mean absolute error of each belief and its term of belief_skill, clamped to [-1, 1]. Without a belief: the
  // error of [0.5, 0.5, 0.5], and -1. The arrays are row-major; `beliefs` and `given` may be null.
  void (*belief_errors)(const Envs&, const float* beliefs, const uint8_t* given, float* mae, float* skill, size_t first_tile,
                        size_t last_tile);
};

// A kernel of this build.
struct KnownKernel {
  const Kernel* kernel;
  // Returns whether this processor can run the kernel. Defined outside the kernel's file, because that file is compiled to
  // instructions that the processor may lack.
  bool (*supported)();
};

// In priority order: the first supported kernel is the best for this machine.
extern const KnownKernel kKernels[];
extern const int kKernelCount;

}  // namespace rhythm
