// Four episodes in a register, in the vector extensions of GCC and Clang: SSE2 on any x86-64, NEON on Arm.
#pragma once
#include <cstdint>
#include <cstring>

#include "inline.h"

namespace rhythm::portable {

constexpr int kLanes = 4;
// The smallest number of columns that put_block transposes.
constexpr int kNarrowBlock = kLanes;
// Whether runs of action sequences compute all their random draws before the first step, if the lanes have different seeds:
// see DrawsAhead in draws.inl.
constexpr bool kDrawsAhead = false;

typedef float FloatVector __attribute__((vector_size(16)));
typedef uint32_t WordVector __attribute__((vector_size(16)));
typedef int32_t MaskVector __attribute__((vector_size(16)));

// Lanes of floats, of words, and of flags.
struct F {
  FloatVector v;
};
struct U {
  WordVector v;
};
// A set flag has all bits of its lane.
struct M {
  MaskVector v;
};

// `broadcast` returns x in every lane; `lane_numbers` returns the number of each lane.
RHYTHM_INLINE F broadcast(float x) { return {FloatVector{x, x, x, x}}; }
RHYTHM_INLINE U broadcast(uint32_t x) { return {WordVector{x, x, x, x}}; }
RHYTHM_INLINE M broadcast(bool x) {
  const int32_t bits = x ? -1 : 0;
  return {MaskVector{bits, bits, bits, bits}};
}
RHYTHM_INLINE U lane_numbers() { return {WordVector{0, 1, 2, 3}}; }

RHYTHM_INLINE F as_floats(U a) { return {(FloatVector)a.v}; }
RHYTHM_INLINE U as_words(F a) { return {(WordVector)a.v}; }
RHYTHM_INLINE U operator+(U a, U b) { return {a.v + b.v}; }
RHYTHM_INLINE U operator^(U a, U b) { return {a.v ^ b.v}; }
RHYTHM_INLINE U operator&(U a, U b) { return {a.v & b.v}; }
RHYTHM_INLINE U operator|(U a, U b) { return {a.v | b.v}; }
RHYTHM_INLINE U operator<<(U a, int bits) { return {a.v << static_cast<uint32_t>(bits)}; }
RHYTHM_INLINE U operator>>(U a, int bits) { return {a.v >> static_cast<uint32_t>(bits)}; }
RHYTHM_INLINE U shift_left(U a, U bits) { return {a.v << bits.v}; }
RHYTHM_INLINE U shift_right(U a, U bits) { return {a.v >> bits.v}; }
RHYTHM_INLINE M operator<(U a, U b) { return {(MaskVector)(a.v < b.v)}; }
RHYTHM_INLINE M operator==(U a, U b) { return {(MaskVector)(a.v == b.v)}; }
// Returns which lanes of a and b share a set bit.
RHYTHM_INLINE M intersects(U a, U b) { return {(MaskVector)((a.v & b.v) != 0)}; }
template <int Bits>
RHYTHM_INLINE U rotate_left(U a) {
  return (a << Bits) | (a >> (32 - Bits));
}
// Returns integers in [0, n): ((a >> 16) * n) >> 16.
RHYTHM_INLINE U below(U a, uint32_t n) { return {((a.v >> 16) * n) >> 16}; }

RHYTHM_INLINE M operator&(M a, M b) { return {a.v & b.v}; }
RHYTHM_INLINE M operator|(M a, M b) { return {a.v | b.v}; }
RHYTHM_INLINE M operator!(M a) { return {~a.v}; }
// Returns a bit for each flag, the first lane in the lowest bit.
RHYTHM_INLINE uint32_t lane_bits(M a) {
  return (a.v[0] & 1u) | (a.v[1] & 2u) | (a.v[2] & 4u) | (a.v[3] & 8u);
}
RHYTHM_INLINE bool any(M a) { return lane_bits(a) != 0; }
RHYTHM_INLINE U select(M m, U a, U b) {
  const WordVector mask = (WordVector)m.v;
  return {(a.v & mask) | (b.v & ~mask)};
}
RHYTHM_INLINE F select(M m, F a, F b) { return as_floats(select(m, as_words(a), as_words(b))); }

RHYTHM_INLINE F operator+(F a, F b) { return {a.v + b.v}; }
RHYTHM_INLINE F operator-(F a, F b) { return {a.v - b.v}; }
RHYTHM_INLINE F operator*(F a, F b) { return {a.v * b.v}; }
RHYTHM_INLINE M operator<(F a, F b) { return {(MaskVector)(a.v < b.v)}; }
RHYTHM_INLINE F min(F a, F b) { return select(a < b, a, b); }
RHYTHM_INLINE F max(F a, F b) { return select(b < a, a, b); }
RHYTHM_INLINE F abs(F a) { return as_floats(as_words(a) & broadcast(0x7fffffffu)); }

// Converts words below 2^31.
RHYTHM_INLINE F to_float(U a) { return {__builtin_convertvector((MaskVector)a.v, FloatVector)}; }
RHYTHM_INLINE U and_or(U a, U mask, U set) { return (a & mask) | set; }

template <class Vector, class Scalar>
RHYTHM_INLINE Vector load_vector(const Scalar* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
RHYTHM_INLINE F load(const float* from) { return {load_vector<FloatVector>(from)}; }
RHYTHM_INLINE U load(const uint32_t* from) { return {load_vector<WordVector>(from)}; }
RHYTHM_INLINE void store(float* to, F a) { std::memcpy(to, &a.v, sizeof a.v); }
RHYTHM_INLINE void store(uint32_t* to, U a) { std::memcpy(to, &a.v, sizeof a.v); }
RHYTHM_INLINE U load_bytes(const uint8_t* from) {
  return {WordVector{from[0], from[1], from[2], from[3]}};
}
RHYTHM_INLINE void store_bytes(uint8_t* to, U a) {
  for (int i = 0; i < kLanes; i++) to[i] = static_cast<uint8_t>(a.v[i]);
}

// Returns table[i] of each lane. The table has 16 entries.
RHYTHM_INLINE F lookup(const float* table, U i) {
  return {FloatVector{table[i.v[0]], table[i.v[1]], table[i.v[2]], table[i.v[3]]}};
}
RHYTHM_INLINE U lookup(const uint32_t* table, U i) {
  return {WordVector{table[i.v[0]], table[i.v[1]], table[i.v[2]], table[i.v[3]]}};
}
// Does the same as lookup, for an index below eight: kernel avx2 then reads only half of the table.
RHYTHM_INLINE F lookup_eight(const float* table, U index) { return lookup(table, index); }

// Returns base[i] of each lane.
RHYTHM_INLINE U gather(const uint32_t* base, U i) {
  return {WordVector{base[i.v[0]], base[i.v[1]], base[i.v[2]], base[i.v[3]]}};
}

// Returns false: this kernel cannot write columns as whole cache lines.
template <int Width>
RHYTHM_INLINE bool put_lines(float*, const F*) { return false; }

// Transposes `Width` columns: rows[lane * stride + k] = columns[k][lane].
template <int Width>
RHYTHM_INLINE void put_block(const float (*columns)[kLanes], float* rows, size_t stride) {
  static_assert(Width == kLanes);
  const FloatVector a = load(columns[0]).v, b = load(columns[1]).v, c = load(columns[2]).v, d = load(columns[3]).v;
  RHYTHM_UNROLL for (int i = 0; i < kLanes; i++) store(rows + i * stride, F{FloatVector{a[i], b[i], c[i], d[i]}});
}

// Reads the first four words of each lane's row into four columns. Rows are `stride` words apart.
RHYTHM_INLINE void load_four_columns(const uint32_t* rows, size_t stride, U (&columns)[4]) {
  const WordVector a = load(rows).v, b = load(rows + stride).v, c = load(rows + 2 * stride).v, d = load(rows + 3 * stride).v;
  RHYTHM_UNROLL for (int k = 0; k < 4; k++) columns[k].v = WordVector{a[k], b[k], c[k], d[k]};
}

}  // namespace rhythm::portable
