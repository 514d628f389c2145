// One episode at a time, without vector types: a baseline for benchmarks. neutral.cc computes its tables with these lanes.
#pragma once
#include <cstdint>
#include <cstring>

#include "inline.h"

namespace rhythm::scalar {

constexpr int kLanes = 1;
// The smallest number of columns of a block (put_blocks, group.inl), and here the only one.
constexpr int kNarrowBlock = kLanes;
// Whether runs of action sequences compute all their random draws before the first step, if the lanes have different seeds:
// see DrawsAhead in draws.inl.
constexpr bool kDrawsAhead = false;

// Lanes of floats, of words, and of flags.
struct F {
  float v;
};
struct U {
  uint32_t v;
};
struct M {
  bool v;
};

// `broadcast` returns x in every lane; `lane_numbers` returns the number of each lane.
RHYTHM_INLINE F broadcast(float x) { return {x}; }
RHYTHM_INLINE U broadcast(uint32_t x) { return {x}; }
RHYTHM_INLINE M broadcast(bool x) { return {x}; }
RHYTHM_INLINE U lane_numbers() { return {0}; }

RHYTHM_INLINE F operator+(F a, F b) { return {a.v + b.v}; }
RHYTHM_INLINE F operator-(F a, F b) { return {a.v - b.v}; }
RHYTHM_INLINE F operator*(F a, F b) { return {a.v * b.v}; }
RHYTHM_INLINE F min(F a, F b) { return {a.v < b.v ? a.v : b.v}; }
RHYTHM_INLINE F max(F a, F b) { return {a.v > b.v ? a.v : b.v}; }
RHYTHM_INLINE M operator<(F a, F b) { return {a.v < b.v}; }

RHYTHM_INLINE U operator+(U a, U b) { return {a.v + b.v}; }
RHYTHM_INLINE U operator^(U a, U b) { return {a.v ^ b.v}; }
RHYTHM_INLINE U operator&(U a, U b) { return {a.v & b.v}; }
RHYTHM_INLINE U operator|(U a, U b) { return {a.v | b.v}; }
RHYTHM_INLINE U operator<<(U a, int bits) { return {a.v << bits}; }
RHYTHM_INLINE U operator>>(U a, int bits) { return {a.v >> bits}; }
RHYTHM_INLINE U shift_left(U a, U bits) { return {a.v << bits.v}; }
RHYTHM_INLINE U shift_right(U a, U bits) { return {a.v >> bits.v}; }
RHYTHM_INLINE M operator<(U a, U b) { return {a.v < b.v}; }
RHYTHM_INLINE M operator==(U a, U b) { return {a.v == b.v}; }
RHYTHM_INLINE M intersects(U a, U b) { return {(a.v & b.v) != 0}; }
template <int Bits>
RHYTHM_INLINE U rotate_left(U a) {
  return {(a.v << Bits) | (a.v >> (32 - Bits))};
}
// Returns integers in [0, n): ((a >> 16) * n) >> 16.
RHYTHM_INLINE U below(U a, uint32_t n) { return {((a.v >> 16) * n) >> 16}; }

RHYTHM_INLINE M operator&(M a, M b) { return {a.v && b.v}; }
RHYTHM_INLINE M operator|(M a, M b) { return {a.v || b.v}; }
RHYTHM_INLINE M operator!(M a) { return {!a.v}; }
RHYTHM_INLINE bool any(M a) { return a.v; }
RHYTHM_INLINE uint32_t lane_bits(M a) { return a.v ? 1 : 0; }
// Selects by an index, not by a branch: actions are unpredictable, and a mispredicted branch costs as much as forty
// operations.
RHYTHM_INLINE F select(M m, F a, F b) {
  const float pair[2] = {b.v, a.v};
  return {pair[m.v ? 1 : 0]};
}
RHYTHM_INLINE U select(M m, U a, U b) { return m.v ? a : b; }

RHYTHM_INLINE F to_float(U a) { return {static_cast<float>(static_cast<int32_t>(a.v))}; }
RHYTHM_INLINE F as_floats(U a) {
  F out;
  std::memcpy(&out.v, &a.v, sizeof out.v);
  return out;
}
RHYTHM_INLINE U as_words(F a) {
  U out;
  std::memcpy(&out.v, &a.v, sizeof out.v);
  return out;
}
RHYTHM_INLINE F abs(F a) { return as_floats(as_words(a) & broadcast(0x7fffffffu)); }
RHYTHM_INLINE U and_or(U a, U mask, U set) { return (a & mask) | set; }

RHYTHM_INLINE F load(const float* from) { return {*from}; }
RHYTHM_INLINE U load(const uint32_t* from) {
  U a;
  std::memcpy(&a.v, from, sizeof a.v);
  return a;
}
RHYTHM_INLINE void store(float* to, F a) { *to = a.v; }
RHYTHM_INLINE void store(uint32_t* to, U a) { *to = a.v; }
RHYTHM_INLINE U load_bytes(const uint8_t* from) { return {*from}; }
RHYTHM_INLINE void store_bytes(uint8_t* to, U a) { *to = static_cast<uint8_t>(a.v); }

RHYTHM_INLINE F lookup(const float* table, U index) { return {table[index.v]}; }
RHYTHM_INLINE U lookup(const uint32_t* table, U index) { return {table[index.v]}; }
// Looks up an index below eight.
RHYTHM_INLINE F lookup_eight(const float* table, U index) { return lookup(table, index); }
RHYTHM_INLINE U gather(const uint32_t* base, U index) { return {base[index.v]}; }

// Returns false: this kernel cannot write columns as whole cache lines.
template <int Width>
RHYTHM_INLINE bool put_lines(float*, const F*) { return false; }

// Copies a block of one column. With one lane it has one number.
template <int Width>
RHYTHM_INLINE void put_block(const float (*columns)[kLanes], float* row, size_t) { *row = columns[0][0]; }
RHYTHM_INLINE void load_four_columns(const uint32_t* row, size_t, U (&columns)[4]) {
  std::memcpy(columns, row, sizeof columns);
}

}  // namespace rhythm::scalar
