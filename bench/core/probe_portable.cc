// Compiles probe.inl with the registers of kernel portable. probe.inl explains `hide`. In asm, "x" (x64) and "w" (ARM) are
// vector registers.
#include "lanes_portable.h"
#include "probe.h"

namespace rhythm::portable {

#if defined(RHYTHM_X64)
RHYTHM_INLINE void hide(F& a) { asm volatile("" : "+x"(a.v)); }
RHYTHM_INLINE void hide(U& a) { asm volatile("" : "+x"(a.v)); }
#else
RHYTHM_INLINE void hide(F& a) { asm volatile("" : "+w"(a.v)); }
RHYTHM_INLINE void hide(U& a) { asm volatile("" : "+w"(a.v)); }
#endif

#include "probe.inl"

extern const Probe probe = RHYTHM_PROBE("portable");

}  // namespace rhythm::portable
