// Profiles drawn from a seed, and the belief target of a profile (docs/world.md, Profiles).
// Included inside a kernel's namespace, see kernel.inl.

// Returns the top 24 bits times 2^-24, exactly. The second factor is the float 2^-24, whose exponent bits are 127 - 24.
RHYTHM_INLINE F unit(U x) { return to_float(x >> 8) * as_floats(broadcast((127u - 24u) << 23)); }

RHYTHM_INLINE void sort_two(F& a, F& b) {
  const F low = min(a, b);
  b = max(a, b);
  a = low;
}

// Sorts nine numbers by a network of 25 exchanges (Floyd's; Knuth, The Art of Computer Programming, vol. 3, 5.3.4).
RHYTHM_INLINE void sort_nine(F* q) {
  constexpr int exchanges[25][2] = {{0, 1}, {3, 4}, {6, 7}, {1, 2}, {4, 5}, {7, 8}, {0, 1}, {3, 4}, {6, 7},
                                    {0, 3}, {3, 6}, {0, 3}, {1, 4}, {4, 7}, {1, 4}, {2, 5}, {5, 8}, {2, 5},
                                    {1, 3}, {5, 7}, {2, 6}, {4, 6}, {2, 4}, {2, 3}, {5, 6}};
  for (const auto& pair : exchanges) sort_two(q[pair[0]], q[pair[1]]);
}

RHYTHM_INLINE void sample_profile(const Tables& w, U seed, F* profile) {
  // One number for each trait, and nine more (q below). Once sorted, q[1], q[3], q[5] and q[7] divide [0, 1] into five weights.
  F u[20];
  // Computes several draws at once. A draw is a chain of dependent operations; several chains overlap.
  constexpr uint32_t chains = 5;
  for (uint32_t b = 0; b < 10; b += chains) {
    Key keys[chains];
    Draw d[chains];
    for (uint32_t i = 0; i < chains; i++) {
      keys[i] = make_key(seed, broadcast(w.u[block::StreamProfile]));
      d[i] = {broadcast(b + i), broadcast(0u)};
    }
    threefry(keys, d);
    for (uint32_t i = 0; i < chains; i++) u[2 * (b + i)] = unit(d[i].x0), u[2 * (b + i) + 1] = unit(d[i].x1);
  }
  for (int k = 0; k < count::Traits; k++) {
    profile[k] = broadcast(w.f[block::TraitLow + k]) + broadcast(w.f[block::TraitSpan + k]) * u[k];
  }
  F* q = u + count::Traits;
  sort_nine(q);
  F* weights = profile + count::Traits;
  weights[0] = q[1] - broadcast(0.0f);
  weights[1] = q[3] - q[1];
  weights[2] = q[5] - q[3];
  weights[3] = q[7] - q[5];
  weights[4] = broadcast(1.0f) - q[7];
}

RHYTHM_INLINE void discrete_profile(const Tables& w, U seed, F* profile) {
  const Draw x = threefry(seed, broadcast(w.u[block::StreamProfile]), broadcast(0u), broadcast(1u));
  const U index = below(x.x0, count::NamedProfiles);
  for (int k = 0; k < count::ProfileFloats; k++) profile[k] = lookup(w.named_profiles[k], index);
}

// A number for each belief.
struct Beliefs {
  F social, morning, work;
};

// Returns the target of one belief. `float_of(k)` returns the profile's k-th float.
template <class FloatOf>
RHYTHM_INLINE F target_of(const Tables& w, int belief, FloatOf float_of) {
  F terms[count::BeliefFactors];
  for (int j = 0; j < count::BeliefFactors; j++) {
    const int at = belief * count::BeliefFactors + j;
    const int source = static_cast<int>(w.u[block::BeliefSource + at]);
    const bool is_trait = source < count::Traits;
    F z = is_trait ? (float_of(source) - broadcast(w.f[block::TraitLow + source])) * broadcast(w.f[block::TraitInverseSpan + source])
                   : float_of(source) * broadcast(w.f[block::BeliefWeightScale]);
    z = clamp01(z);
    if (w.u[block::BeliefInverted + at]) z = broadcast(1.0f) - z;
    terms[j] = broadcast(w.f[block::BeliefShare + at]) * z;
  }
  const F sum = (terms[0] + terms[1]) + terms[2];
  return clamp01(broadcast(0.5f) + broadcast(w.f[block::BeliefGain]) * (sum - broadcast(0.5f)));
}
static_assert(count::BeliefFactors == 3 && count::Beliefs == 3 && count::Components == 8);

template <class FloatOf>
RHYTHM_INLINE Beliefs targets_of(const Tables& w, FloatOf float_of) {
  return {target_of(w, 0, float_of), target_of(w, 1, float_of), target_of(w, 2, float_of)};
}
