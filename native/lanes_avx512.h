// Sixteen episodes in a register: AVX-512 F, BW, DQ, VL.
#pragma once
#include <immintrin.h>

#include <cstdint>

#include "inline.h"

namespace rhythm::avx512 {

constexpr int kLanes = 16;
// The smallest number of columns that put_block transposes.
constexpr int kNarrowBlock = 8;
// Whether runs of action sequences compute all their random draws before the first step, if the lanes have different seeds:
// see DrawsAhead in draws.inl.
constexpr bool kDrawsAhead = false;

// Lanes of floats, of words, and of flags.
struct F {
  __m512 v;
};
struct U {
  __m512i v;
};
struct M {
  __mmask16 v;
};

// `broadcast` returns x in every lane; `lane_numbers` returns the number of each lane.
RHYTHM_INLINE F broadcast(float x) { return {_mm512_set1_ps(x)}; }
RHYTHM_INLINE U broadcast(uint32_t x) { return {_mm512_set1_epi32(static_cast<int>(x))}; }
RHYTHM_INLINE M broadcast(bool x) { return {static_cast<__mmask16>(x ? 0xffff : 0)}; }
RHYTHM_INLINE U lane_numbers() {
  return {_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)};
}

RHYTHM_INLINE F operator+(F a, F b) { return {_mm512_add_ps(a.v, b.v)}; }
RHYTHM_INLINE F operator-(F a, F b) { return {_mm512_sub_ps(a.v, b.v)}; }
RHYTHM_INLINE F operator*(F a, F b) { return {_mm512_mul_ps(a.v, b.v)}; }
RHYTHM_INLINE F min(F a, F b) { return {_mm512_min_ps(a.v, b.v)}; }
RHYTHM_INLINE F max(F a, F b) { return {_mm512_max_ps(a.v, b.v)}; }
RHYTHM_INLINE M operator<(F a, F b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
RHYTHM_INLINE F abs(F a) { return {_mm512_abs_ps(a.v)}; }

RHYTHM_INLINE U operator+(U a, U b) { return {_mm512_add_epi32(a.v, b.v)}; }
RHYTHM_INLINE U operator^(U a, U b) { return {_mm512_xor_si512(a.v, b.v)}; }
RHYTHM_INLINE U operator&(U a, U b) { return {_mm512_and_si512(a.v, b.v)}; }
RHYTHM_INLINE U operator|(U a, U b) { return {_mm512_or_si512(a.v, b.v)}; }
RHYTHM_INLINE U operator<<(U a, int bits) { return {_mm512_slli_epi32(a.v, static_cast<unsigned>(bits))}; }
RHYTHM_INLINE U operator>>(U a, int bits) { return {_mm512_srli_epi32(a.v, static_cast<unsigned>(bits))}; }
RHYTHM_INLINE U shift_left(U a, U bits) { return {_mm512_sllv_epi32(a.v, bits.v)}; }
RHYTHM_INLINE U shift_right(U a, U bits) { return {_mm512_srlv_epi32(a.v, bits.v)}; }
RHYTHM_INLINE M operator<(U a, U b) { return {_mm512_cmplt_epu32_mask(a.v, b.v)}; }
RHYTHM_INLINE M operator==(U a, U b) { return {_mm512_cmpeq_epi32_mask(a.v, b.v)}; }
RHYTHM_INLINE M intersects(U a, U b) { return {_mm512_test_epi32_mask(a.v, b.v)}; }
template <int Bits>
RHYTHM_INLINE U rotate_left(U a) {
  return {_mm512_rol_epi32(a.v, Bits)};
}
// Returns integers in [0, n): ((a >> 16) * n) >> 16.
RHYTHM_INLINE U below(U a, uint32_t n) { return U{_mm512_mulhi_epu16(a.v, broadcast(n << 16).v)} >> 16; }

RHYTHM_INLINE M operator&(M a, M b) { return {static_cast<__mmask16>(a.v & b.v)}; }
RHYTHM_INLINE M operator|(M a, M b) { return {static_cast<__mmask16>(a.v | b.v)}; }
RHYTHM_INLINE M operator!(M a) { return {static_cast<__mmask16>(~a.v)}; }
RHYTHM_INLINE bool any(M a) { return a.v != 0; }
RHYTHM_INLINE uint32_t lane_bits(M a) { return a.v; }
RHYTHM_INLINE F select(M m, F a, F b) { return {_mm512_mask_blend_ps(m.v, b.v, a.v)}; }
RHYTHM_INLINE U select(M m, U a, U b) { return {_mm512_mask_blend_epi32(m.v, b.v, a.v)}; }

RHYTHM_INLINE F to_float(U a) { return {_mm512_cvtepi32_ps(a.v)}; }
RHYTHM_INLINE F as_floats(U a) { return {_mm512_castsi512_ps(a.v)}; }
RHYTHM_INLINE U as_words(F a) { return {_mm512_castps_si512(a.v)}; }
// Returns (a & mask) | set.
RHYTHM_INLINE U and_or(U a, U mask, U set) {
  return {_mm512_ternarylogic_epi32(a.v, mask.v, set.v, 0xea)};
}

RHYTHM_INLINE F load(const float* from) { return {_mm512_loadu_ps(from)}; }
RHYTHM_INLINE U load(const uint32_t* from) { return {_mm512_loadu_si512(from)}; }
RHYTHM_INLINE void store(float* to, F a) { _mm512_storeu_ps(to, a.v); }
RHYTHM_INLINE void store(uint32_t* to, U a) { _mm512_storeu_si512(to, a.v); }
RHYTHM_INLINE U load_bytes(const uint8_t* from) {
  return {_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))};
}
RHYTHM_INLINE void store_bytes(uint8_t* to, U a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(a.v));
}

// Returns table[index] of each lane. The table has 16 entries.
RHYTHM_INLINE F lookup(const float* table, U index) {
  return {_mm512_permutexvar_ps(index.v, _mm512_load_ps(table))};
}
RHYTHM_INLINE U lookup(const uint32_t* table, U index) {
  return {_mm512_permutexvar_epi32(index.v, _mm512_load_si512(table))};
}
// Does the same as lookup, for an index below eight: kernel avx2 then reads only half of the table.
RHYTHM_INLINE F lookup_eight(const float* table, U index) { return lookup(table, index); }

// Returns base[index] of each lane.
RHYTHM_INLINE U gather(const uint32_t* base, U index) { return {_mm512_i32gather_epi32(index.v, base, 4)}; }

// Returns four 128-bit pieces of memory in one register. Joins them with loads, because shuffles would compete
// with those of transpose_quarters for one execution port.
RHYTHM_INLINE __m512 load_pieces(const float* a, const float* b, const float* c, const float* d) {
  __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(a));
  v = _mm512_insertf32x4(v, _mm_loadu_ps(b), 1);
  v = _mm512_insertf32x4(v, _mm_loadu_ps(c), 2);
  return _mm512_insertf32x4(v, _mm_loadu_ps(d), 3);
}

// Transposes a 4 x 4 matrix in each 128-bit quarter of the registers: number i of register k becomes number k of register i.
RHYTHM_INLINE void transpose_quarters(__m512 (&r)[4]) {
  const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(r[0], r[1])), b = _mm512_castps_pd(_mm512_unpackhi_ps(r[0], r[1]));
  const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(r[2], r[3])), d = _mm512_castps_pd(_mm512_unpackhi_ps(r[2], r[3]));
  r[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
  r[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
  r[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
  r[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
}

// Transposes `Width` columns: rows[lane * stride + k] = columns[k][lane].
template <int Width>
RHYTHM_INLINE void put_block(const float (*columns)[kLanes], float* rows, size_t stride) {
  static_assert(Width == kLanes || Width == kNarrowBlock);
  if constexpr (Width == kLanes) {
    RHYTHM_UNROLL for (int lane = 0; lane < kLanes; lane += 4) {
      __m512 r[4];
      RHYTHM_UNROLL for (int k = 0; k < 4; k++) {
        r[k] = load_pieces(columns[k] + lane, columns[k + 4] + lane, columns[k + 8] + lane, columns[k + 12] + lane);
      }
      transpose_quarters(r);
      RHYTHM_UNROLL for (int k = 0; k < 4; k++) _mm512_storeu_ps(rows + (lane + k) * stride, r[k]);
    }
  } else {
    RHYTHM_UNROLL for (int lane = 0; lane < kLanes; lane += 8) {
      __m512 r[4];
      RHYTHM_UNROLL for (int k = 0; k < 4; k++) {
        r[k] = load_pieces(columns[k] + lane, columns[k + 4] + lane, columns[k] + lane + 4, columns[k + 4] + lane + 4);
      }
      transpose_quarters(r);
      RHYTHM_UNROLL for (int k = 0; k < 4; k++) {
        _mm256_storeu_ps(rows + (lane + k) * stride, _mm512_castps512_ps256(r[k]));
        _mm256_storeu_ps(rows + (lane + k + 4) * stride, _mm512_extractf32x8_ps(r[k], 1));
      }
    }
  }
}

// words[half][pair % 8] is the permutation that `put_pairs` applies to a pair of columns. Half 0 is lanes 0 to 7, half 1 lanes
// 8 to 15. A row has two numbers (8 bytes) of each pair of columns, and a cache line (64 bytes) has eight places for two
// numbers. A row has an odd number of pairs, so in eight successive rows the same pair lies at eight different places.
template <int Pairs>
struct LineOrder {
  static_assert(Pairs % 2 == 1, "otherwise two rows have a pair at the same place of a line");
  alignas(64) uint32_t words[2][8][kLanes] = {};
  constexpr LineOrder() {
    for (int half = 0; half < 2; half++) {
      for (int pair = 0; pair < 8; pair++) {
        for (int row = 0; row < 8; row++) {
          const int place = (Pairs * row + pair) % 8;
          words[half][pair][2 * place] = static_cast<uint32_t>(8 * half + row);
          words[half][pair][2 * place + 1] = static_cast<uint32_t>(kLanes + 8 * half + row);
        }
      }
    }
  }
};

// Writes pairs of columns as contiguous rows. Permutes each pair, so that its numbers are at their places in the lines of
// memory. Then three levels of blends put the pairs of each line together.
template <int Pairs>
RHYTHM_INLINE void put_pairs(float* rows, const F* columns) {
  static constexpr LineOrder<Pairs> order;
  RHYTHM_UNROLL for (int half = 0; half < 2; half++) {
    __m512d single[Pairs], two[Pairs], four[Pairs];
    RHYTHM_UNROLL for (int j = 0; j < Pairs; j++) {
      const __m512i places = _mm512_load_si512(order.words[half][j % 8]);
      single[j] = _mm512_castps_pd(_mm512_permutex2var_ps(columns[2 * j].v, places, columns[2 * j + 1].v));
    }
    RHYTHM_UNROLL for (int j = 0; j < Pairs; j++) two[j] = _mm512_mask_blend_pd(0xaa, single[j], single[(j + 1) % Pairs]);
    RHYTHM_UNROLL for (int j = 0; j < Pairs; j++) four[j] = _mm512_mask_blend_pd(0xcc, two[j], two[(j + 2) % Pairs]);
    RHYTHM_UNROLL for (int line = 0; line < Pairs; line++) {
      const __m512d eight = _mm512_mask_blend_pd(0xf0, four[8 * line % Pairs], four[(8 * line + 4) % Pairs]);
      _mm512_storeu_pd(rows + (half * Pairs + line) * kLanes, eight);
    }
  }
}

// Writes columns as contiguous rows in whole cache lines, if a row has an odd number of pairs. Returns whether it wrote
// them.
template <int Width>
RHYTHM_INLINE bool put_lines(float* rows, const F* columns) {
  constexpr bool can = Width % 4 == 2;
  if constexpr (can) put_pairs<Width / 2>(rows, columns);
  return can;
}

// Reads the first four words of each lane's row into four columns. Rows are `stride` words apart.
RHYTHM_INLINE void load_four_columns(const uint32_t* rows, size_t stride, U (&columns)[4]) {
  const float* from = reinterpret_cast<const float*>(rows);
  __m512 r[4];
  RHYTHM_UNROLL for (int k = 0; k < 4; k++) {
    r[k] = load_pieces(from + k * stride, from + (k + 4) * stride, from + (k + 8) * stride, from + (k + 12) * stride);
  }
  transpose_quarters(r);
  RHYTHM_UNROLL for (int k = 0; k < 4; k++) columns[k] = as_words(F{r[k]});
}

}  // namespace rhythm::avx512
