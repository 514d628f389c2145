// The world of a batch: the block of words (src/world/block.ts), and the tables in which kernels look up values.
#pragma once
#include <cstddef>
#include <cstdint>

#include "generated/world.h"

namespace rhythm {

// The number of entries of a row: the floats of an AVX-512 register. The lookups of some kernels read all of them.
constexpr int kTableWidth = 16;
// lookup_eight (lanes_*.h) may read only the first eight entries of a row. It is used for the tables of events, which have
// one entry for each event and one for no event.
static_assert(world::count::Actions <= kTableWidth && world::count::Events < kTableWidth / 2);
static_assert(world::count::NamedProfiles <= kTableWidth && world::count::Slots <= kTableWidth);

struct alignas(64) Tables {
  float effect[world::count::Slots][world::count::Meters][kTableWidth];  // by action
  // By action: the neutral profile's response, before stress and without the factor vigour. See neutral.h.
  float neutral[world::count::Slots][world::count::Meters][kTableWidth];
  float event_effect[world::count::Meters][kTableWidth];                 // by event; after the last event, 0 for no event
  float observed_event[kTableWidth];                                     // by event: the code in observations
  float named_profiles[world::count::ProfileFloats][kTableWidth];        // by profile
  uint32_t schedule[kTableWidth];                                        // the heuristic's actions, by slot
  // The block's words, read as either type; index with world::block.
  float f[world::count::BlockWords];
  uint32_t u[world::count::BlockWords];
  float neutral_focus[world::count::Slots];  // by slot: the neutral profile's focus
  float clock[world::count::Steps + 1][4];   // step, day, slot and remaining steps, as in observations
  uint32_t event_stream;
  uint32_t noise_stream;
};

// Kernels load whole rows of these tables with aligned instructions.
static_assert(kTableWidth * sizeof(float) == alignof(Tables) && kTableWidth * sizeof(uint32_t) == alignof(Tables));
static_assert(offsetof(Tables, effect) % alignof(Tables) == 0 && offsetof(Tables, neutral) % alignof(Tables) == 0);
static_assert(offsetof(Tables, event_effect) % alignof(Tables) == 0 && offsetof(Tables, observed_event) % alignof(Tables) == 0);
static_assert(offsetof(Tables, named_profiles) % alignof(Tables) == 0);

// Returns whether all indices in a block are valid: the sources of belief factors, and the heuristic's actions and meters.
bool legal_block(const uint32_t* block);

// Builds the tables of a block of world::count::BlockWords words. With `imagination`, noise and events have
// other streams than in real episodes.
void build_tables(const uint32_t* block, bool imagination, Tables& tables);

}  // namespace rhythm
