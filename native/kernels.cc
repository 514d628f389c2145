// The kernels of this build, fastest first, and whether this processor can run each.
#include "kernel.h"

namespace rhythm {

#if defined(RHYTHM_X64)
namespace avx512 {
extern const Kernel kernel;
}
namespace avx2 {
extern const Kernel kernel;
}
#endif
namespace portable {
extern const Kernel kernel;
}
namespace scalar {
extern const Kernel kernel;
}

namespace {

#if defined(RHYTHM_X64)
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
#endif
bool always() { return true; }

}  // namespace

const KnownKernel kKernels[] = {
#if defined(RHYTHM_X64)
    {&avx512::kernel, has_avx512},
    {&avx2::kernel, has_avx2},
#endif
    {&portable::kernel, always},
    {&scalar::kernel, always},
};
const int kKernelCount = sizeof kKernels / sizeof *kKernels;

}  // namespace rhythm
