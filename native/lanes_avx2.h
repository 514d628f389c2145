// Eight episodes in a register: AVX2.
#pragma once
#include <immintrin.h>

#include <cstdint>

#include "inline.h"

namespace rhythm::avx2 {

constexpr int kLanes = 8;
// The smallest number of columns that put_block transposes, and here the only one.
constexpr int kNarrowBlock = kLanes;
// Whether runs of action sequences compute all their random draws before the first step, if the lanes have different seeds:
// see DrawsAhead in draws.inl.
constexpr bool kDrawsAhead = true;

// Lanes of floats, of words, and of flags.
struct F {
  __m256 v;
};
struct U {
  __m256i v;
};
// A set flag has all bits of its lane.
struct M {
  __m256 v;
};

// `broadcast` returns x in every lane; `lane_numbers` returns the number of each lane.
RHYTHM_INLINE F broadcast(float x) { return {_mm256_set1_ps(x)}; }
RHYTHM_INLINE U broadcast(uint32_t x) { return {_mm256_set1_epi32(static_cast<int>(x))}; }
RHYTHM_INLINE M broadcast(bool x) { return {_mm256_castsi256_ps(_mm256_set1_epi32(x ? -1 : 0))}; }
RHYTHM_INLINE U lane_numbers() { return {_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)}; }
RHYTHM_INLINE M as_mask(__m256i v) { return {_mm256_castsi256_ps(v)}; }

RHYTHM_INLINE F operator+(F a, F b) { return {_mm256_add_ps(a.v, b.v)}; }
RHYTHM_INLINE F operator-(F a, F b) { return {_mm256_sub_ps(a.v, b.v)}; }
RHYTHM_INLINE F operator*(F a, F b) { return {_mm256_mul_ps(a.v, b.v)}; }
RHYTHM_INLINE F min(F a, F b) { return {_mm256_min_ps(a.v, b.v)}; }
RHYTHM_INLINE F max(F a, F b) { return {_mm256_max_ps(a.v, b.v)}; }
RHYTHM_INLINE M operator<(F a, F b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
RHYTHM_INLINE F abs(F a) { return {_mm256_andnot_ps(_mm256_castsi256_ps(_mm256_set1_epi32(INT32_MIN)), a.v)}; }

RHYTHM_INLINE U operator+(U a, U b) { return {_mm256_add_epi32(a.v, b.v)}; }
RHYTHM_INLINE U operator^(U a, U b) { return {_mm256_xor_si256(a.v, b.v)}; }
RHYTHM_INLINE U operator&(U a, U b) { return {_mm256_and_si256(a.v, b.v)}; }
RHYTHM_INLINE U operator|(U a, U b) { return {_mm256_or_si256(a.v, b.v)}; }
RHYTHM_INLINE U operator<<(U a, int bits) { return {_mm256_slli_epi32(a.v, bits)}; }
RHYTHM_INLINE U operator>>(U a, int bits) { return {_mm256_srli_epi32(a.v, bits)}; }
RHYTHM_INLINE U shift_left(U a, U bits) { return {_mm256_sllv_epi32(a.v, bits.v)}; }
RHYTHM_INLINE U shift_right(U a, U bits) { return {_mm256_srlv_epi32(a.v, bits.v)}; }
RHYTHM_INLINE M operator==(U a, U b) { return as_mask(_mm256_cmpeq_epi32(a.v, b.v)); }
// The instruction compares signed words. Flipping the top bits makes the comparison unsigned.
RHYTHM_INLINE M operator<(U a, U b) {
  const U top = broadcast(0x80000000u);
  return as_mask(_mm256_cmpgt_epi32((b ^ top).v, (a ^ top).v));
}
// A rotation by whole bytes is one shuffle. Byte i of `sources` is the number of the byte that moves to byte i of a word.
template <int Bits>
RHYTHM_INLINE U rotate_left(U a) {
  if constexpr (Bits % 8 != 0) {
    return (a << Bits) | (a >> (32 - Bits));
  } else {
    constexpr auto sources = static_cast<uint32_t>(0x0302010003020100 >> (32 - Bits));
    const auto word = [](uint32_t k) { return static_cast<int>(sources + k * 0x04040404); };
    return {_mm256_shuffle_epi8(a.v, _mm256_setr_epi32(word(0), word(1), word(2), word(3), word(0), word(1), word(2), word(3)))};
  }
}
// Returns integers in [0, n): ((a >> 16) * n) >> 16.
RHYTHM_INLINE U below(U a, uint32_t n) { return U{_mm256_mulhi_epu16(a.v, broadcast(n << 16).v)} >> 16; }

RHYTHM_INLINE M operator&(M a, M b) { return {_mm256_and_ps(a.v, b.v)}; }
RHYTHM_INLINE M operator|(M a, M b) { return {_mm256_or_ps(a.v, b.v)}; }
RHYTHM_INLINE M operator!(M a) { return {_mm256_xor_ps(a.v, broadcast(true).v)}; }
RHYTHM_INLINE M intersects(U a, U b) { return !((a & b) == broadcast(0u)); }
RHYTHM_INLINE uint32_t lane_bits(M a) { return static_cast<uint32_t>(_mm256_movemask_ps(a.v)); }
RHYTHM_INLINE bool any(M a) { return lane_bits(a) != 0; }
RHYTHM_INLINE F select(M m, F a, F b) { return {_mm256_blendv_ps(b.v, a.v, m.v)}; }
RHYTHM_INLINE U select(M m, U a, U b) {
  return {_mm256_blendv_epi8(b.v, a.v, _mm256_castps_si256(m.v))};
}

RHYTHM_INLINE F to_float(U a) { return {_mm256_cvtepi32_ps(a.v)}; }
RHYTHM_INLINE F as_floats(U a) { return {_mm256_castsi256_ps(a.v)}; }
RHYTHM_INLINE U as_words(F a) { return {_mm256_castps_si256(a.v)}; }
RHYTHM_INLINE U and_or(U a, U mask, U set) { return (a & mask) | set; }

RHYTHM_INLINE F load(const float* from) { return {_mm256_loadu_ps(from)}; }
RHYTHM_INLINE U load(const uint32_t* from) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))};
}
RHYTHM_INLINE void store(float* to, F a) { _mm256_storeu_ps(to, a.v); }
RHYTHM_INLINE void store(uint32_t* to, U a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), a.v); }
RHYTHM_INLINE U load_bytes(const uint8_t* from) {
  return {_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)))};
}
RHYTHM_INLINE void store_bytes(uint8_t* to, U a) {
  const __m128i shorts = _mm_packus_epi32(_mm256_castsi256_si128(a.v), _mm256_extracti128_si256(a.v, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(shorts, shorts));
}

// Returns table[index] of each lane. The table has 16 entries, in two halves of eight; bit 3 of the index selects the half.
RHYTHM_INLINE U lookup(const uint32_t* table, U index) {
  const __m256i low = _mm256_permutevar8x32_epi32(load(table).v, index.v);
  const __m256i high = _mm256_permutevar8x32_epi32(load(table + 8).v, index.v);
  return {_mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high),
                                               _mm256_castsi256_ps((index << 28).v)))};
}
RHYTHM_INLINE F lookup(const float* table, U index) {
  const __m256 low = _mm256_permutevar8x32_ps(load(table).v, index.v);
  const __m256 high = _mm256_permutevar8x32_ps(load(table + 8).v, index.v);
  return {_mm256_blendv_ps(low, high, _mm256_castsi256_ps((index << 28).v))};
}
// Does the same as lookup, for an index below eight: reads only half of the table.
RHYTHM_INLINE F lookup_eight(const float* table, U index) {
  return {_mm256_permutevar8x32_ps(load(table).v, index.v)};
}

// Returns base[index] of each lane.
RHYTHM_INLINE U gather(const uint32_t* base, U index) {
  return {_mm256_i32gather_epi32(reinterpret_cast<const int*>(base), index.v, 4)};
}

// Returns two 128-bit pieces of memory in one register. Uses load instructions, because shuffles would compete with those of
// transpose_halves for one execution port.
RHYTHM_INLINE __m256 load_pieces(const float* a, const float* b) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(a)), _mm_loadu_ps(b), 1);
}

// Transposes a 4 x 4 matrix in each 128-bit half: number i of register k becomes number k of register i.
RHYTHM_INLINE void transpose_halves(__m256 (&r)[4]) {
  const __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(r[0], r[1])), b = _mm256_castps_pd(_mm256_unpackhi_ps(r[0], r[1]));
  const __m256d c = _mm256_castps_pd(_mm256_unpacklo_ps(r[2], r[3])), d = _mm256_castps_pd(_mm256_unpackhi_ps(r[2], r[3]));
  r[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
  r[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
  r[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
  r[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
}

// Returns false: this kernel cannot write columns as whole cache lines.
template <int Width>
RHYTHM_INLINE bool put_lines(float*, const F*) { return false; }

// Transposes `Width` columns: rows[lane * stride + k] = columns[k][lane].
template <int Width>
RHYTHM_INLINE void put_block(const float (*columns)[kLanes], float* rows, size_t stride) {
  static_assert(Width == kLanes);
  RHYTHM_UNROLL for (int lane = 0; lane < kLanes; lane += 4) {
    __m256 r[4];
    RHYTHM_UNROLL for (int k = 0; k < 4; k++) r[k] = load_pieces(columns[k] + lane, columns[k + 4] + lane);
    transpose_halves(r);
    RHYTHM_UNROLL for (int k = 0; k < 4; k++) _mm256_storeu_ps(rows + (lane + k) * stride, r[k]);
  }
}

// Reads the first four words of each lane's row into four columns. Rows are `stride` words apart.
RHYTHM_INLINE void load_four_columns(const uint32_t* rows, size_t stride, U (&columns)[4]) {
  const float* from = reinterpret_cast<const float*>(rows);
  __m256 r[4];
  RHYTHM_UNROLL for (int k = 0; k < 4; k++) r[k] = load_pieces(from + k * stride, from + (k + 4) * stride);
  transpose_halves(r);
  RHYTHM_UNROLL for (int k = 0; k < 4; k++) columns[k] = as_words(F{r[k]});
}

}  // namespace rhythm::avx2
