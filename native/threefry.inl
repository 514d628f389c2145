// Threefry2x32-20 over lanes (Salmon et al., SC 2011). Included inside a kernel's namespace.

struct Draw {
  U x0, x1;
};

template <int R0, int R1, int R2, int R3>
RHYTHM_INLINE Draw four_rounds(Draw d) {
  d.x0 = d.x0 + d.x1, d.x1 = rotate_left<R0>(d.x1) ^ d.x0;
  d.x0 = d.x0 + d.x1, d.x1 = rotate_left<R1>(d.x1) ^ d.x0;
  d.x0 = d.x0 + d.x1, d.x1 = rotate_left<R2>(d.x1) ^ d.x0;
  d.x0 = d.x0 + d.x1, d.x1 = rotate_left<R3>(d.x1) ^ d.x0;
  return d;
}

RHYTHM_INLINE Draw even_rounds(Draw d) { return four_rounds<13, 15, 26, 6>(d); }
RHYTHM_INLINE Draw odd_rounds(Draw d) { return four_rounds<17, 29, 16, 24>(d); }
RHYTHM_INLINE Draw inject(Draw d, U a, U b, uint32_t group) { return {d.x0 + a, d.x1 + (b + all(group))}; }

RHYTHM_INLINE Draw threefry(U k0, U k1, U c0, U c1) {
  const U k2 = k0 ^ k1 ^ all(0x1BD11BDAu);
  Draw d = {c0 + k0, c1 + k1};
  d = inject(even_rounds(d), k1, k2, 1);
  d = inject(odd_rounds(d), k2, k0, 2);
  d = inject(even_rounds(d), k0, k1, 3);
  d = inject(odd_rounds(d), k1, k2, 4);
  return inject(even_rounds(d), k2, k0, 5);
}
