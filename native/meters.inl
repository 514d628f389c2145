// Vectors over the meters, and their operations.
// Included inside a kernel's namespace, see kernel.inl.

RHYTHM_INLINE F clamp01(F x) { return min(max(x, broadcast(0.0f)), broadcast(1.0f)); }

// One number for each meter, in the order of the world's vectors.
struct Meters {
  F v, c, p, s, n;
};
RHYTHM_INLINE Meters operator+(Meters a, Meters b) {
  return {a.v + b.v, a.c + b.c, a.p + b.p, a.s + b.s, a.n + b.n};
}
RHYTHM_INLINE Meters operator-(Meters a, Meters b) {
  return {a.v - b.v, a.c - b.c, a.p - b.p, a.s - b.s, a.n - b.n};
}
RHYTHM_INLINE Meters operator*(Meters a, Meters b) {
  return {a.v * b.v, a.c * b.c, a.p * b.p, a.s * b.s, a.n * b.n};
}
RHYTHM_INLINE Meters operator*(Meters a, F b) { return {a.v * b, a.c * b, a.p * b, a.s * b, a.n * b}; }
RHYTHM_INLINE Meters clamp01(Meters a) {
  return {clamp01(a.v), clamp01(a.c), clamp01(a.p), clamp01(a.s), clamp01(a.n)};
}
RHYTHM_INLINE Meters select(M m, Meters a, Meters b) {
  return {select(m, a.v, b.v), select(m, a.c, b.c), select(m, a.p, b.p), select(m, a.s, b.s),
          select(m, a.n, b.n)};
}
RHYTHM_INLINE Meters broadcast(const float* numbers) {
  return {broadcast(numbers[0]), broadcast(numbers[1]), broadcast(numbers[2]), broadcast(numbers[3]), broadcast(numbers[4])};
}
RHYTHM_INLINE Meters lookup(const float (*tables)[kTableWidth], U code) {
  return {lookup(tables[0], code), lookup(tables[1], code), lookup(tables[2], code), lookup(tables[3], code),
          lookup(tables[4], code)};
}
RHYTHM_INLINE Meters lookup_eight(const float (*tables)[kTableWidth], U code) {
  return {lookup_eight(tables[0], code), lookup_eight(tables[1], code), lookup_eight(tables[2], code),
          lookup_eight(tables[3], code), lookup_eight(tables[4], code)};
}
