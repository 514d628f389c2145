// The source of a probe (probe.h). The including namespace defines the lane types, their operations, and `hide`, which hides a
// value from the optimiser.

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

template <int Arithmetic, int Choices, int Words>
static void pass(int count) {
  // The operations take turns on several registers, so that few wait for others. The numbers of registers are chosen by hand.
  // The parts spread each kind of operation over the pass: the mixes (probe.h) have 32 or no arithmetic operations, two in each
  // part, and 4 or no choices, one in every fourth part.
  constexpr int kFloats = 8, kWords = 6, kParts = 16;
  F f[kFloats], factor = broadcast(0.999f), addend = broadcast(0.001f);
  U u[kWords], step = broadcast(0x9e3779b9u);
  RHYTHM_UNROLL for (int k = 0; k < kFloats; k++) f[k] = broadcast(1.0f + static_cast<float>(k)), hide(f[k]);
  RHYTHM_UNROLL for (int k = 0; k < kWords; k++) u[k] = broadcast(static_cast<uint32_t>(k)), hide(u[k]);
  hide(factor), hide(addend), hide(step);
  for (int i = 0; i < count; i++) {
    RHYTHM_UNROLL for (int part = 0; part < kParts; part++) {
      if (part < Arithmetic / 2) {
        F &a = f[part % 4 * 2], &b = f[part % 4 * 2 + 1];
        apply(a, [&](F x) { return x * factor; });
        apply(b, [&](F x) { return x + addend; });
      }
      if (part % 4 == 0 && Choices > 0) {
        F& c = f[(part / 4 * 3 + 5) % kFloats];
        apply(c, [&](F x) { return part % 8 == 0 ? min(x, factor) : max(x, addend); });
      }
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

#define RHYTHM_PASS(k) pass<kMixes[k].arithmetic, kMixes[k].choices, kMixes[k].words>
#define RHYTHM_PROBE(name) \
  {name, kLanes, {RHYTHM_PASS(0), RHYTHM_PASS(1), RHYTHM_PASS(2), RHYTHM_PASS(3), RHYTHM_PASS(4)}, fill, copy}
