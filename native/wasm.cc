// The exports of the WebAssembly build (src/engine/backends/wasm). An instance holds one batch. Arguments are addresses in the
// instance's memory; 0 stands for an absent array. The caller checks them.
#include <new>
#include <version>

#include "batch.h"
#include "encoder.h"
#include "rewards.h"
#include "student.h"

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

extern "C" unsigned char __heap_base;  // the first byte after the stack and the data, set by the linker

namespace rhythm {
namespace portable {
extern const Kernel kernel;
}

namespace {

// The memory from `top` to `limit` is free. It never grows. Only what a call takes is freed, at the end of the call.
uintptr_t top = 0, limit = 0;
Batch* batch = nullptr;
Outputs out = {};

constexpr uintptr_t kLine = 64;
constexpr uintptr_t aligned(uintptr_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

void* take(size_t bytes) {
  const uintptr_t taken = top;
  if (bytes > limit - taken) return nullptr;
  top = aligned(taken + bytes);
  return reinterpret_cast<void*>(taken);
}

void* take_or_trap(size_t bytes) {
  void* taken = take(bytes);
  if (taken == nullptr) __builtin_trap();
  return taken;
}

// Frees at the end of a call what the call has taken.
struct Call {
  const uintptr_t start = top;
  ~Call() { top = start; }
};

// A replay of kReplayRows rows takes a chain for each row twice.
constexpr size_t kReplayRows = 2048;
constexpr size_t kCallBytes = 2 * kReplayRows * sizeof(Chain) + 4 * kLine;

}  // namespace
}  // namespace rhythm

// Otherwise libc++ would print, with functions that the instance would need from outside.
void std::__libcpp_verbose_abort(const char*, ...) noexcept { __builtin_trap(); }

void* operator new(size_t bytes) { return rhythm::take_or_trap(bytes); }
void* operator new(size_t bytes, std::align_val_t) { return rhythm::take_or_trap(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return rhythm::take(bytes); }
void operator delete(void*) noexcept {}
void operator delete(void*, size_t) noexcept {}
void operator delete(void*, std::align_val_t) noexcept {}
void operator delete(void*, size_t, std::align_val_t) noexcept {}

namespace rhythm {

EXPORT(layoutDigest) const char* layout_digest() { return world::kLayoutDigest; }
EXPORT(replayRows) size_t replay_rows() { return kReplayRows; }
EXPORT(heapStart) uintptr_t heap_start() { return aligned(reinterpret_cast<uintptr_t>(&__heap_base)); }

// Returns the bytes from the start of the heap that a batch takes.
EXPORT(heapBytes) size_t heap_bytes(size_t num_envs) {
  const size_t tiles = (num_envs + kTileLanes - 1) / kTileLanes * sizeof(Tile);
  return aligned(sizeof(Batch)) + aligned(sizeof(Tables)) + tiles + kCallBytes;
}

// Opens the batch. The block is as for the addon, and the arrays are those of Outputs. Returns the states.
EXPORT(open) Tile* open(const uint32_t* block, bool imagination, int num_envs, float* observations, float* final_observations,
                        float* components, float* rewards, float* final_scores, float* belief_mae, float* first_half_means,
                        float* second_half_means, float* episode_returns, int32_t* episode_lengths, uint8_t* terminated,
                        uint8_t* final_mask, size_t column_stride) {
  top = heap_start();
  limit = top + heap_bytes(static_cast<size_t>(num_envs));
  out = {observations,     final_observations, components,      rewards,         final_scores, belief_mae, first_half_means,
         second_half_means, episode_returns,   episode_lengths, terminated, final_mask,   column_stride};
  batch = new Batch(portable::kernel, block, imagination, num_envs, 1);
  return batch->tiles();
}

// The later arrays are those of Start; begins: its steps, 0 if the episodes begin at step 0.
EXPORT(reset) void reset(const uint8_t* mask, const uint32_t* seeds, const uint8_t* modes, const float* profiles,
                         const float* graders, const uint8_t* begins, const float* meters, const float* early, const float* late,
                         const float* returns, const uint8_t* crashes, const float* well, const float* skill,
                         const float* beliefs, const uint8_t* given) {
  const Start start = {begins, meters, early, late, returns, crashes, well, skill, beliefs, given};
  batch->reset(out, {mask, seeds, modes, profiles, graders, false, nullptr, begins == nullptr ? nullptr : &start});
}

// Returns a Refusal, or null.
EXPORT(step) const Refusal* step(const uint8_t* actions, const float* beliefs, const uint8_t* given, const uint8_t* mask,
                                 const uint8_t* reset_mask, const uint32_t* reset_seeds) {
  static Refusal refusal;
  const auto refused = batch->step(out, {actions, beliefs, given, mask}, {reset_mask, reset_seeds});
  if (!refused) return nullptr;
  refusal = *refused;
  return &refusal;
}

// Runs environments [first, end) with actions that are valid. The last six arrays and the stride are those of Trajectory.
EXPORT(run) void run(int policy, const uint32_t* policy_seeds, const uint8_t* actions, const float* constant_belief,
                     const float* beliefs, const uint8_t* given, const uint8_t* stops, int first, int end, int8_t* taken,
                     int8_t* events, float* rewards, float* meters, float* deltas, float* anomalies, size_t column_stride) {
  const Trajectory trajectory = {taken, events, rewards, meters, deltas, anomalies, column_stride};
  batch->run_checked(out, {nullptr, static_cast<Policy>(policy), policy_seeds, actions, constant_belief, beliefs, given, stops,
                           trajectory, false}, {first, end}, {});
}

EXPORT(copied) void copied() { batch->copied(); }
EXPORT(loaded) void loaded(bool keeps_outputs) { batch->loaded(out, keeps_outputs); }
EXPORT(hash) void hash(uint64_t* hashes) { batch->hash(hashes); }
EXPORT(targets) void targets(float* rows) { batch->targets(rows); }

// Replays rows 0 to count - 1, at most kReplayRows, whose histories are valid. `order` is 0 to count - 1.
EXPORT(replay) void replay(const uint32_t* order, size_t count, const uint32_t* seeds, const uint8_t* modes,
                           const float* profiles, const float* grader, const uint8_t* stops, const uint8_t* histories,
                           const int8_t* actions, const float* beliefs, const uint8_t* given, const float* belief_histories,
                           const uint8_t* history_given, float* rewards, float* belief_mae, float* belief_skill,
                           uint64_t* hashes) {
  const Call call;
  batch->replay({order, count, seeds, modes, profiles, grader, stops, histories, actions, beliefs, given, belief_histories,
                 history_given, rewards, belief_mae, belief_skill, hashes});
}

// The computations on arrays (src/engine/arrays.ts). They need no batch.
EXPORT(encode) void encode(size_t num_envs, const double* parts, size_t num_parts, size_t width, const float* raw,
                           size_t raw_stride, const float* history, float* out, size_t out_stride, const uint8_t* mask) {
  Encoder(parts, num_parts, width).encode({raw, raw_stride}, history, {out, out_stride}, mask, num_envs);
}
EXPORT(pushHistory) void push_history_of(size_t num_envs, const float* raw, size_t raw_stride, float* history, const uint8_t* mask) {
  push_history({raw, raw_stride}, history, mask, num_envs);
}
EXPORT(stackRewards) void stack_rewards_of(size_t count, const RewardNumbers* numbers, const int8_t* actions, const uint8_t* given,
                                           const double* step_rewards, const double* belief_mae, const double* belief_skill,
                                           const uint8_t* histories, const uint8_t* stops, float* format_valid,
                                           float* action_legal, float* env_reward, float* belief_accuracy,
                                           float* belief_skill_reward, float* total) {
  stack_rewards(*numbers, {count, actions, given, step_rewards, belief_mae, belief_skill, histories, stops},
                {format_valid, action_legal, env_reward, belief_accuracy, belief_skill_reward, total});
}
EXPORT(observe) bool observe_of(size_t num_envs, const uint32_t* block, const float* observations, const uint8_t* playing,
                                StudentMemory* memory, float* inputs) {
  return observe(block, num_envs, observations, playing, memory, inputs);
}
EXPORT(forward) void forward_of(const uint32_t* sizes, size_t num_layers, const float* weights, size_t rows, const float* inputs,
                                float* outputs, float* scratch) {
  forward(sizes, num_layers, weights, rows, inputs, outputs, scratch);
}

}  // namespace rhythm
