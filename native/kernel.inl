// The source of a kernel. The file lanes_NAME.h, included before, defines the lane types F (floats), U (words) and M (masks),
// their functions, and constants such as kLanes, the number of lanes.

namespace block = world::block;
namespace count = world::count;
namespace mode = world::mode;
namespace observation = world::observation;
namespace state = world::state;
namespace trait = world::trait;

// The rules of docs/world.md, as in src/engine/reference.
#include "threefry.inl"
#include "meters.inl"
#include "time.inl"
#include "draws.inl"
#include "rules.inl"
#include "profile.inl"
#include "grade.inl"
#include "baselines.inl"

// The rules applied to tiles (kernel.h): the states of sixteen episodes each.
#include "group.inl"
#include "outputs.inl"
#include "reset.inl"
#include "step.inl"
#include "gather.inl"
#include "record.inl"
#include "run.inl"
#include "restore.inl"
