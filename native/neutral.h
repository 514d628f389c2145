// Tables of the neutral profile's response (rule 4 of docs/world.md) without the two parts that depend on the state: stress,
// and vigour, the factor that depends on vitality.
#pragma once
#include "tables.h"

namespace rhythm {

// Fills `neutral` and `neutral_focus`. The block's words (`f` and `u`) and the table `effect` must be filled first.
void build_neutral(Tables& tables);

}  // namespace rhythm
