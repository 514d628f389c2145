// Compiles the measuring work of probe.h with the registers of kernel avx2. `hide` is for probe.inl. In an asm
// statement, "x" is a vector register.
#include "lanes_avx2.h"
#include "probe.h"

namespace rhythm::avx2 {

RHYTHM_INLINE void hide(F& a) { asm volatile("" : "+x"(a.v)); }
RHYTHM_INLINE void hide(U& a) { asm volatile("" : "+x"(a.v)); }

#include "probe.inl"

extern const Probe probe = RHYTHM_PROBE("avx2");

}  // namespace rhythm::avx2
