// The kernels of this build, fastest first, and whether this processor can run each.
#include "kernel.h"

#if defined(RHYTHM_X64)
#include <cpuid.h>
#endif

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
// Returns whether the processor has all of these features (bits of ebx of cpuid's leaf 7), and the operating system saves these
// registers (bits of XCR0).
bool has(unsigned features, unsigned registers) {
  unsigned eax, ebx, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE)) return false;
  unsigned saved, high;
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  return (saved & registers) == registers && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & features) == features;
}

constexpr unsigned kAvxRegisters = 0x06;  // xmm, ymm
#if defined(__APPLE__)
constexpr unsigned kAvx512Registers = kAvxRegisters;  // macOS saves the others from their first use on
#else
constexpr unsigned kAvx512Registers = kAvxRegisters | 0xe0;  // masks, zmm
#endif
bool has_avx512() { return has(bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL, kAvx512Registers); }
bool has_avx2() { return has(bit_AVX2, kAvxRegisters); }
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
