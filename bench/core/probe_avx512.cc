// Compiles probe.inl with the registers of kernel avx512. probe.inl explains `hide`. In asm, "v" is a vector register.
#include "lanes_avx512.h"
#include "probe.h"

namespace rhythm::avx512 {

RHYTHM_INLINE void hide(F& a) { asm volatile("" : "+v"(a.v)); }
RHYTHM_INLINE void hide(U& a) { asm volatile("" : "+v"(a.v)); }

#include "probe.inl"

extern const Probe probe = RHYTHM_PROBE("avx512");

}  // namespace rhythm::avx512
