// What a step leaves to chance: luck and events. Both depend on seed and time alone.
// Included inside a kernel's namespace, see kernel.inl.

// Ten bits n of a word, from bit At on, as (n + 0.5) / 512 - 1: put under an exponent they are a power of two larger,
// exactly.
template <int At>
RHYTHM_INLINE F luck_field(U word) {
  constexpr int exponent = 14 - At;
  const U larger = and_or(word, all(0x3ffu << At), all((127u + exponent) << 23 | 1u << (At - 1)));
  return float_bits(larger) - all(static_cast<float>((1 << exponent) + 1));
}
// A word's first, second and third ten bits. The second stay where they are; one turn takes both others to a place.
struct Fields {
  F first, second, third;
};
RHYTHM_INLINE Fields luck_fields(U word) {
  const U turned = rotate_left<13>(word);
  return {luck_field<13>(turned), luck_field<10>(word), luck_field<1>(turned)};
}

// Rule 3: six symmetric numbers.
struct Luck {
  Meters meters;
  F reward;
};
RHYTHM_INLINE Luck luck_of(const Tables& w, Draw y) {
  const Fields a = luck_fields(y.x0), b = luck_fields(y.x1);
  const Meters z = {a.first, a.second, a.third, b.first, b.second};
  return {all(w.f + block::NoiseMeters) * z, all(w.f[block::NoiseReward]) * b.third};
}

// Rule 6: the event's code, or count::Events for none.
RHYTHM_INLINE U event_of(const Tables& w, Draw x) {
  const U none = all(static_cast<uint32_t>(count::Events));
  return select(x.x0 < all(w.u[block::EventThreshold]), below(x.x1, count::Events), none);
}

// The draws of a step.
struct Fate {
  Draw noise, event;
};
template <class Time>
RHYTHM_INLINE Fate fate_of(const Tables& w, U seed, Time now) {
  const Key keys[2] = {make_key(seed, all(w.noise_stream)), make_key(seed, all(w.event_stream))};
  const U t = steps_of(now), zero = all(0u);
  Draw d[2] = {{t, zero}, {t, zero}};
  threefry(keys, d);
  return {d[0], d[1]};
}

// Fates that lanes draw step by step, each its own.
struct OwnFates {
  template <class Time>
  RHYTHM_INLINE_MEMBER Fate at(const Tables& w, U seed, Time now) const {
    return fate_of(w, seed, now);
  }
};

// Lanes of one seed, as rollouts from one state are, share their fate: a week of it is drawn at once, a step to a lane.
struct OneFate {
  static constexpr int draws = (count::Steps + kLanes - 1) / kLanes * kLanes;
  alignas(64) uint32_t noise0[draws], noise1[draws], event0[draws], event1[draws];
  OneFate(const Tables& w, U seed) {
    for (int t = 0; t < draws; t += kLanes) {
      const Fate fate = fate_of(w, seed, OwnTime{all(static_cast<uint32_t>(t)) + lane_numbers()});
      store(noise0 + t, fate.noise.x0), store(noise1 + t, fate.noise.x1);
      store(event0 + t, fate.event.x0), store(event1 + t, fate.event.x1);
    }
  }
  RHYTHM_INLINE_MEMBER Fate at(const Tables&, U, SameTime now) const {
    return {{all(noise0[now.t]), all(noise1[now.t])}, {all(event0[now.t]), all(event1[now.t])}};
  }
};
