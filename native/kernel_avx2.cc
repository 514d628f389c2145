// The kernel of eight lanes. Compiled for AVX2: nothing in this file may run on a processor without it.
#include <cfloat>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernel.h"
#include "lanes_avx2.h"

namespace rhythm::avx2 {
static_assert(FLT_EVAL_METHOD == 0, "floats must round to float32 at every operation");

#include "kernel.inl"

extern const Kernel kernel = {"avx2",      kLanes,          reset, all_legal, find_refused, step, run,
                              gather_envs, restore_outputs, hash,  targets, belief_errors};

}  // namespace rhythm::avx2
