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

const Kernel* const kKernels[] = {
#if defined(RHYTHM_X64)
    &avx512::kernel,
    &avx2::kernel,
#endif
    &portable::kernel,
    &scalar::kernel,
};
const int kKernelCount = sizeof kKernels / sizeof *kKernels;

}  // namespace rhythm
