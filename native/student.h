// A student's inputs and network (docs/students.md), in float32. There is no library function but the square root, so all
// machines and languages compute the same bits.
#pragma once
#include <cstddef>
#include <cstdint>

#include "generated/world.h"

namespace rhythm {

constexpr int kBoundedTraits = 9;
// The number of inputs. src/agents/student/network.ts and rhythm_vec.student have it too.
constexpr size_t kFeatures = 76;

// What a student remembers of an episode.
struct StudentMemory {
  // The bounds of the traits that affect anomalies: by trait, the stress threshold last.
  float low[kBoundedTraits], high[kBoundedTraits];
  // The reward weights: their means and covariances.
  float mean[world::count::Meters], covariance[world::count::Meters][world::count::Meters];
  // The current meters, the meters at the end of the first half, and the sum of each meter over the steps.
  float meters[world::count::Meters], middle_meters[world::count::Meters], meter_sums[world::count::Meters];
  // The metabolic rate, and how often a meter was below the crash threshold.
  float metabolism, crashes;
};
constexpr size_t kStudentMemorySize = sizeof(StudentMemory) / sizeof(float);

// Adds the observations of the episodes of a mask to their memories, and writes their inputs, f32 [num_envs, 76]; 0 for other
// episodes. An observation at step 0 begins an episode. `block` holds the numbers of the world, f32 [BlockWords]. Returns false
// and changes nothing if the step, 0 to 27, or the last action of an observation is no legal code.
bool observe(const uint32_t* block, size_t num_envs, const float* observations, const uint8_t* playing, StudentMemory* memories,
             float* inputs);

// Limits of a network, which keep the number of its weights in range.
constexpr int kMaxLayers = 1024;
constexpr uint32_t kMaxLayerSize = 1 << 16;
bool legal_sizes(const uint32_t* sizes, size_t num_layers);
// Returns the number of weights and biases.
size_t weights_of(const uint32_t* sizes, size_t num_layers);

// Computes the outputs of a network, f32 [rows, sizes[num_layers]]. Layer k has sizes[k] inputs and sizes[k + 1] outputs; there
// is a ReLU between layers. `weights` has for each layer the weights, f32 [inputs, outputs], and then the biases. A sum adds its
// products to the bias in the order of the inputs. `scratch` has room for three times the largest size.
void forward(const uint32_t* sizes, size_t num_layers, const float* weights, size_t rows, const float* inputs, float* outputs,
             float* scratch);

}  // namespace rhythm
