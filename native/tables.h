// A batch's world: the block of words as it came, and the tables that kernels permute.
#pragma once
#include <cstdint>

#include "generated/world.h"

namespace rhythm {

// A permute reads a whole register of sixteen.
constexpr int kTableWidth = 16;
static_assert(world::count::Actions <= kTableWidth && world::count::Events < kTableWidth);
static_assert(world::count::NamedProfiles <= kTableWidth && world::count::Slots <= kTableWidth);

struct alignas(64) Tables {
  float effect[world::count::Slots][world::count::Meters][kTableWidth];  // by action
  // The neutral person's response before stress, by action; vitality still scales progress. See neutral.h.
  float neutral[world::count::Slots][world::count::Meters][kTableWidth];
  float event_effect[world::count::Meters][kTableWidth];                 // by event; 0 past the last, for none
  float shown_event[kTableWidth];                                        // an event's code as it is shown: -1 for none
  float named_profiles[world::count::ProfileFloats][kTableWidth];        // by profile
  uint32_t schedule[kTableWidth];                                        // the heuristic's, by slot
  // The block's words, read as either type; index with world::block.
  float f[world::count::BlockWords];
  uint32_t u[world::count::BlockWords];
  float neutral_focus[world::count::Slots];  // by slot: what the neutral person's progress is multiplied by
  float clock[world::count::Steps + 1][4];  // step, day, slot and remaining steps, as they are shown
  uint32_t event_stream;
  uint32_t noise_stream;
};

// Whether every code in a block that indexes something is one.
bool legal_block(const uint32_t* block);

// Builds the tables of a block of world::count::BlockWords words.
void build_tables(const uint32_t* block, bool imagination, Tables& tables);

}  // namespace rhythm
