// What an action does to the person of whom nothing is personal, before stress: a table, since nobody's state is in it.
#pragma once
#include "tables.h"

namespace rhythm {

// Fills `neutral` and `neutral_focus` of tables whose words and effects are there.
void build_neutral(Tables& tables);

}  // namespace rhythm
