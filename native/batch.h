// One open batch: its tables, its tiles of state, where it writes, and how work is split over threads.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "kernel.h"
#include "thread_pool.h"

namespace rhythm {

// Why nothing happened: the first slot, and for a tape the step, that breaks a rule.
struct Refusal {
  enum class Code { IllegalAction, EpisodeOver } code;
  int index;
  int step;
  int value;
};

// Slots that begin anew after a step; null mask for none.
struct AutoReset {
  const uint8_t* mask;
  const uint32_t* seeds;
};

class Batch {
 public:
  // `block` holds world::count::BlockWords words; `threads` counts the caller.
  Batch(const Kernel& kernel, const uint32_t* block, bool imagination, int slots, int threads);

  // Each call writes to `out`, which holds as many rows as the batch has slots.
  void reset(const Outputs& out, const Reset& reset);
  std::optional<Refusal> step(const Outputs& out, const Step& step, const AutoReset& autoreset);
  std::optional<Refusal> run(const Outputs& out, const Run& run);

  // Copies slot indices[i] of `other`, its state and what `from` shows of it, to slot i. Indices are below other's slots.
  void gather(const Outputs& out, const Batch& other, const Outputs& from, const uint32_t* indices);
  // [slots, world::count::StateWords], row-major.
  void save(uint32_t* words) const;
  // Returns false, and changes nothing, if a step, mode, flag or taped action is none.
  bool load(const uint32_t* words);
  // Writes what the states show: the last step, lived again from seed and tape, and grades of finished episodes.
  void show(const Outputs& out);
  void hash(uint64_t* hashes);
  void targets(float* rows);

 private:
  uint32_t& word(int slot, int k) { return tiles_[slot / kTileLanes].words[k][slot % kTileLanes]; }
  uint32_t word(int slot, int k) const { return tiles_[slot / kTileLanes].words[k][slot % kTileLanes]; }
  Slots view(const Outputs& out) { return {tables_.get(), tiles_.data(), slots_, out}; }
  std::optional<Refusal> refuse(const Step& step);
  std::optional<Refusal> refuse(const Run& run) const;
  void gather_tile(size_t tile, const Tile* source, const uint32_t* indices);
  void forget_grades(const Outputs& out);
  template <class Work>
  void each_part(size_t least, const Work& work);

  const Kernel& kernel_;
  const int slots_;
  std::unique_ptr<Tables> tables_;
  std::vector<Tile> tiles_;
  const int threads_;
  std::unique_ptr<ThreadPool> pool_;  // started by the first call that is worth it
  bool stale_grades_ = false;  // the outputs show grades of episodes that an autoreset has replaced
};

}  // namespace rhythm
