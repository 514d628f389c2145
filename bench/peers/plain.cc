// Peer (docs/speed.md): the rules of docs/world.md in plain C++. Episodes are structs in an array, stepped one after the other.
//
// `words.h` has the world's numbers: players.ts writes it before it compiles this file. The protocol is in players.ts.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "../../native/generated/world.h"
#include "words.h"

using namespace rhythm::world;

enum { V, C, P, S, N };

constexpr float number(int index) { return std::bit_cast<float>(kWords[index]); }

struct Draw {
  uint32_t x0, x1;
};

static Draw threefry(uint32_t k0, uint32_t k1, uint32_t c0, uint32_t c1) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t ks[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDA};
  uint32_t x0 = c0 + ks[0], x1 = c1 + ks[1];
  for (uint32_t g = 1; g <= 5; g++) {
    for (int r : rotations[(g + 1) % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, r) ^ x0;
    }
    x0 += ks[g % 3];
    x1 += ks[(g + 1) % 3] + g;
  }
  return {x0, x1};
}

static float clamp01(float x) { return std::min(std::max(x, 0.0f), 1.0f); }

struct Episode {
  uint32_t seed;
  int step;
  float meters[count::Meters];
  float profile[count::ProfileFloats];
  float grader[count::Components];
  float early, late, well;
  int crashes;
};

// Returns whether an action has a tag. A tag's word has a bit for each action.
static bool has(int tag, int action) { return kWords[block::Tagged + tag] >> action & 1; }

// Rules 1 and 2: writes the changes of the five meters to `d`.
static void respond(const float* profile, const float* m, int slot, int action, float* d) {
  for (int k = 0; k < count::Meters; k++) {
    d[k] = number(block::Effect + (slot * count::Actions + action) * count::Meters + k);
  }
  if (has(tag::Productive, action)) {
    const float focus = slot == 0 ? profile[trait::MorningFocus] : slot == 1 ? 1 : profile[trait::NightFocus];
    const float vigour = number(block::VitalityFactorBase) + number(block::VitalityFactorSlope) * m[V];
    d[P] = d[P] * vigour * focus;
    d[C] += number(block::FocusCognition) * (focus - 1);
    d[V] += profile[trait::WorkVitalityRecovery];
    d[S] += profile[trait::ProgressSerenityBonus];
  }
  if (has(tag::Social, action)) {
    d[V] *= profile[trait::SocialVitalityMultiplier];
    d[S] += profile[trait::SocialSerenityBonus];
  }
  if (has(tag::Solo, action)) d[S] += profile[trait::SoloSerenityBonus];
  if (has(tag::Guilty, action)) d[S] -= profile[trait::LeisureGuilt];
  if (m[S] < profile[trait::StressThreshold]) {
    for (int k = 0; k < count::Meters; k++) d[k] += number(block::Stress + k);
  }
}

static float noise_of(Draw y, int j) {
  const uint32_t n = (j < 3 ? y.x0 : y.x1) >> 10 * (j % 3) & 1023;
  return (n + 0.5f) * 0x1p-9f - 1;
}

// Returns the final score of an episode without beliefs: the two components for beliefs are 0.
static float grade(const Episode& e) {
  const float early_mean = e.early * number(block::PerHalf), late_mean = e.late * number(block::PerHalf);
  const float components[count::Components] = {
      1 - e.crashes * number(block::PerReading),
      e.meters[P],
      e.meters[N],
      clamp01(number(block::AdaptationScale) * (late_mean - early_mean)) *
          clamp01(number(block::AdaptationGateOffset) + late_mean),
      clamp01(0.5f + 0.5f * ((e.early + e.late) * number(block::PerStep))),
      0,
      clamp01(number(block::WellbeingScale) * (e.well * number(block::PerStep) - number(block::WellbeingBase))),
      0,
  };
  float sum = e.grader[0] * components[0];
  for (int k = 1; k < count::Components; k++) sum += e.grader[k] * components[k];
  return clamp01(sum);
}

// Steps an episode, and writes its observation. Writes its score after the last step.
static void step(Episode& e, int action, float* observation, float* score) {
  const int t = e.step, slot = t % count::Slots;
  float d[count::Meters], neutral[count::Meters], anomaly[count::Meters];
  respond(e.profile, e.meters, slot, action, d);
  float trait_neutral[count::Traits];
  for (int k = 0; k < count::Traits; k++) trait_neutral[k] = number(block::TraitNeutral + k);
  respond(trait_neutral, e.meters, slot, action, neutral);

  const Draw y = threefry(e.seed, kWords[block::StreamNoise], t, 0);
  for (int k = 0; k < count::Meters; k++) {
    d[k] += number(block::NoiseMeters + k) * noise_of(y, k);
    anomaly[k] = d[k] - neutral[k];
  }
  d[V] -= number(block::Decay + V) * e.profile[trait::MetabolicRate];
  for (int k = C; k <= N; k++) d[k] -= number(block::Decay + k);

  const Draw x = threefry(e.seed, kWords[block::StreamEvent], t, 0);
  int event = -1;
  if (x.x0 < kWords[block::EventThreshold]) {
    event = (x.x1 >> 16) * count::Events >> 16;
    for (int k = 0; k < count::Meters; k++) {
      d[k] += number(block::EventEffect + event * count::Meters + k) * e.profile[trait::EventImpact];
    }
  }

  int low = 0;
  float well = 0, acc = 0, delta[count::Meters];
  for (int k = 0; k < count::Meters; k++) {
    const float after = clamp01(e.meters[k] + d[k]);
    delta[k] = after - e.meters[k];
    e.meters[k] = after;
    low += after < number(block::CrashThreshold);
    const float weight = e.profile[count::Traits + k];
    well += weight * after;
    acc += (weight + number(block::RewardBias + k)) * delta[k];
  }
  e.crashes += low;
  e.well += well;
  const float r = number(block::RewardScale) * acc - number(block::CrashPenalty) * low;
  (t < count::Steps / 2 ? e.early : e.late) += r;
  float reward = r + number(block::NoiseReward) * noise_of(y, count::Meters);
  e.step = t + 1;
  if (e.step == count::Steps) {
    *score = grade(e);
    reward += number(block::TerminalScale) * (*score - 0.5f);
  }

  observation[observation::Step] = e.step;
  observation[observation::Day] = e.step / count::Slots;
  observation[observation::Slot] = e.step % count::Slots;
  observation[observation::Remaining] = count::Steps - e.step;
  observation[observation::Event] = event;
  observation[observation::LastAction] = action;
  observation[observation::Reward] = reward;
  for (int k = 0; k < count::Meters; k++) {
    observation[observation::Meters + k] = e.meters[k];
    observation[observation::Deltas + k] = delta[k];
    observation[observation::Anomalies + k] = anomaly[k];
  }
}

template <class T>
static std::vector<T> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<T> values(file.tellg() / sizeof(T));
  file.seekg(0).read(reinterpret_cast<char*>(values.data()), values.size() * sizeof(T));
  return values;
}

static std::vector<Episode> episodes_of(const std::string& folder) {
  const auto seeds = read<uint32_t>(folder + "/seeds");
  const auto profiles = read<float>(folder + "/profiles"), graders = read<float>(folder + "/graders");
  std::vector<Episode> episodes(seeds.size());
  for (size_t i = 0; i < seeds.size(); i++) {
    Episode& e = episodes[i];
    e.seed = seeds[i];
    for (int k = 0; k < count::Meters; k++) e.meters[k] = number(block::InitialMeters + k);
    std::copy_n(&profiles[i * count::ProfileFloats], count::ProfileFloats, e.profile);
    std::copy_n(&graders[i * count::Components], count::Components, e.grader);
  }
  return episodes;
}

int main() {
  std::string folder;
  // A line has FOLDER PLAYS COPIES RECORDS, which players.ts explains.
  for (int plays, copies, records; std::cin >> folder >> plays >> copies >> records;) {
    const auto start = episodes_of(folder);
    const auto actions = read<uint8_t>(folder + "/actions");
    const size_t n = start.size();
    std::vector<float> observations(n * count::ObservationFloats), scores(n);
    std::ofstream record;
    if (records) record.open(folder + "/outputs", std::ios::binary);
    const auto save = [&](const std::vector<float>& values) {
      record.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    };
    std::ostringstream times;
    size_t batch = 0;
    for (int play = 0; play < plays; play++) {
      std::vector<std::vector<Episode>> batches(copies, start);
      const auto from = std::chrono::steady_clock::now();
      for (auto& episodes : batches) {
        const uint8_t* batch_actions = &actions[batch++ * count::Steps * n % actions.size()];
        for (int t = 0; t < count::Steps; t++) {
          for (size_t i = 0; i < n; i++) {
            step(episodes[i], batch_actions[t * n + i], &observations[i * count::ObservationFloats], &scores[i]);
          }
          if (records) save(observations);
        }
      }
      times << ' ' << std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    }
    if (records) save(scores), record.close();
    std::cout << std::setprecision(12) << std::accumulate(scores.begin(), scores.end(), 0.0) << times.str() << std::endl;
  }
}
