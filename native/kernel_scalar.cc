// The kernel of one lane, for any machine.
#include <cfloat>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernel.h"
#include "lanes_scalar.h"

namespace rhythm::scalar {
static_assert(FLT_EVAL_METHOD == 0, "floats must round to float32 at every operation");

#include "kernel.inl"

extern const Kernel kernel = {"scalar",      kLanes,          reset, all_legal, find_refused, step, run,
                              gather_envs, restore_outputs, hash,  targets, belief_errors};

}  // namespace rhythm::scalar
