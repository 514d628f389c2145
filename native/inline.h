// Macros for inlining. The optimiser sees a rule as one expression only if everything is inlined into its kernel.
#pragma once
#define RHYTHM_INLINE [[maybe_unused]] static inline __attribute__((always_inline))
#define RHYTHM_INLINE_MEMBER inline __attribute__((always_inline))

// Unrolls the next loop completely, for short loops over registers or lanes. Otherwise gcc 12 vectorises such a loop, which
// makes it ten times slower.
#if defined(__clang__)
#define RHYTHM_UNROLL _Pragma("unroll")
#else
#define RHYTHM_UNROLL _Pragma("GCC unroll 32")
#endif
