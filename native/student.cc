// Computes a student's inputs, and the outputs of its network. student.h explains both.
#include "student.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rhythm {

namespace block = world::block;
namespace count = world::count;
namespace observation = world::observation;
namespace tag = world::tag;
namespace trait = world::trait;

namespace {

enum Meter { kVitality, kCognition, kProgress, kSerenity };
constexpr int kMeters = count::Meters;

// The traits with bounds, by their index in StudentMemory.
constexpr int kTraits[kBoundedTraits] = {
    trait::SocialVitalityMultiplier, trait::SocialSerenityBonus, trait::MorningFocus,
    trait::NightFocus,               trait::WorkVitalityRecovery, trait::ProgressSerenityBonus,
    trait::SoloSerenityBonus,        trait::LeisureGuilt,         trait::StressThreshold,
};
constexpr int kThreshold = kBoundedTraits - 1;
constexpr bool has_own_indices() {
  for (int k = 0; k < kBoundedTraits; k++) {
    if (kTraits[k] != k) return false;
  }
  return true;
}
static_assert(has_own_indices());  // so that an index of a trait is its index in StudentMemory

// Bound on the float32 rounding of an anomaly in the published world. Chosen by hand, with a wide margin: an operation with a
// result below 2 rounds by at most 2^-24.
constexpr float kRounding = 1.0f / (1 << 18);

// The mean, variance and covariance of weights with the sampler's distribution, Dirichlet(2, 2, 2, 2, 2) (docs/world.md,
// Profiles).
constexpr double kMean = 1.0 / kMeters, kDivisor = 2 * kMeters + 1;
constexpr float kPriorMean = static_cast<float>(kMean);
constexpr float kPriorVariance = static_cast<float>(kMean * (1 - kMean) / kDivisor);
constexpr float kPriorCovariance = static_cast<float>(-(kMean * kMean) / kDivisor);
// A smaller variance of the sum counts as 0: then the reward says nothing about the weights. Chosen by hand, so that the filter
// never divides by 0.
constexpr float kLeastVariance = 1.0f / (uint64_t{1} << 40);
// The largest share of the variance of the sum that one reward removes. Chosen by hand: without it, the approximation in
// `update_weights` may remove all of the variance.
constexpr float kLargestCut = 1 - static_cast<float>(1.0 / 20);

// Factors, chosen by hand, that bring inputs near 1. The metabolic rate differs from the neutral one by at most 0.4. A reward
// weight has the mean 1/5 and the prior variance 1/69. Ten crashes give the input 1.
constexpr float kMetabolismScale = 5 / 2.0, kWeightScale = 5, kVarianceScale = 60, kCrashScale = static_cast<float>(1.0 / 10);

// The world's numbers.
struct Params {
  const uint32_t* words;
  float f(int at) const {
    float value;
    std::memcpy(&value, words + at, sizeof value);
    return value;
  }
  bool has_tag(int tag, int action) const { return (words[block::Tagged + tag] >> action) & 1; }
};

// A step, as the observation after it shows it.
struct Seen {
  int slot, action;
  const float* before;  // the meters before the step
  const float* anomalies;
};

// The trait that affects a meter's anomaly in a step, or -1, and the anomaly for each unit of the trait.
struct Affecting {
  int trait[kMeters] = {-1, -1, -1, -1, -1};
  float slope[kMeters] = {};
  void set(int meter, int by, float with) { trait[meter] = by, slope[meter] = with; }
};

// Returns what affects the anomalies of a step, from rule 2 of docs/world.md.
Affecting affecting_of(const Params& p, const Seen& step) {
  Affecting by;
  const int row = block::Effect + (step.slot * count::Actions + step.action) * kMeters;
  const auto is = [&](int tag) { return p.has_tag(tag, step.action); };
  if (is(tag::Productive)) {
    // Slot 0 is the morning. In the afternoon, slot 1, no trait affects focus.
    const int focus = step.slot == 0 ? trait::MorningFocus : trait::NightFocus;
    if (step.slot != 1) {
      const float vigour = p.f(block::VitalityFactorBase) + p.f(block::VitalityFactorSlope) * step.before[kVitality];
      by.set(kProgress, focus, p.f(row + kProgress) * vigour);
      by.set(kCognition, focus, p.f(block::FocusCognition));
    }
    by.set(kVitality, trait::WorkVitalityRecovery, 1);
    by.set(kSerenity, trait::ProgressSerenityBonus, 1);
  }
  if (is(tag::Social)) {
    by.set(kVitality, trait::SocialVitalityMultiplier, p.f(row + kVitality));
    by.set(kSerenity, trait::SocialSerenityBonus, 1);
  }
  if (is(tag::Solo)) by.set(kSerenity, trait::SoloSerenityBonus, 1);
  if (is(tag::Guilty)) by.set(kSerenity, trait::LeisureGuilt, -1);
  return by;
}

// Narrows the bounds of the traits that affect anomalies. Noise is uniform with known amplitude, so an anomaly gives a lower and
// an upper bound of the trait that affects it. An anomaly also depends on whether the profile was stressed: whether its serenity
// was below its stress threshold. If this is unknown, the bounds allow both cases.
class Bounds {
 public:
  Bounds(const Params& p, const Seen& step, StudentMemory& memory)
      : p_(p), step_(step), by_(affecting_of(p, step)), low_(memory.low), high_(memory.high) {}

  void narrow() {
    const float serenity = step_.before[kSerenity];
    bool may_be_calm = low_[kThreshold] <= serenity, may_be_stressed = serenity < high_[kThreshold];
    if (may_be_calm && may_be_stressed) {
      const bool calm_fits = fits(0), stressed_fits = fits(1);
      if (calm_fits && !stressed_fits) high_[kThreshold] = serenity;
      if (stressed_fits && !calm_fits) low_[kThreshold] = serenity;
      if (calm_fits != stressed_fits) may_be_calm = calm_fits, may_be_stressed = stressed_fits;
    }
    for (int k = 0; k < kMeters; k++) {
      if (by_.trait[k] >= 0) narrow_trait(k, may_be_calm, may_be_stressed);
    }
  }

 private:
  float neutral(int k) const { return p_.f(block::TraitNeutral + k); }
  float margin(int k) const { return p_.f(block::NoiseMeters + k) + kRounding; }
  // Returns the anomaly without the part that stress adds: the effect on a stressed (1) or calm (0) profile, minus that on the
  // neutral profile.
  float rest(int k, int stressed) const {
    const int neutral_stressed = step_.before[kSerenity] < neutral(kThreshold);
    return step_.anomalies[k] - p_.f(block::Stress + k) * static_cast<float>(stressed - neutral_stressed);
  }

  // Returns whether each anomaly, checked separately, is possible for a stressed or calm profile within the bounds.
  bool fits(int stressed) const {
    for (int k = 0; k < kMeters; k++) {
      const int at = by_.trait[k];
      const float a = at < 0 ? 0 : by_.slope[k] * (low_[at] - neutral(at)), b = at < 0 ? 0 : by_.slope[k] * (high_[at] - neutral(at));
      if (rest(k, stressed) + margin(k) < std::min(a, b) || rest(k, stressed) - margin(k) > std::max(a, b)) return false;
    }
    return true;
  }

  // Narrows the bounds of the trait that affects meter `k`. Evidence that contradicts them is ignored.
  void narrow_trait(int k, bool may_be_calm, bool may_be_stressed) {
    const int at = by_.trait[k];
    const float calm = rest(k, 0), stressed = rest(k, 1);
    // If the profile may be stressed or calm, the bounds allow both.
    const float least = may_be_stressed ? (may_be_calm ? std::min(calm, stressed) : stressed) : calm;
    const float most = may_be_stressed ? (may_be_calm ? std::max(calm, stressed) : stressed) : calm;
    const float a = neutral(at) + (least - margin(k)) / by_.slope[k], b = neutral(at) + (most + margin(k)) / by_.slope[k];
    if (std::isnan(a) || std::isnan(b)) return;
    const float low = std::max(low_[at], std::min(a, b)), high = std::min(high_[at], std::max(a, b));
    if (low <= high) low_[at] = low, high_[at] = high;
  }

  const Params& p_;
  const Seen& step_;
  const Affecting by_;
  float *low_, *high_;
};

constexpr float kQuarter = 1.0f / 4;

// Returns a lower bound (Sampford 1953) of the mean of a standard normal number that exceeds `x`. The formula has no
// exponential. The result is 0 for `x` below -1, where the cut removes little.
float inverse_mills_ratio(float x) {
  const float root = std::sqrt(x * x + 8);
  return std::max(0.0f, (3 * x + root) * kQuarter);
}

// Updates the means and covariances of the reward weights. A reward is a weighted sum of the changes of the meters plus uniform
// noise, so each reward bounds that sum from both sides. The two bounds cut the normal distribution of the weights, and the mean
// and covariance of what is left are those of the next (assumed density filtering). A Kalman filter, which takes the noise as
// normal, leads to less accurate beliefs (docs/students.md, What the network sees).
void update_weights(const Params& p, const float* deltas, float reward, float crashed, StudentMemory& memory) {
  const float noise = p.f(block::NoiseReward);
  auto& mean = memory.mean;
  auto& covariance = memory.covariance;
  // The factor of each weight in the sum, and the covariance of each weight with the sum.
  float x[kMeters], covariances[kMeters];
  // The reward minus its expected value.
  float error = reward + p.f(block::CrashPenalty) * crashed;
  for (int k = 0; k < kMeters; k++) {
    x[k] = p.f(block::RewardScale) * deltas[k];
    error = error - (p.f(block::RewardBias + k) + mean[k]) * x[k];
  }
  // The variance of the sum.
  float variance = 0;
  for (int k = 0; k < kMeters; k++) {
    float sum = 0;
    for (int j = 0; j < kMeters; j++) sum = sum + covariance[k][j] * x[j];
    covariances[k] = sum;
    variance = variance + sum * x[k];
  }
  if (!(variance > kLeastVariance)) return;
  // The bounds of the sum, in standard deviations from its mean.
  const float spread = std::sqrt(variance), low = (error - noise) / spread, high = (error + noise) / spread;
  // Approximates the mean and variance of a normal distribution that two bounds cut: takes each bound as if it alone cut the
  // distribution, and adds the two effects. `from_low` and `from_high` are the distances, in standard deviations, by which the
  // bounds move the mean inwards. `cut` is the share of the variance that both remove. The mean of a weight rises by `shift`
  // times the weight's covariance with the sum. The covariance of two weights falls by `lost` times the product of their
  // covariances with the sum.
  const float from_low = inverse_mills_ratio(low), from_high = inverse_mills_ratio(-high);
  const float shift = (from_low - from_high) / spread;
  const float cut = from_low * (from_low - low) + from_high * (from_high + high);
  const float lost = std::min(std::max(0.0f, cut), kLargestCut) / variance;
  for (int k = 0; k < kMeters; k++) mean[k] = mean[k] + covariances[k] * shift;
  for (int k = 0; k < kMeters; k++) {
    const float share = lost * covariances[k];
    for (int j = 0; j < kMeters; j++) covariance[k][j] = covariance[k][j] - share * covariances[j];
  }
}

void begin(const Params& p, StudentMemory& memory) {
  for (int k = 0; k < kBoundedTraits; k++) {
    memory.low[k] = p.f(block::TraitLow + k);
    memory.high[k] = p.f(block::TraitLow + k) + p.f(block::TraitSpan + k);
  }
  for (int k = 0; k < kMeters; k++) {
    memory.mean[k] = kPriorMean;
    for (int j = 0; j < kMeters; j++) memory.covariance[k][j] = k == j ? kPriorVariance : kPriorCovariance;
    memory.middle_meters[k] = 0.5f;  // gives the input 0
    memory.meter_sums[k] = 0;
  }
  memory.metabolism = p.f(block::TraitNeutral + trait::MetabolicRate);
  memory.crashes = 0;
}

// Updates a memory with the step that led to an observation.
void record(const Params& p, const float* row, StudentMemory& memory) {
  const float *after = row + observation::Meters, *deltas = row + observation::Deltas;
  const int slot = (static_cast<int>(row[observation::Step]) - 1) % count::Slots;
  const Seen step = {slot, static_cast<int>(row[observation::LastAction]), memory.meters, row + observation::Anomalies};
  Bounds(p, step, memory).narrow();
  float crashed = 0;
  for (int k = 0; k < kMeters; k++) {
    if (after[k] < p.f(block::CrashThreshold)) crashed++;
    memory.meter_sums[k] = memory.meter_sums[k] + after[k];
  }
  memory.crashes += crashed;
  update_weights(p, deltas, row[observation::Reward], crashed, memory);
  // The decay is visible if vitality was not clamped and there was no event: vitality changes by the neutral effect plus the
  // anomaly minus the metabolic rate times the decay.
  if (!(after[kVitality] > 0 && after[kVitality] < 1 && row[observation::Event] < 0)) return;
  const float stressed = memory.meters[kSerenity] < p.f(block::TraitNeutral + kThreshold) ? 1 : 0;
  const float effect = p.f(block::Effect + (step.slot * count::Actions + step.action) * kMeters + kVitality);
  const float neutral = effect + p.f(block::Stress + kVitality) * stressed;
  memory.metabolism = (neutral + step.anomalies[kVitality] - deltas[kVitality]) / p.f(block::Decay + kVitality);
}

// Writes the inputs of an episode. The last three are zeros, which make the size a multiple of four: jax-js multiplies matrices
// of other sizes ten times slower.
void write_inputs(const Params& p, const StudentMemory& memory, int step, float* inputs) {
  std::fill_n(inputs, kFeatures, 0.0f);
  // One-hot: 1 at the index that equals the number of steps taken.
  inputs[step] = 1;
  float* next = inputs + count::Steps;
  // The meters, from -1 to 1.
  for (const float meter : memory.meters) *next++ = 2 * meter - 1;
  // The middle of each trait's bounds, from -1 to 1, and the distance between the bounds, as a share of the trait's range.
  for (int k = 0; k < kBoundedTraits; k++, next++) {
    const float from_low = memory.low[k] + memory.high[k] - 2 * p.f(block::TraitLow + k);
    next[0] = from_low * p.f(block::TraitInverseSpan + k) - 1;
    next[kBoundedTraits] = (memory.high[k] - memory.low[k]) * p.f(block::TraitInverseSpan + k);
  }
  next += kBoundedTraits;
  // The observed metabolic rate minus the neutral profile's; 0 before it was observed.
  *next++ = kMetabolismScale * (memory.metabolism - p.f(block::TraitNeutral + trait::MetabolicRate));
  for (int k = 0; k < kMeters; k++, next++) {
    // The mean of each reward weight minus 1/5, and its variance.
    next[0] = kWeightScale * (memory.mean[k] - kPriorMean);
    next[kMeters] = kVarianceScale * memory.covariance[k][k];
    // The meters at the end of the first half, from -1 to 1; 0 before. With the reward weights, they determine the sum of the
    // rewards of the first half, apart from noise and crashes.
    next[2 * kMeters] = 2 * memory.middle_meters[k] - 1;
    // The sum of each meter over the steps so far, divided by the steps of an episode. Wellbeing weighs these sums.
    next[3 * kMeters] = memory.meter_sums[k] * static_cast<float>(1.0 / count::Steps);
  }
  next[3 * kMeters] = kCrashScale * memory.crashes;
}

bool is_code(float value, int end) { return value >= 0 && value < static_cast<float>(end) && value == std::floor(value); }

}  // namespace

bool observe(const uint32_t* block_words, size_t num_envs, const float* observations, const uint8_t* playing,
             StudentMemory* memories, float* inputs) {
  const Params p = {block_words};
  const auto row_of = [observations](size_t env) { return observations + env * count::ObservationFloats; };
  for (size_t env = 0; env < num_envs; env++) {
    const float* row = row_of(env);
    if (playing[env] == 0 || (row[observation::Step] == 0)) continue;
    if (!is_code(row[observation::Step], count::Steps) || !is_code(row[observation::LastAction], count::Actions)) return false;
  }
  for (size_t env = 0; env < num_envs; env++) {
    float* input = inputs + env * kFeatures;
    if (playing[env] == 0) {
      std::fill_n(input, kFeatures, 0.0f);
      continue;
    }
    const float* row = row_of(env);
    StudentMemory& memory = memories[env];
    const int step = static_cast<int>(row[observation::Step]);
    if (step == 0) begin(p, memory);
    else record(p, row, memory);
    std::copy_n(row + observation::Meters, kMeters, memory.meters);
    if (step == count::Steps / 2) std::copy_n(memory.meters, kMeters, memory.middle_meters);
    write_inputs(p, memory, step, input);
  }
  return true;
}

bool legal_sizes(const uint32_t* sizes, size_t num_layers) {
  return std::all_of(sizes, sizes + num_layers + 1, [](uint32_t size) { return size >= 1 && size <= kMaxLayerSize; });
}

size_t weights_of(const uint32_t* sizes, size_t num_layers) {
  size_t weights = 0;
  for (size_t k = 0; k < num_layers; k++) weights += (size_t{sizes[k]} + 1) * sizes[k + 1];
  return weights;
}

namespace {

// Columns of a layer whose sums stay in registers, four in each.
using Columns = float __attribute__((vector_size(16)));
constexpr size_t kRegisters = 8, kColumns = 4 * kRegisters;

Columns load(const float* from) {
  Columns columns;
  std::memcpy(&columns, from, sizeof columns);
  return columns;
}

// Adds the products of the values at `used` with `kColumns` columns of a layer of `width` columns to their sums.
void add_columns(const float* values, const uint32_t* used, size_t count, const float* layer, size_t width, float* sums) {
  Columns totals[kRegisters];
  for (size_t r = 0; r < kRegisters; r++) totals[r] = load(sums + 4 * r);
  for (size_t k = 0; k < count; k++) {
    const float value = values[used[k]];
    const float* row = layer + used[k] * width;
    for (size_t r = 0; r < kRegisters; r++) totals[r] = totals[r] + value * load(row + 4 * r);
  }
  std::memcpy(sums, totals, sizeof totals);
}

// Writes the indices of the values that are not 0: the products of the others add nothing. Returns their number.
size_t used_values(const float* values, size_t size, uint32_t* used) {
  size_t count = 0;
  for (size_t i = 0; i < size; i++) {
    used[count] = static_cast<uint32_t>(i);
    count += values[i] != 0;
  }
  return count;
}

}  // namespace

void forward(const uint32_t* sizes, size_t num_layers, const float* weights, size_t rows, const float* inputs, float* outputs,
             float* scratch) {
  const uint32_t largest = *std::max_element(sizes, sizes + num_layers + 1);
  auto* used = reinterpret_cast<uint32_t*>(scratch + 2 * largest);
  for (size_t row = 0; row < rows; row++) {
    const float *values = inputs + row * sizes[0], *layer = weights;
    for (size_t k = 0; k < num_layers; k++) {
      const size_t size = sizes[k], width = sizes[k + 1];
      const float* bias = layer + size * width;
      const bool is_last = k + 1 == num_layers;
      float* sums = is_last ? outputs + row * width : scratch + (k % 2) * largest;
      std::copy_n(bias, width, sums);
      const size_t count = used_values(values, size, used);
      size_t j = 0;
      for (; j + kColumns <= width; j += kColumns) add_columns(values, used, count, layer + j, width, sums + j);
      for (size_t n = 0; n < count; n++) {
        const float value = values[used[n]];
        for (size_t rest = j; rest < width; rest++) sums[rest] = sums[rest] + value * layer[used[n] * width + rest];
      }
      if (!is_last) {
        for (j = 0; j < width; j++) sums[j] = sums[j] > 0 ? sums[j] : 0;
      }
      values = sums, layer = bias + width;
    }
  }
}

}  // namespace rhythm
