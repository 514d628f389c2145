// The kernel of four lanes, for any machine whose compiler has vector extensions.
#include <cfloat>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernel.h"
#include "lanes_portable.h"

namespace rhythm::portable {
static_assert(FLT_EVAL_METHOD == 0, "floats must round to float32 at every operation");

#include "kernel.inl"

extern const Kernel kernel = {"portable",      kLanes,          reset, all_legal, find_refused, step, run,
                              gather_envs, restore_outputs, hash,  targets, belief_errors};

}  // namespace rhythm::portable
