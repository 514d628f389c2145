// The computations on arrays as Python functions: reads arguments, releases the interpreter's lock and computes.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "arrays.h"
#include "rewards.h"
#include "student.h"

namespace rhythm::python {

// Returns f32 [6, n], newly allocated: the columns of RewardColumns. `numbers` is f64 [20], see RewardNumbers; the other arguments
// are those of RewardRows, with None for null.
inline py::array_t<float> stack_rewards(const py::object& numbers, const py::array& actions, const py::object& given,
                                        const py::object& step_rewards, const py::object& belief_mae,
                                        const py::object& belief_skill, const py::object& histories, const py::object& stops) {
  const auto count = static_cast<size_t>(actions.size());
  RewardNumbers read;
  std::memcpy(&read, data_of<double>(numbers, kRewardNumbers, "numbers"), sizeof read);
  const RewardRows rows = {count,
                           data_of<int8_t>(actions, count, "actions"),
                           data_of<uint8_t>(given, count, "given"),
                           data_of<double>(step_rewards, count, "step_rewards"),
                           data_of<double>(belief_mae, count, "belief_mae"),
                           data_or_null<double>(belief_skill, count, "belief_skill"),
                           data_or_null<uint8_t>(histories, count * world::count::Steps, "histories"),
                           data_or_null<uint8_t>(stops, count, "stops")};
  if ((rows.histories == nullptr) != (rows.stops == nullptr) || !(read.window >= 1)) raise_input("out_of_range", "Expected stops with histories and a window above 0, got others. Call score_replay.");
  py::array_t<float> result({size_t{6}, count});
  float* out = result.mutable_data();
  const py::gil_scoped_release release;
  rhythm::stack_rewards(read, rows, {out, out + count, out + 2 * count, out + 3 * count, out + 4 * count, out + 5 * count});
  return result;
}

// Writes the inputs of a student, f32 [n, 76], and updates its memory, f32 [n, 65]: see student.h. Returns false for an illegal step
// or action.
inline bool observe(const py::object& block, const py::object& observations, const py::array& playing, const py::object& memory,
                    const py::object& inputs) {
  const auto count = static_cast<size_t>(playing.size());
  const auto* words = data_of<uint32_t>(block, world::count::BlockWords, "block");
  const auto* rows = data_of<float>(observations, count * world::count::ObservationFloats, "observations");
  const auto* flags = data_of<uint8_t>(playing, count, "playing");
  auto* memories = reinterpret_cast<StudentMemory*>(writable_data<float>(memory, count * kStudentMemorySize, "memory"));
  auto* out = writable_data<float>(inputs, count * kFeatures, "inputs");
  const py::gil_scoped_release release;
  return rhythm::observe(words, count, rows, flags, memories, out);
}

// Returns the outputs of a network, f32 [n, sizes[-1]], newly allocated. `sizes` is u32 [layers + 1], `weights` has the weights and
// biases of each layer, and `inputs` is f32 [n, sizes[0]].
inline py::array_t<float> forward(const py::array& sizes, const py::object& weights, const py::array& inputs) {
  const auto layers = static_cast<size_t>(sizes.size()) - 1;
  const auto* size = data_of<uint32_t>(sizes, layers + 1, "sizes");
  if (layers < 1 || layers > kMaxLayers || !legal_sizes(size, layers)) raise_input("out_of_range", "Expected layers of 1 to 2^16 numbers, got others. Read the student again.");
  const auto* numbers = data_of<float>(weights, weights_of(size, layers), "weights");
  const size_t rows = static_cast<size_t>(inputs.size()) / size[0];
  const auto* in = data_of<float>(inputs, rows * size[0], "inputs");
  py::array_t<float> result({rows, static_cast<size_t>(size[layers])});
  float* out = result.mutable_data();
  const py::gil_scoped_release release;
  std::vector<float> scratch(3 * *std::max_element(size, size + layers + 1));
  rhythm::forward(size, layers, numbers, rows, in, out, scratch.data());
  return result;
}

}  // namespace rhythm::python
