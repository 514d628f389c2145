// Tables of the neutral profile's response before stress (rule 4 of docs/world.md), which depends on no state.
#pragma once
#include "tables.h"

namespace rhythm {

// Fills `neutral` and `neutral_focus`. The words and effects of the tables must be filled first.
void build_neutral(Tables& tables);

}  // namespace rhythm
