// One open batch: its tables, its tiles of state, where it writes, and how work is split over threads.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "kernel.h"
#include "replay.h"
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

class Batch;

// Slots of another batch, and what it shows: slot indices[i] is slot i's origin. Null batch for none.
struct From {
  const Batch* batch;
  Outputs shown;
  const uint32_t* indices;
};

// Slots [first, end); first is a tile's.
struct Part {
  int first;
  int end;
};

class Batch {
 public:
  // `block` holds world::count::BlockWords words; `threads` counts the caller.
  Batch(const Kernel& kernel, const uint32_t* block, bool imagination, int slots, int threads);

  // Each call writes to `out`, which holds as many rows as the batch has slots.
  void reset(const Outputs& out, const Reset& reset);
  std::optional<Refusal> step(const Outputs& out, const Step& step, const AutoReset& autoreset);
  // With `from`, of another batch, the slots of the part become copies first. run.from is not looked at.
  std::optional<Refusal> run(const Outputs& out, Run run, const Part& part, const From& from);

  // Makes every slot a copy, of its state and of what it shows. `from` may be this batch.
  void gather(const Outputs& out, const From& from);
  // The states of `length` slots, those at `indices` or, if that is null, the first: [length, world::count::StateWords].
  void save(uint32_t* words, const uint32_t* indices, size_t length) const;
  // Takes states and writes what they show: the last step, lived again from seed and tape, and grades of finished
  // episodes. Returns false, and changes nothing, if a step, mode, flag or taped action is none.
  bool load(const Outputs& out, const uint32_t* words);
  void hash(uint64_t* hashes);
  void targets(float* rows);
  // Plays rows that are no slots of this batch. A refusal's index is a row's; nothing was written then.
  std::optional<Refusal> replay(const Replay& replay);

 private:
  uint32_t& word(int slot, int k) { return tiles_[slot / kTileLanes].words[k][slot % kTileLanes]; }
  uint32_t word(int slot, int k) const { return tiles_[slot / kTileLanes].words[k][slot % kTileLanes]; }
  Slots view(const Outputs& out) { return {tables_.get(), tiles_.data(), slots_, out}; }
  std::optional<Refusal> refuse(const Step& step);
  std::optional<Refusal> refuse(const Run& run, const From& from) const;
  std::optional<Refusal> refuse(const Replay& replay) const;
  void forget_results(const Outputs& out, size_t first_tile, size_t last_tile) const;
  void keep_final(const Outputs& out, const Step& step, const uint8_t* mask, size_t first_tile, size_t last_tile) const;
  template <class Work>
  void each_part(size_t least, const Work& work);
  template <class Work>
  void each_part_of(size_t first_tile, size_t last_tile, size_t least, const Work& work);

  const Kernel& kernel_;
  const int slots_;
  std::unique_ptr<Tables> tables_;
  std::vector<Tile> tiles_;
  const int threads_;
  int oldest_ = 0;                    // no slot has taken more steps
  std::unique_ptr<ThreadPool> pool_;  // started by the first call that is worth it
  bool stale_results_ = false;        // the outputs show results of episodes that an autoreset has replaced
};

}  // namespace rhythm
