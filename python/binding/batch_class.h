// The batch as a Python class: reads arguments, releases the interpreter's lock and calls the batch. Contains neither the
// rules of the world nor its numbers. rhythm_vec validates what it passes; the checks here keep memory safe.
#pragma once
#include <pthread.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "arrays.h"
#include "batch.h"
#include "encoder.h"
#include "step_arguments.h"

namespace rhythm::python {

namespace count = world::count;

// Returns the kernel with this name, or null if the name is unknown or this processor cannot run the kernel.
inline const Kernel* find_kernel(const std::string& name) {
  for (int k = 0; k < kKernelCount; k++) {
    if (name == kKernels[k].kernel->name) return kKernels[k].supported() ? kKernels[k].kernel : nullptr;
  }
  return nullptr;
}

// Returns the generation of this process: 0 in the process of the first call, 1 in processes that it forks, 2 in processes
// that those fork. A forked process lacks the threads of its parent's batches.
inline std::atomic<int>& forks() {
  static std::atomic<int> count{0};
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forks()++; });
  static_cast<void>(registered);
  return count;
}

// A step of this many environments keeps the interpreter's lock: it takes less than two microseconds.
constexpr size_t kFewEnvs = 64;

class BatchClass {
 public:
  // `outputs` has the arrays of rhythm_vec.outputs by name. The batch holds them until `close`, because it writes to their
  // memory, which NumPy owns.
  BatchClass(const std::string& kernel, const py::object& block, bool imagination, size_t num_envs, int threads,
             const py::dict& outputs, size_t column_stride)
      : num_envs_(num_envs), arguments_(num_envs), outputs_(outputs), forks_(forks()) {
    const Kernel* found = find_kernel(kernel);
    if (found == nullptr) raise_input("backend_unavailable", "Expected a kernel that this machine has, got " + kernel + ". Pass one of kernels().");
    if (num_envs < 1 || num_envs > static_cast<size_t>(count::MaxEnvs) || threads < 1 || threads > count::MaxThreads) {
      raise_input("out_of_range", "Expected 1 to 2^24 environments and 1 to 256 threads, got " + std::to_string(num_envs) + " and " + std::to_string(threads) + ". Pass numbers in these ranges.");
    }
    const auto* words = data_of<uint32_t>(block, count::BlockWords, "block");
    if (!legal_block(words)) raise_input("bad_world", "Expected legal codes in the world's block, got others. Write the world file again with `rhythm-vec world --numbers`.");
    read_outputs(column_stride);
    batch_ = std::make_unique<Batch>(*found, words, imagination, static_cast<int>(num_envs), threads);
  }

  // In a forked process, leaks the batch: its destructor would wait forever for threads that only the parent has.
  ~BatchClass() {
    if (is_forked()) static_cast<void>(batch_.release());
  }

  // The arguments are those of Reset; `start` is a tuple in the order of Start, or None.
  void reset(const py::object& mask, const py::object& seeds, const py::object& modes, const py::object& profiles,
             const py::object& graders, const py::object& start) {
    const Use use(*this);
    Start start_states = {};
    if (!start.is_none()) start_states = read_start(start);
    const Reset reset = {data_or_null<uint8_t>(mask, num_envs_, "mask"),
                         data_of<uint32_t>(seeds, num_envs_, "seeds"),
                         data_or_null<uint8_t>(modes, num_envs_, "modes"),
                         data_or_null<float>(profiles, num_envs_ * count::ProfileFloats, "profiles"),
                         data_or_null<float>(graders, num_envs_ * count::Components, "graders"),
                         /*after_step=*/false,
                         /*stepped=*/nullptr,
                         start.is_none() ? nullptr : &start_states};
    if (reset.modes != nullptr) require_below(reset.modes, num_envs_, world::mode::Given + 1, "modes");
    if (reset.start != nullptr) require_below(reset.start->steps, num_envs_, count::Steps, "steps");
    const py::gil_scoped_release release;
    batch_->reset(out_, reset);
  }

  // Steps the environments of `mask` (None: all), then resets those of `reset_mask` (None: none). Returns how many episodes
  // ended.
  size_t step(const py::object& actions, const py::object& beliefs, const py::object& mask, const py::object& reset_mask,
              const py::object& reset_seeds) {
    const Use use(*this);
    Step step = {};
    step.mask = data_or_null<uint8_t>(mask, num_envs_, "mask");
    step.actions = arguments_.actions(actions, step.mask);
    step.beliefs = arguments_.beliefs(beliefs, step.mask);
    if (step.beliefs != nullptr) step.given = arguments_.given();
    const AutoReset autoreset = {data_or_null<uint8_t>(reset_mask, num_envs_, "reset_mask"),
                                 data_or_null<uint32_t>(reset_seeds, num_envs_, "reset_seeds")};
    std::optional<Refusal> refusal;
    size_t ended = 0;
    {
      // Releasing the lock takes as long as the step of some environments.
      std::optional<py::gil_scoped_release> release;
      if (num_envs_ > kFewEnvs) release.emplace();
      refusal = batch_->step(out_, step, autoreset);
      if (!refusal) ended = count_ended();
    }
    if (refusal) raise_refusal(*refusal);
    return ended;
  }

  // Runs a policy, or action sequences. `beliefs` is None, f32 [3], or a tuple of beliefs, f32 [num_envs, 28, 3], and given, u8
  // [num_envs, 28]. `trajectory` is None or a tuple in the order of Trajectory, whose arrays may be None. `stops` is
  // u8 [num_envs], the step at which each environment stops, or None. With `source`, environment i first becomes a copy of
  // environment indices[i] of the source.
  void run(int policy, const py::object& policy_seeds, const py::object& actions, const py::object& beliefs, const py::object& stops,
           const py::object& trajectory, BatchClass* source, const py::object& indices) {
    const Use use(*this);
    std::optional<Use> source_use;
    if (source != nullptr && source != this) source_use.emplace(*source);
    const size_t steps = num_envs_ * count::Steps;
    Run run = {};
    if (policy < 0 || policy > static_cast<int>(Policy::Sequence)) raise_input("out_of_range", "Expected a policy's code from 0 to 2, got " + std::to_string(policy) + ". Pass a code of rhythm_vec.choices.POLICIES.");
    run.policy = static_cast<Policy>(policy);
    run.policy_seeds = data_or_null<uint32_t>(policy_seeds, num_envs_, "policy_seeds");
    if (run.policy == Policy::Sequence) run.actions = data_of<uint8_t>(actions, steps, "actions");
    read_beliefs(beliefs, run);
    run.stops = data_or_null<uint8_t>(stops, num_envs_, "stops");
    if (run.stops != nullptr) require_below(run.stops, num_envs_, count::Steps + 1, "stops");
    if (!trajectory.is_none()) run.trajectory = read_trajectory(trajectory);
    const CopySource from = source == nullptr ? CopySource{} : find_source(*source, indices);
    if (source == this) raise_input("not_alike", "Expected another batch as the source of a run, got the batch itself. Call gather first.");
    std::optional<Refusal> refusal;
    {
      const py::gil_scoped_release release;
      refusal = batch_->run(out_, run, {0, static_cast<int>(num_envs_)}, from);
    }
    if (refusal) raise_refusal(*refusal);
  }

  // Makes environment i a copy of environment indices[i] of the source, which may be this batch.
  void gather(BatchClass& source, const py::object& indices) {
    const Use use(*this);
    std::optional<Use> source_use;
    if (&source != this) source_use.emplace(source);
    const CopySource from = find_source(source, indices);
    const py::gil_scoped_release release;
    batch_->gather(out_, from);
  }

  // Returns the states, u32 [num_envs, 52], newly allocated.
  py::array_t<uint32_t> save() {
    const Use use(*this);
    py::array_t<uint32_t> words({num_envs_, static_cast<size_t>(count::StateWords)});
    uint32_t* data = words.mutable_data();
    const py::gil_scoped_release release;
    batch_->save(data, nullptr, num_envs_);
    return words;
  }

  // Loads states, and writes their outputs unless `keeps_outputs`. Returns false and changes nothing if one is invalid.
  bool load(const py::object& words, bool keeps_outputs) {
    const Use use(*this);
    const auto* data = data_of<uint32_t>(words, num_envs_ * count::StateWords, "words");
    const py::gil_scoped_release release;
    return batch_->load(out_, data, keeps_outputs);
  }

  // Returns the states' hashes, u64 [num_envs], newly allocated.
  py::array_t<uint64_t> hash() {
    const Use use(*this);
    py::array_t<uint64_t> hashes(num_envs_);
    uint64_t* data = hashes.mutable_data();
    const py::gil_scoped_release release;
    batch_->hash(data);
    return hashes;
  }

  // Returns the belief targets, f32 [num_envs, 3], newly allocated.
  py::array_t<float> targets() {
    const Use use(*this);
    py::array_t<float> rows({num_envs_, static_cast<size_t>(count::Beliefs)});
    float* data = rows.mutable_data();
    const py::gil_scoped_release release;
    batch_->targets(data);
    return rows;
  }

  // Replays rows. `columns` has the arrays of Replay, inputs and outputs, by name.
  void replay(const py::dict& columns) {
    const Use use(*this);
    const Replay replay = read_replay(columns);
    std::optional<Refusal> refusal;
    {
      const py::gil_scoped_release release;
      refusal = batch_->replay(replay);
    }
    if (refusal) raise_refusal(*refusal);
  }

  // Writes the encoded observations of the environments of a mask (None: all) to `out`, a flat array of `width` numbers for each
  // environment in the layout of the outputs. `parts` is f64 [parts, 6]: see Encoder. `history` is f32 [num_envs, 84], or None.
  // With `is_final`, encodes the final observations.
  void encode(const py::array& parts, size_t width, const py::object& history, const py::object& out, const py::object& mask,
              bool is_final) {
    const Use use(*this);
    const size_t stride = out_.column_stride, num_parts = static_cast<size_t>(parts.size()) / Encoder::kPartNumbers;
    const Encoder encoder(data_of<double>(parts, num_parts * Encoder::kPartNumbers, "parts"), num_parts, width);
    if (!encoder.is_legal()) raise_input("out_of_range", "Expected parts inside the observation, got others. Pass the parts of rhythm_vec.observations.");
    const float* raw = observations(is_final);
    const auto* past = !encoder.has_history() ? nullptr : data_of<float>(history, num_envs_ * kHistorySize, "history");
    auto* target = writable_data<float>(out, width * (stride == 0 ? num_envs_ : stride), "out");
    const auto* chosen = data_or_null<uint8_t>(mask, num_envs_, "mask");
    const py::gil_scoped_release release;
    encoder.encode({raw, stride}, past, {target, stride}, chosen, num_envs_);
  }

  // Appends the last step of the environments of a mask (None: all) to `history`, f32 [num_envs, 84]. With `is_final`, takes the
  // step from the final observations.
  void push_history(const py::object& history, const py::object& mask, bool is_final) {
    const Use use(*this);
    const float* raw = observations(is_final);
    auto* past = writable_data<float>(history, num_envs_ * kHistorySize, "history");
    const auto* chosen = data_or_null<uint8_t>(mask, num_envs_, "mask");
    const py::gil_scoped_release release;
    rhythm::push_history({raw, out_.column_stride}, past, chosen, num_envs_);
  }

  // Frees the batch. The arrays of the outputs stay readable.
  void close() {
    if (in_use_.load()) raise_busy();
    if (is_forked()) static_cast<void>(batch_.release());
    batch_.reset();
    outputs_.clear();
  }

  bool is_open() const { return batch_ != nullptr; }

 private:
  // Whether this process is a fork of the one that created the batch.
  bool is_forked() const { return forks_ != forks(); }

  // Marks the batch as in use during a call. Refuses a second call at the same time, a call in a forked process and a call
  // after `close`.
  class Use {
   public:
    explicit Use(BatchClass& batch) : batch_(batch) {
      if (batch.in_use_.exchange(true)) raise_busy();
      if (batch.is_forked()) {
        batch.in_use_ = false;
        raise_state("forked", "Expected a call from the process that created the environment, got one from a fork of it. Create a new environment in this process.");
      }
      if (batch.batch_ == nullptr) {
        batch.in_use_ = false;
        raise_state("closed", "Expected an open environment, got one that was closed. Create a new environment.");
      }
    }
    ~Use() { batch_.in_use_ = false; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    BatchClass& batch_;
  };

  [[noreturn]] static void raise_busy() {
    raise_state("busy", "Expected one call at a time, got a call while another thread's call is in progress. Use a lock, or an environment per thread.");
  }

  [[noreturn]] static void raise_refusal(const Refusal& refusal) {
    const std::string env = std::to_string(refusal.index);
    if (refusal.code == Refusal::Code::EpisodeOver) {
      raise_state("episode_over", "Expected episodes with steps left, got environment " + env +
                                      ", whose episode has ended. No episode was stepped. Reset it, leave it out of the mask, or choose an autoreset mode.");
    }
    if (refusal.step < 0) StepArguments::raise_illegal_action(std::to_string(refusal.value), static_cast<size_t>(refusal.index));
    raise_input("illegal_action", "Expected action codes from 0 to " + std::to_string(count::Actions - 1) + ", got " + std::to_string(refusal.value) +
                                      " at step " + std::to_string(refusal.step) + " of row " + env + ". No episode was stepped. Pass a code of ACTION_NAMES.");
  }

  static void require_below(const uint8_t* codes, size_t length, int limit, const char* name) {
    for (size_t k = 0; k < length; k++) {
      if (codes[k] < limit) continue;
      raise_input("out_of_range", std::string("Expected ") + name + " below " + std::to_string(limit) + ", got " + std::to_string(codes[k]) + ". Pass smaller numbers.");
    }
  }

  void read_outputs(size_t column_stride) {
    const auto rows = column_stride == 0 ? num_envs_ : column_stride;
    if (rows < num_envs_) raise_input("out_of_range", "Expected a column stride of 0 (row-major) or at least " + std::to_string(num_envs_) + " (num_envs), got " + std::to_string(column_stride) + ". Pass the stride of column_stride_of.");
    const auto floats = [&](const char* name, size_t width) {
      return writable_data<float>(outputs_[name], width * (width > 1 ? rows : num_envs_), name);
    };
    out_.observations = floats("observations", count::ObservationFloats);
    out_.final_observations = outputs_.contains("final_observations") ? floats("final_observations", count::ObservationFloats) : nullptr;
    out_.components = floats("components", count::Components);
    out_.rewards = floats("rewards", 1);
    out_.final_scores = floats("final_scores", 1);
    out_.belief_mae = floats("belief_mae", 1);
    out_.first_half_means = floats("first_half_means", 1);
    out_.second_half_means = floats("second_half_means", 1);
    out_.episode_returns = floats("episode_returns", 1);
    out_.episode_lengths = writable_data<int32_t>(outputs_["episode_lengths"], num_envs_, "episode_lengths");
    out_.terminated = writable_data<uint8_t>(outputs_["terminated"], num_envs_, "terminated");
    out_.final_mask = writable_data<uint8_t>(outputs_["final_mask"], num_envs_, "final_mask");
    out_.column_stride = column_stride;
  }

  const float* observations(bool is_final) const {
    const float* raw = is_final ? out_.final_observations : out_.observations;
    if (raw == nullptr) raise_input("unknown_option", "Expected final observations with autoreset \"same-step\", got another mode. Encode the observations.");
    return raw;
  }

  size_t count_ended() const {
    size_t ended = 0;
    for (size_t env = 0; env < num_envs_; env++) ended += out_.final_mask[env];
    return ended;
  }

  Start read_start(const py::object& value) const {
    const auto start = py::cast<py::tuple>(value);
    if (start.size() != 10) raise_input("wrong_length", "Expected ten arrays in start, got " + std::to_string(start.size()) + ". Pass them in the order of Start.");
    const auto sums = [&](size_t k) { return data_or_null<float>(start[k], num_envs_, "start"); };
    return {data_of<uint8_t>(start[0], num_envs_, "start.steps"),
            data_of<float>(start[1], num_envs_ * count::Meters, "start.meters"),
            sums(2), sums(3), sums(4),
            data_or_null<uint8_t>(start[5], num_envs_, "start.crashes"),
            sums(6), sums(7),
            data_or_null<float>(start[8], num_envs_ * count::Beliefs, "start.beliefs"),
            data_or_null<uint8_t>(start[9], num_envs_, "start.given")};
  }

  void read_beliefs(const py::object& value, Run& run) const {
    if (value.is_none()) return;
    if (!py::isinstance<py::tuple>(value)) {
      run.constant_belief = data_of<float>(value, count::Beliefs, "belief");
      return;
    }
    const auto pair = py::cast<py::tuple>(value);
    const size_t steps = num_envs_ * count::Steps;
    run.beliefs = data_of<float>(pair[0], steps * count::Beliefs, "beliefs");
    run.given = data_of<uint8_t>(pair[1], steps, "given");
  }

  Trajectory read_trajectory(const py::object& value) const {
    const auto arrays = py::cast<py::tuple>(value);
    const auto stride = py::cast<size_t>(arrays[6]);
    if (stride != 0 && stride < num_envs_) raise_input("out_of_range", "Expected a column stride of 0 (row-major) or at least " + std::to_string(num_envs_) + " (num_envs), got " + std::to_string(stride) + ". Pass the stride of column_stride_of.");
    const size_t steps = (stride == 0 ? num_envs_ : stride) * count::Steps;
    const auto codes = [&](size_t k) { return writable_data_or_null<int8_t>(arrays[k], steps, "trajectory"); };
    const auto floats = [&](size_t k, size_t width) { return writable_data_or_null<float>(arrays[k], steps * width, "trajectory"); };
    return {codes(0), codes(1), floats(2, 1), floats(3, count::Meters), floats(4, count::Meters), floats(5, count::Meters), stride};
  }

  CopySource find_source(BatchClass& source, const py::object& value) const {
    const auto* indices = data_of<uint32_t>(value, num_envs_, "indices");
    for (size_t env = 0; env < num_envs_; env++) {
      if (indices[env] < source.num_envs_) continue;
      raise_input("out_of_range", "Expected indices from 0 to " + std::to_string(source.num_envs_ - 1) + ", got " + std::to_string(indices[env]) +
                                      " at indices[" + std::to_string(env) + "]. Pass indices of environments of the source.");
    }
    return {source.batch_.get(), source.out_, indices};
  }

  static Replay read_replay(const py::dict& columns) {
    const auto column = [&](const char* name) -> py::object { return columns.contains(name) ? py::object(columns[name]) : py::none(); };
    const size_t rows = py::cast<py::array>(column("seeds")).size();
    Replay replay = {};
    replay.count = py::cast<py::array>(column("order")).size();
    replay.order = data_of<uint32_t>(column("order"), replay.count, "order");
    replay.seeds = data_of<uint32_t>(column("seeds"), rows, "seeds");
    replay.modes = data_of<uint8_t>(column("modes"), rows, "modes");
    replay.profiles = data_or_null<float>(column("profiles"), rows * count::ProfileFloats, "profiles");
    replay.grader = data_of<float>(column("grader"), count::Components, "grader");
    replay.stops = data_of<uint8_t>(column("stops"), rows, "stops");
    replay.histories = data_of<uint8_t>(column("histories"), rows * count::Steps, "histories");
    replay.actions = data_of<int8_t>(column("actions"), rows, "actions");
    replay.beliefs = data_or_null<float>(column("beliefs"), rows * count::Beliefs, "beliefs");
    replay.given = data_or_null<uint8_t>(column("given"), rows, "given");
    replay.belief_histories = data_or_null<float>(column("belief_histories"), rows * count::Steps * count::Beliefs, "belief_histories");
    replay.history_given = data_or_null<uint8_t>(column("history_given"), rows * count::Steps, "history_given");
    replay.rewards = writable_data<float>(column("rewards"), rows, "rewards");
    replay.belief_mae = writable_data<float>(column("belief_mae"), rows, "belief_mae");
    replay.belief_skill = writable_data<float>(column("belief_skill"), rows, "belief_skill");
    replay.hashes = writable_data<uint64_t>(column("hashes"), rows, "hashes");
    check_replay(replay, rows);
    return replay;
  }

  static void check_replay(const Replay& replay, size_t rows) {
    require_below(replay.modes, rows, world::mode::Given + 1, "modes");
    require_below(replay.stops, rows, count::Steps, "stops");
    bool legal = (replay.beliefs == nullptr) == (replay.given == nullptr) &&
                 (replay.belief_histories == nullptr) == (replay.history_given == nullptr);
    for (size_t k = 0; k < replay.count; k++) legal &= replay.order[k] < rows;
    for (size_t row = 0; row < rows; row++) legal &= replay.actions[row] >= -1 && replay.actions[row] < count::Actions;
    if (!legal) raise_input("out_of_range", "Expected legal order, actions and beliefs in the columns, got others. Pass the columns that rhythm_vec.score_replay makes.");
  }

  const size_t num_envs_;
  StepArguments arguments_;
  py::dict outputs_;
  Outputs out_ = {};
  std::unique_ptr<Batch> batch_;
  std::atomic<bool> in_use_{false};
  const int forks_;  // the value of forks() when this batch was created
};

}  // namespace rhythm::python
