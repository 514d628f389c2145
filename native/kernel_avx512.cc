// Sixteen lanes. Built with its own instruction set: nothing in it may run before `supported` said yes.
#include <cfloat>
#include <cstring>
#include <type_traits>

#include "kernel.h"
#include "lanes_avx512.h"

namespace rhythm::avx512 {
static_assert(FLT_EVAL_METHOD == 0, "floats must round to float32 at every operation");

#include "kernel.inl"

bool supported() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
extern const Kernel kernel = {"avx512", kLanes, supported, reset, step, run, show, hash, targets};

}  // namespace rhythm::avx512
