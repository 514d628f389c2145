// Checks the codes in a world's block of words, and builds tables from the block.
#include "tables.h"

#include <algorithm>
#include <cstring>

#include "neutral.h"

namespace rhythm {

namespace block = world::block;
namespace count = world::count;

namespace {

void build_effects(const float* block_effect, Tables& tables) {
  for (int slot = 0; slot < count::Slots; slot++) {
    for (int action = 0; action < count::Actions; action++) {
      for (int meter = 0; meter < count::Meters; meter++) {
        tables.effect[slot][meter][action] =
            block_effect[(slot * count::Actions + action) * count::Meters + meter];
      }
    }
  }
}

// by_code [codes][width] becomes by_column [width][kTableWidth].
void transpose(const float* by_code, int codes, int width, float (*by_column)[kTableWidth]) {
  for (int code = 0; code < codes; code++) {
    for (int column = 0; column < width; column++) by_column[column][code] = by_code[code * width + column];
  }
}

void build_clock(Tables& tables) {
  for (int step = 0; step <= count::Steps; step++) {
    const int numbers[4] = {step, step / count::Slots, step % count::Slots, count::Steps - step};
    std::copy_n(numbers, 4, tables.clock[step]);
  }
}

bool all_below(const uint32_t* words, int length, uint32_t limit) {
  return std::all_of(words, words + length, [limit](uint32_t word) { return word < limit; });
}

}  // namespace

bool legal_block(const uint32_t* words) {
  return all_below(words + block::BeliefSource, count::Beliefs * count::BeliefFactors, count::ProfileFloats) &&
         all_below(words + block::HeuristicSchedule, count::Slots, count::Actions) &&
         all_below(words + block::HeuristicMeter, count::HeuristicRules, count::Meters) &&
         all_below(words + block::HeuristicAction, count::HeuristicRules, count::Actions);
}

void build_tables(const uint32_t* words, bool imagination, Tables& tables) {
  tables = Tables{};
  std::memcpy(tables.u, words, sizeof tables.u);
  std::memcpy(tables.f, words, sizeof tables.f);
  build_effects(tables.f + block::Effect, tables);
  build_neutral(tables);
  transpose(tables.f + block::EventEffect, count::Events, count::Meters, tables.event_effect);
  transpose(tables.f + block::NamedProfiles, count::NamedProfiles, count::ProfileFloats,
            tables.named_profiles);
  std::memcpy(tables.schedule, tables.u + block::HeuristicSchedule, count::Slots * sizeof(uint32_t));
  build_clock(tables);
  for (int event = 0; event < count::Events; event++) tables.observed_event[event] = static_cast<float>(event);
  tables.observed_event[count::Events] = -1;
  const uint32_t mask = imagination ? tables.u[block::StreamImagination] : 0;
  tables.event_stream = tables.u[block::StreamEvent] ^ mask;
  tables.noise_stream = tables.u[block::StreamNoise] ^ mask;
}

}  // namespace rhythm
