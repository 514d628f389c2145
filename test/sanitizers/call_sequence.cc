// The calls of the sequence, with their arguments. A refused call ends the process.
#include "call_sequence.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace rhythm {

namespace count = world::count;

namespace {

// Returns a legal world block. Its floats are all equal, because the tests compare results only with each other.
const uint32_t* any_block(Arrays& arrays) {
  auto* words = arrays.take<uint32_t>(count::BlockWords);
  const float half = 0.5f;
  for (int k = 0; k < world::block::EventThreshold; k++) std::memcpy(words + k, &half, sizeof half);
  words[world::block::EventThreshold] = 1u << 30;
  return words;
}

Outputs any_outputs(Arrays& arrays, size_t num_envs, bool columns) {
  const auto floats = [&](size_t width) { return arrays.take<float>(num_envs * width); };
  constexpr size_t numbers = count::ObservationFloats, components = count::Components;
  return {floats(numbers), floats(numbers), floats(components), floats(1), floats(1),
          floats(1),       floats(1),       floats(1),          floats(1), arrays.take<int32_t>(num_envs),
          arrays.take<uint8_t>(num_envs), arrays.take<uint8_t>(num_envs), columns ? num_envs : 0};
}

class CallSequence {
 public:
  CallSequence(const Kernel& kernel, const Shape& shape, Arrays& arrays)
      : arrays_(arrays),
        num_envs_(static_cast<size_t>(shape.num_envs)),
        steps_(shape.only_steps ? 0 : num_envs_ * count::Steps),
        block_(any_block(arrays)),
        out_(any_outputs(arrays, num_envs_, shape.columns)),
        other_out_(any_outputs(arrays, num_envs_, !shape.columns)),
        batch_(kernel, block_, false, shape.num_envs, shape.threads),
        other_(kernel, block_, false, shape.num_envs, shape.threads) {}

  void reset() {
    batch_.reset(out_, {nullptr, seeds_, modes_, profiles_, graders_, false, nullptr, nullptr});
    other_.reset(other_out_, {nullptr, seeds_, nullptr, nullptr, nullptr, false, nullptr, nullptr});
    batch_.reset(out_, {mask_, seeds_, modes_, profiles_, graders_, false, nullptr, nullptr});
  }

  // Begins episodes at different steps, with and without sums of rewards and crash counts, then steps and runs them.
  void reset_to_later_steps() {
    const Start with_sums = {begins_, meters_, sums_, sums_, sums_, begins_};
    const Start without_sums = {begins_, meters_, nullptr, nullptr, nullptr, nullptr};
    batch_.reset(out_, {nullptr, seeds_, modes_, profiles_, graders_, false, nullptr, &with_sums});
    batch_.reset(out_, {mask_, seeds_, nullptr, nullptr, nullptr, false, nullptr, &without_sums});
    step({actions_, nullptr, nullptr, nullptr}, {});
    run(Policy::Random, backwards_, true);
  }

  void step_all_envs(int steps) {
    for (int t = 0; t < steps; t++) step({actions_, nullptr, nullptr, nullptr}, {});
  }

  // Steps some environments and resets others.
  void step_some_envs(int steps) {
    reset();
    step({actions_, beliefs_, given_, nullptr}, {});
    for (int t = 2; t < steps; t++) step({actions_, beliefs_, given_, mask_}, {});
    step({actions_, nullptr, nullptr, given_}, {mask_, seeds_});
    step({actions_, beliefs_, given_, nullptr}, {mask_, seeds_});
    step({actions_, nullptr, nullptr, nullptr}, {});
  }

  void gather() {
    other_.gather(other_out_, {&batch_, out_, backwards_});
    other_.gather(other_out_, {&other_, other_out_, backwards_});
    other_.gather(other_out_, {&batch_, out_, same_});
  }

  void run_from_different_steps() {
    run(Policy::Sequence, backwards_, true);
    run(Policy::Random, backwards_, false);
  }

  void run_from_same_step() {
    reset();
    run(Policy::Random, same_, true);
    run(Policy::Heuristic, same_, false);
    run(Policy::Heuristic, backwards_, true);
    run(Policy::Sequence, backwards_, false);
  }

  void run_from_current_steps() {
    Run run = {};
    run.policy = Policy::Heuristic;
    expect_accepted(batch_.run(out_, run, {0, static_cast<int>(num_envs_)}, {}));
  }

  void save_and_load() {
    batch_.hash(arrays_.take<uint64_t>(num_envs_));
    batch_.targets(arrays_.take<float>(num_envs_ * count::Beliefs));
    auto* words = arrays_.take<uint32_t>(num_envs_ * count::StateWords);
    batch_.save(words, nullptr, num_envs_);
    for (bool keeps_outputs : {true, false}) {
      if (!other_.load(other_out_, words, keeps_outputs)) std::abort();
    }
    other_.save(arrays_.take<uint32_t>(num_envs_ * count::StateWords), backwards_, num_envs_);
  }

 private:
  // Returns an array whose element i is value(i).
  template <class T, class Value>
  const T* filled(size_t length, const Value& value) {
    T* array = arrays_.take<T>(length);
    for (size_t i = 0; i < length; i++) array[i] = static_cast<T>(value(i));
    return array;
  }
  // Returns an array whose element i is i % limit.
  template <class T>
  const T* counted(size_t length, size_t limit) {
    return filled<T>(length, [limit](size_t i) { return i % limit; });
  }
  const float* fractions(size_t length) {
    return filled<float>(length, [](size_t i) { return static_cast<float>(i % 17) / 16; });
  }
  Trajectory trajectory() {
    const auto floats = [&](size_t width) { return arrays_.take<float>(steps_ * width); };
    constexpr size_t meters = count::Meters;
    return {arrays_.take<int8_t>(steps_), arrays_.take<int8_t>(steps_), floats(1), floats(meters), floats(meters),
            floats(meters), out_.column_stride};
  }

  static void expect_accepted(const std::optional<Refusal>& refusal) {
    if (!refusal) return;
    std::fprintf(stderr, "illegal call at environment %d\n", refusal->index);
    std::abort();
  }
  void step(const Step& step, const AutoReset& autoreset) { expect_accepted(batch_.step(out_, step, autoreset)); }

  // Runs in two parts if the batch fills at least two tiles (of kTileLanes environments each). With `all` the run has all
  // optional arrays (stops only for a sequence), otherwise only a constant belief.
  void run(Policy policy, const uint32_t* indices, bool all) {
    Run run = {};
    run.policy = policy;
    run.actions = sequence_;
    if (all) {
      run.policy_seeds = seeds_;
      run.beliefs = sequence_beliefs_, run.given = sequence_given_;
      run.trajectory = trajectory_;
      if (policy == Policy::Sequence) run.stops = stops_;
    } else {
      run.constant_belief = constant_belief_;
    }
    const int num_envs = static_cast<int>(num_envs_), middle = num_envs / 2 / kTileLanes * kTileLanes;
    const CopySource from = {&batch_, out_, indices};
    if (middle > 0) expect_accepted(other_.run(other_out_, run, {0, middle}, from));
    expect_accepted(other_.run(other_out_, run, {middle, num_envs}, from));
  }

  Arrays& arrays_;
  const size_t num_envs_, steps_;
  const uint32_t* const block_;
  const Outputs out_, other_out_;
  Batch batch_, other_;

  const uint32_t* const seeds_ = counted<uint32_t>(num_envs_, num_envs_);
  const uint32_t* const backwards_ = filled<uint32_t>(num_envs_, [this](size_t i) { return num_envs_ - 1 - i; });
  const uint32_t* const same_ = counted<uint32_t>(num_envs_, 1);
  const uint8_t* const modes_ = counted<uint8_t>(num_envs_, world::mode::Given + 1);
  const float* const profiles_ = fractions(num_envs_ * count::ProfileFloats);
  const float* const graders_ = fractions(num_envs_ * count::Components);
  const uint8_t* const begins_ = counted<uint8_t>(num_envs_, count::Steps - 1);
  const float* const meters_ = fractions(num_envs_ * count::Meters);
  const float* const sums_ = fractions(num_envs_);
  const uint8_t* const mask_ = filled<uint8_t>(num_envs_, [](size_t i) { return i % 3 == 0; });
  const uint8_t* const actions_ = counted<uint8_t>(num_envs_, count::Actions);
  const float* const beliefs_ = fractions(num_envs_ * count::Beliefs);
  const uint8_t* const given_ = counted<uint8_t>(num_envs_, 2);
  const uint8_t* const sequence_ = counted<uint8_t>(steps_, count::Actions);
  const float* const sequence_beliefs_ = fractions(steps_ * count::Beliefs);
  const uint8_t* const sequence_given_ = counted<uint8_t>(steps_, 2);
  const float* const constant_belief_ = fractions(count::Beliefs);
  const uint8_t* const stops_ = counted<uint8_t>(num_envs_, count::Steps + 1);
  const Trajectory trajectory_ = trajectory();
};

}  // namespace

std::string play(const Kernel& kernel, const Shape& shape, Arrays& arrays) {
  CallSequence sequence(kernel, shape, arrays);
  const int steps = shape.only_steps ? 3 : count::Steps;
  sequence.reset();
  sequence.step_all_envs(steps);
  sequence.save_and_load();
  sequence.step_some_envs(steps);
  if (shape.only_steps) return arrays.contents();
  sequence.save_and_load();
  sequence.gather();
  sequence.run_from_different_steps();
  sequence.run_from_same_step();
  sequence.run_from_current_steps();
  sequence.save_and_load();
  sequence.reset_to_later_steps();
  sequence.save_and_load();
  return arrays.contents();
}

}  // namespace rhythm
