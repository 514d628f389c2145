// Sixteen episodes in a register: AVX-512 F, BW, DQ, VL.
#pragma once
#include <immintrin.h>

#include <cstdint>

#include "inline.h"

namespace rhythm::avx512 {

constexpr int kLanes = 16;

struct F {
  __m512 v;
};
struct U {
  __m512i v;
};
struct M {
  __mmask16 v;
};

RHYTHM_INLINE F all(float x) { return {_mm512_set1_ps(x)}; }
RHYTHM_INLINE U all(uint32_t x) { return {_mm512_set1_epi32(static_cast<int>(x))}; }
RHYTHM_INLINE M all(bool x) { return {static_cast<__mmask16>(x ? 0xffff : 0)}; }
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
// ((a >> 16) * n) >> 16
RHYTHM_INLINE U below(U a, uint32_t n) { return U{_mm512_mulhi_epu16(a.v, all(n << 16).v)} >> 16; }

RHYTHM_INLINE M operator&(M a, M b) { return {static_cast<__mmask16>(a.v & b.v)}; }
RHYTHM_INLINE M operator|(M a, M b) { return {static_cast<__mmask16>(a.v | b.v)}; }
RHYTHM_INLINE M operator!(M a) { return {static_cast<__mmask16>(~a.v)}; }
RHYTHM_INLINE bool any(M a) { return a.v != 0; }
RHYTHM_INLINE uint32_t bits_of(M a) { return a.v; }
RHYTHM_INLINE F select(M m, F a, F b) { return {_mm512_mask_blend_ps(m.v, b.v, a.v)}; }
RHYTHM_INLINE U select(M m, U a, U b) { return {_mm512_mask_blend_epi32(m.v, b.v, a.v)}; }

RHYTHM_INLINE F to_float(U a) { return {_mm512_cvtepi32_ps(a.v)}; }
RHYTHM_INLINE F float_bits(U a) { return {_mm512_castsi512_ps(a.v)}; }
RHYTHM_INLINE U bits(F a) { return {_mm512_castps_si512(a.v)}; }
// (a & mask) | set
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

// table[index], table of 16, index below 16.
RHYTHM_INLINE F lookup(const float* table, U index) {
  return {_mm512_permutexvar_ps(index.v, _mm512_load_ps(table))};
}
RHYTHM_INLINE U lookup(const uint32_t* table, U index) {
  return {_mm512_permutexvar_epi32(index.v, _mm512_load_si512(table))};
}

// base[index], for each lane.
RHYTHM_INLINE U gather(const uint32_t* base, U index) { return {_mm512_i32gather_epi32(index.v, base, 4)}; }

// Sixteen columns become sixteen rows, in place.
RHYTHM_INLINE void transpose(F (&rows)[16]) {
  __m512 r[16], t[16];
  RHYTHM_UNROLL for (int i = 0; i < 16; i++) r[i] = rows[i].v;
  RHYTHM_UNROLL for (int i = 0; i < 16; i += 2) {  // pairs of columns, then fours, in each 128-bit quarter
    t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
  }
  RHYTHM_UNROLL for (int i = 0; i < 16; i += 4) {
    const __m512d a = _mm512_castps_pd(t[i]), b = _mm512_castps_pd(t[i + 1]);
    const __m512d c = _mm512_castps_pd(t[i + 2]), d = _mm512_castps_pd(t[i + 3]);
    r[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    r[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    r[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    r[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
  }
  RHYTHM_UNROLL for (int i = 0; i < 4; i++) {  // then the quarters
    const __m512 low = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88), high = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
    const __m512 low2 = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
    const __m512 high2 = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
    t[i] = _mm512_shuffle_f32x4(low, low2, 0x88);
    t[i + 8] = _mm512_shuffle_f32x4(low, low2, 0xdd);
    t[i + 4] = _mm512_shuffle_f32x4(high, high2, 0x88);
    t[i + 12] = _mm512_shuffle_f32x4(high, high2, 0xdd);
  }
  RHYTHM_UNROLL for (int i = 0; i < 16; i++) rows[i].v = t[i];
}

}  // namespace rhythm::avx512
