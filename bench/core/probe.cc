// The work of a probe (probe.h), with the registers of one kernel. binding.gyp compiles this file for each KERNEL, with its
// instructions and LANES, the header of its lane types and their operations.
#include <type_traits>

#define RHYTHM_QUOTE(text) #text
#define RHYTHM_HEADER(name) RHYTHM_QUOTE(name)
#include RHYTHM_HEADER(LANES)

#include "probe.h"

namespace rhythm::KERNEL {

// Hides a value from the optimiser. In an asm statement, "v" (x64) and "w" (ARM) stand for a register for floats or vectors,
// and "r" for one for integers.
template <class T>
RHYTHM_INLINE void hide(T& a) {
  if constexpr (std::is_integral_v<decltype(a.v)>) {
    asm volatile("" : "+r"(a.v));
  } else {
#if defined(RHYTHM_X64)
    asm volatile("" : "+v"(a.v));
#else
    asm volatile("" : "+w"(a.v));
#endif
  }
}

// Whether the probe leaves the operands of an instruction unchanged, as AVX2 (8 lanes) and AVX-512 allow. Otherwise the result
// replaces an operand, and the next operation uses the result.
constexpr bool kSparesOperands = kLanes >= 8;

template <class T, class Operation>
RHYTHM_INLINE void apply(T& operand, Operation operation) {
  hide(operand);  // Otherwise the optimiser computes equal results once.
  T result = operation(operand);
  hide(result);
  if constexpr (!kSparesOperands) operand = result;
}

template <int Words>
static void pass(int count) {
  // The operations take turns on several registers, so that few wait for others. The numbers of registers are chosen by hand.
  // The parts spread each kind of operation over the pass: the mixes (probe.h) have 32 arithmetic operations, two in each part,
  // and 4 choices, one in every fourth part.
  constexpr int kFloats = 8, kWords = 6, kParts = 16;
  F f[kFloats], factor = broadcast(0.999f), addend = broadcast(0.001f);
  U u[kWords], step = broadcast(0x9e3779b9u);
  RHYTHM_UNROLL for (int k = 0; k < kFloats; k++) f[k] = broadcast(1.0f + static_cast<float>(k)), hide(f[k]);
  RHYTHM_UNROLL for (int k = 0; k < kWords; k++) u[k] = broadcast(static_cast<uint32_t>(k)), hide(u[k]);
  hide(factor), hide(addend), hide(step);
  for (int i = 0; i < count; i++) {
    RHYTHM_UNROLL for (int part = 0; part < kParts; part++) {
      apply(f[part % 4 * 2], [&](F x) { return x * factor; });
      apply(f[part % 4 * 2 + 1], [&](F x) { return x + addend; });
      const auto choose = [&](F x) { return part % 8 == 0 ? min(x, factor) : max(x, addend); };
      if (part % 4 == 0) apply(f[(part / 4 * 3 + 5) % kFloats], choose);
      RHYTHM_UNROLL for (int k = part * (Words / 3) / kParts; k < (part + 1) * (Words / 3) / kParts; k++) {
        U& x = u[k % kWords];
        apply(x, [&](U y) { return y + step; });
        apply(x, [&](U y) { return rotate_left<13>(y); });
        apply(x, [&](U y) { return y ^ step; });
      }
    }
  }
}

static void fill(void* to, size_t bytes, int times) {
  U value = broadcast(1u);
  auto* words = static_cast<uint32_t*>(to);
  for (int i = 0; i < times; i++) {
    hide(value);
    for (size_t k = 0; k < bytes / 4; k += 4 * kLanes) {
      RHYTHM_UNROLL for (int j = 0; j < 4; j++) store(words + k + j * kLanes, value);
    }
    asm volatile("" ::: "memory");  // Otherwise the optimiser leaves out all repetitions but the last.
  }
}

static void copy(void* to, const void* from, size_t bytes, int times) {
  auto* words = static_cast<uint32_t*>(to);
  auto* source = static_cast<const uint32_t*>(from);
  for (int i = 0; i < times; i++) {
    for (size_t k = 0; k < bytes / 4; k += 4 * kLanes) {
      RHYTHM_UNROLL for (int j = 0; j < 4; j++) {
        U value = load(source + k + j * kLanes);
        hide(value);
        store(words + k + j * kLanes, value);
      }
    }
    asm volatile("" ::: "memory");  // See fill.
  }
}

extern const Probe probe = {
    RHYTHM_HEADER(KERNEL), kLanes, {pass<kMixes[0].words>, pass<kMixes[1].words>, pass<kMixes[2].words>}, fill, copy};

}  // namespace rhythm::KERNEL
