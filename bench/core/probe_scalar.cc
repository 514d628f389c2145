// Compiles probe.inl with registers of one number, as kernel scalar uses them. `hide` hides a value from
// the optimiser, for probe.inl. In an asm statement, "x" (x64) and "w" (ARM) stand for a register for floats, and "r" for one
// for integers.
#include "lanes_scalar.h"
#include "probe.h"

namespace rhythm::scalar {

#if defined(RHYTHM_X64)
RHYTHM_INLINE void hide(F& a) { asm volatile("" : "+x"(a.v)); }
#else
RHYTHM_INLINE void hide(F& a) { asm volatile("" : "+w"(a.v)); }
#endif
RHYTHM_INLINE void hide(U& a) { asm volatile("" : "+r"(a.v)); }

#include "probe.inl"

extern const Probe probe = RHYTHM_PROBE("scalar");

}  // namespace rhythm::scalar
