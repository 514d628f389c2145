// Computes the sums of the rewards and of the wellbeing of recorded steps under imagined profiles.
#pragma once
#include <memory>
#include <type_traits>

#include "arrays.h"
#include "lanes_scalar.h"
#include "tables.h"

// The included sources define their names in this namespace, as they do in the namespace of each kernel.
namespace rhythm::python::sums {

using namespace scalar;
using scalar::broadcast;  // otherwise the `broadcast` of meters.inl would hide it
namespace block = world::block;
namespace count = world::count;
namespace trait = world::trait;

#include "threefry.inl"
#include "meters.inl"
#include "time.inl"
#include "draws.inl"
#include "rules.inl"

// Writes to `out`, f32 [3], the sums of the first `steps` steps under a profile: early and late (rewards of the first
// and second half) and well (weighted meters). `meters` and `deltas` are f32 [28, 5].
inline void add_steps(const Tables& w, const float* profile, int steps, const float* meters, const float* deltas, float* out) {
  const Profile prepared = make_profile(w, [profile](int k) { return broadcast(profile[k]); });
  EpisodeState episode = {};
  for (int t = 0; t < steps; t++) {
    const Meters moved = broadcast(meters + t * count::Meters), delta = broadcast(deltas + t * count::Meters);
    const U low = count_below(moved, broadcast(w.f[block::CrashThreshold]));
    add_reward(SharedTime{t}, reward_of(w, prepared, delta, low), episode);
    episode.well = episode.well + weighted_sum(prepared.weights, moved);
  }
  out[0] = episode.early.v, out[1] = episode.late.v, out[2] = episode.well.v;
}

}  // namespace rhythm::python::sums

namespace rhythm::python {

// Returns f32 [rows, 3], newly allocated: the sums early, late and well of the first steps[row] steps of each row under its
// profile. `steps` is u8 [rows], `profiles` f32 [rows, 16], `meters` and `deltas` are f32 [rows, 28, 5].
inline py::array_t<float> reward_sums(const py::object& block, const py::object& profiles, const py::array& steps,
                                      const py::object& meters, const py::object& deltas) {
  namespace count = world::count;
  const auto rows = static_cast<size_t>(steps.size());
  const size_t numbers = count::Steps * count::Meters;
  const auto* words = data_of<uint32_t>(block, count::BlockWords, "block");
  const auto* profile = data_of<float>(profiles, rows * count::ProfileFloats, "profiles");
  const auto* taken = data_of<uint8_t>(steps, rows, "steps");
  const auto* meter = data_of<float>(meters, rows * numbers, "meters");
  const auto* delta = data_of<float>(deltas, rows * numbers, "deltas");
  for (size_t row = 0; row < rows; row++) {
    if (taken[row] > count::Steps) raise_input("out_of_range", "Expected at most " + std::to_string(count::Steps) + " steps, got " + std::to_string(taken[row]) + ". Pass the steps taken.");
  }
  py::array_t<float> result({rows, size_t{3}});
  float* out = result.mutable_data();
  const py::gil_scoped_release release;
  const auto tables = std::make_unique<Tables>();
  build_tables(words, false, *tables);
  for (size_t row = 0; row < rows; row++) {
    sums::add_steps(*tables, profile + row * count::ProfileFloats, taken[row], meter + row * numbers, delta + row * numbers, out + 3 * row);
  }
  return result;
}

}  // namespace rhythm::python
