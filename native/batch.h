// One open batch: its tables, its tiles (kernel.h: the states of sixteen episodes each), and its threads.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "kernel.h"
#include "replay.h"
#include "thread_pool.h"

namespace rhythm {

// Why a call was refused: its first illegal action, or the first step after an episode's end.
struct Refusal {
  enum class Code { IllegalAction, EpisodeOver } code;
  int index;  // the environment, or the row of a replay
  int step;   // the step in an action sequence or a history; else -1
  int value;  // the illegal action; else 0
};

// The environments to reset after a step, and their seeds. A null mask: none.
struct AutoReset {
  const uint8_t* mask;
  const uint32_t* seeds;
};

class Batch;

// The source of a copy: environment indices[i] of a batch becomes environment i. A null batch: no copy.
struct CopySource {
  const Batch* batch;
  Outputs outputs;
  const uint32_t* indices;
};

// Environments [first, end). `first` is the first environment of a tile.
struct Part {
  int first;
  int end;
};

class Batch {
 public:
  // `block` holds the numbers of the world (src/world/block.ts): world::count::BlockWords words. `threads` includes the calling
  // thread.
  Batch(const Kernel& kernel, const uint32_t* block, bool imagination, int num_envs, int threads);

  // Returns the bytes of the batch's states and tables.
  size_t bytes() const { return sizeof(Tables) + tiles_.size() * sizeof(Tile); }

  // A call writes its outputs to `out`, which has a row for each environment of the batch.
  void reset(const Outputs& out, const Reset& reset);
  std::optional<Refusal> step(const Outputs& out, const Step& step, const AutoReset& autoreset);
  // Runs the environments of `part`. If `from` names a batch, the environments of `part` first become copies of that batch's
  // environments; `from` must be another batch. The part that begins at 0 checks the actions of all parts. Ignores the
  // caller's run.copy: `from` says what to copy.
  std::optional<Refusal> run(const Outputs& out, Run run, const Part& part, const CopySource& from);
  // Does the same without a check of the actions.
  void run_checked(const Outputs& out, Run run, const Part& part, const CopySource& from);

  // Copies state and outputs into every environment. `from` may be this batch.
  void gather(const Outputs& out, const CopySource& from);
  // Writes the states of `length` environments, [length, world::count::StateWords]: those at `indices`, or the first ones if
  // `indices` is null.
  void save(uint32_t* words, const uint32_t* indices, size_t length) const;
  // Loads states and writes their outputs: the last step, replayed from seed and actions, and the grades of finished
  // episodes. With `keeps_outputs`, the outputs stay as they are. Returns false and changes nothing if a step, mode, flag or
  // recorded action is invalid.
  bool load(const Outputs& out, const uint32_t* words, bool keeps_outputs);
  // Writes the outputs of states that the caller has written to `tiles`, as `load` does.
  void loaded(const Outputs& out, bool keeps_outputs);

  // For a caller that copies states and outputs itself, as wasm.cc does: the states, and what to call after the copy.
  Tile* tiles() { return tiles_.data(); }
  void copied();
  // Writes the state hashes, [num_envs].
  void hash(uint64_t* hashes);
  // Writes the belief targets, [num_envs, 3].
  void targets(float* rows);
  // Replays rows. Does not use the environments of this batch. A refused call writes nothing.
  std::optional<Refusal> replay(const Replay& replay);

 private:
  uint32_t& word(int env, int k) { return tiles_[env / kTileLanes].words[k][env % kTileLanes]; }
  uint32_t word(int env, int k) const { return tiles_[env / kTileLanes].words[k][env % kTileLanes]; }
  Envs envs_with(const Outputs& out) { return {tables_.get(), tiles_.data(), num_envs_, out}; }
  // Also lowers max_steps_taken_, if it reads the states: by the resets before this step and by those of `autoreset`.
  std::optional<Refusal> find_refusal(const Step& step, const AutoReset& autoreset);
  std::optional<Refusal> find_refusal(const Run& run, const CopySource& from) const;
  std::optional<Refusal> find_refusal(const Replay& replay) const;
  // Clears the results of the episodes that an autoreset has replaced, except where the new episode has ended too.
  void clear_replaced_results(const Outputs& out, size_t first_tile, size_t last_tile) const;
  // Copies the observations of environments that stepped and will now be reset (`mask`) to the final observations.
  void copy_final_observations(const Outputs& out, const Step& step, const uint8_t* mask, size_t first_tile,
                               size_t last_tile) const;
  ThreadPool* pool();
  // Calls work(first, last) for parts of the tiles, one for each thread. Fewer than 2 * min_tiles tiles are one part.
  template <class Work>
  void each_part(size_t min_tiles, const Work& work);
  // Does the same for tiles [first_tile, last_tile).
  template <class Work>
  void each_part_of(size_t first_tile, size_t last_tile, size_t min_tiles, const Work& work);

  const Kernel& kernel_;
  const int num_envs_;
  std::unique_ptr<Tables> tables_;
  std::vector<Tile> tiles_;
  const int threads_;
  int max_steps_taken_ = 0;           // an upper bound of the steps that any environment has taken
  std::unique_ptr<ThreadPool> pool_;  // started by the first call with enough work
  bool stale_results_ = false;        // whether the outputs may hold results of episodes that an autoreset has replaced
};

}  // namespace rhythm
