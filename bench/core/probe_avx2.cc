// Compiles probe.inl, which explains `hide`, with the registers of kernel avx2. In asm, "x" is a vector register.
#include "lanes_avx2.h"
#include "probe.h"

namespace rhythm::avx2 {

RHYTHM_INLINE void hide(F& a) { asm volatile("" : "+x"(a.v)); }
RHYTHM_INLINE void hide(U& a) { asm volatile("" : "+x"(a.v)); }

#include "probe.inl"

extern const Probe probe = RHYTHM_PROBE("avx2");

}  // namespace rhythm::avx2
