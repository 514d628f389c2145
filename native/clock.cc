#include "clock.h"

#include "inline.h"

namespace rhythm {

void dependent_adds(int count) {
  constexpr int unroll = 16;
  unsigned long sum = 1, step = 3;
  for (int i = 0; i < count; i += unroll) {
    RHYTHM_UNROLL for (int k = 0; k < unroll; k++) {
      sum += step;
#if defined(__GNUC__)
      // Hides the values from the optimiser. `step` is a register, because some processors merge additions of constants.
      asm volatile("" : "+r"(sum), "+r"(step));
#endif
    }
  }
  volatile unsigned long sink;
  sink = sum, static_cast<void>(sink);
}

}  // namespace rhythm
