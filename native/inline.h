// The rules are one expression each to the optimiser only if everything is inlined into its kernel.
#pragma once
#if defined(_MSC_VER)
#define RHYTHM_INLINE static __forceinline
#else
#define RHYTHM_INLINE [[maybe_unused]] static inline __attribute__((always_inline))
#endif
