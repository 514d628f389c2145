// Threefry2x32-20 over lanes (Salmon et al., SC 2011). Included inside a kernel's namespace, see kernel.inl.

struct Draw {
  U x0, x1;
};

// One round of N draws. A draw is a chain of dependent operations; the processor overlaps the chains of several draws.
template <int R, int N>
RHYTHM_INLINE void round_of(Draw (&d)[N]) {
  RHYTHM_UNROLL for (int i = 0; i < N; i++) d[i].x0 = d[i].x0 + d[i].x1;
  RHYTHM_UNROLL for (int i = 0; i < N; i++) d[i].x1 = rotate_left<R>(d[i].x1) ^ d[i].x0;
}
// The rounds before key injection g (docs/world.md, Randomness), for odd g and for even g.
template <int N>
RHYTHM_INLINE void rounds_of_odd(Draw (&d)[N]) {
  round_of<13>(d), round_of<15>(d), round_of<26>(d), round_of<6>(d);
}
template <int N>
RHYTHM_INLINE void rounds_of_even(Draw (&d)[N]) {
  round_of<17>(d), round_of<29>(d), round_of<16>(d), round_of<24>(d);
}
// The key of a draw; the third word is derived from the others.
struct Key {
  U k0, k1, k2;
};
RHYTHM_INLINE Key make_key(U k0, U k1) { return {k0, k1, k0 ^ k1 ^ broadcast(0x1BD11BDAu)}; }

// Key injection `group`: adds two words of the key, and the number of the injection.
template <int N>
RHYTHM_INLINE void inject(Draw (&d)[N], const Key (&key)[N], U Key::*a, U Key::*b, uint32_t group) {
  RHYTHM_UNROLL for (int i = 0; i < N; i++) d[i].x0 = d[i].x0 + key[i].*a, d[i].x1 = d[i].x1 + (key[i].*b + broadcast(group));
}

// Replaces the counters in `d` by the draws.
template <int N>
RHYTHM_INLINE void threefry(const Key (&key)[N], Draw (&d)[N]) {
  inject(d, key, &Key::k0, &Key::k1, 0);
  rounds_of_odd(d), inject(d, key, &Key::k1, &Key::k2, 1);
  rounds_of_even(d), inject(d, key, &Key::k2, &Key::k0, 2);
  rounds_of_odd(d), inject(d, key, &Key::k0, &Key::k1, 3);
  rounds_of_even(d), inject(d, key, &Key::k1, &Key::k2, 4);
  rounds_of_odd(d), inject(d, key, &Key::k2, &Key::k0, 5);
}

RHYTHM_INLINE Draw threefry(U k0, U k1, U c0, U c1) {
  const Key key[1] = {make_key(k0, k1)};
  Draw d[1] = {{c0, c1}};
  threefry(key, d);
  return d[0];
}
