// Macros for inlining functions and unrolling loops. The optimiser sees a rule as one expression only if everything is inlined
// into its kernel.
#pragma once
#if defined(RHYTHM_NO_INLINE)
// For builds with sanitizers, which instrument each inlined copy: a kernel would take minutes to compile, not seconds.
#define RHYTHM_INLINE [[maybe_unused]] static
#define RHYTHM_INLINE_MEMBER inline
#else
#define RHYTHM_INLINE [[maybe_unused]] static inline __attribute__((always_inline))
#define RHYTHM_INLINE_MEMBER inline __attribute__((always_inline))
#endif

// Unrolls the next loop completely, for loops of at most 32 iterations over registers or lanes. Otherwise gcc 12 vectorises
// such a loop, which makes it ten times slower.
#if defined(__clang__)
#define RHYTHM_UNROLL _Pragma("unroll")
#else
#define RHYTHM_UNROLL _Pragma("GCC unroll 32")
#endif
