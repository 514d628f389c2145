// THE rules of a step in C++, written once over a lane type: F floats, U words, M masks of kLanes episodes.
// Every + - * rounds once, in the order of the world's page. Included inside a kernel's namespace, see kernel.inl.

RHYTHM_INLINE F clamp01(F x) { return min(max(x, all(0.0f)), all(1.0f)); }

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
RHYTHM_INLINE Meters all(const float* five) {
  return {all(five[0]), all(five[1]), all(five[2]), all(five[3]), all(five[4])};
}
RHYTHM_INLINE Meters lookup(const float (*five)[kTableWidth], U code) {
  return {lookup(five[0], code), lookup(five[1], code), lookup(five[2], code), lookup(five[3], code),
          lookup(five[4], code)};
}

// The time in a lane-vector of episodes: the same in all of them, which is fast, or different.
struct SameTime {
  int t;
};
struct OwnTime {
  U t;
};
RHYTHM_INLINE U steps_of(SameTime now) { return all(static_cast<uint32_t>(now.t)); }
RHYTHM_INLINE U steps_of(OwnTime now) { return now.t; }
RHYTHM_INLINE SameTime next(SameTime now) { return {now.t + 1}; }
RHYTHM_INLINE OwnTime next(OwnTime now) { return {now.t + all(1u)}; }

// pick(slot) of each episode's slot of the day.
template <class Pick>
RHYTHM_INLINE auto by_slot(SameTime now, Pick pick) {
  return pick(now.t & (count::Slots - 1));
}
template <class Pick>
RHYTHM_INLINE auto by_slot(OwnTime now, Pick pick) {
  const U slot = now.t & all(static_cast<uint32_t>(count::Slots - 1));
  auto picked = pick(0);
  for (int s = 1; s < count::Slots; s++) {
    picked = select(slot == all(static_cast<uint32_t>(s)), pick(s), picked);
  }
  return picked;
}
static_assert((count::Slots & (count::Slots - 1)) == 0);

// How well a person works in a slot, and what it does to cognition.
struct Focus {
  F focus, cognition;
};
RHYTHM_INLINE Focus select(M m, const Focus& a, const Focus& b) {
  return {select(m, a.focus, b.focus), select(m, a.cognition, b.cognition)};
}
// of(k): the person's k-th profile float.
template <class Of>
RHYTHM_INLINE Focus focus_in(const Tables& w, int slot, Of of) {
  const F focus = slot == 0 ? of(trait::MorningFocus) : slot == 1 ? all(1.0f) : of(trait::NightFocus);
  return {focus, all(w.f[block::FocusCognition]) * (focus - all(1.0f))};
}

// What of a person the rules of a step read.
struct Person {
  F social_vitality_multiplier, social_serenity_bonus, work_vitality_recovery, progress_serenity_bonus,
      solo_serenity_bonus, leisure_guilt, stress_threshold, event_impact;
  Meters decay;
  Meters reward_weights;
};

template <class Of>
RHYTHM_INLINE Person make_person(const Tables& w, Of of) {
  Person who;
  who.social_vitality_multiplier = of(trait::SocialVitalityMultiplier);
  who.social_serenity_bonus = of(trait::SocialSerenityBonus);
  who.work_vitality_recovery = of(trait::WorkVitalityRecovery);
  who.progress_serenity_bonus = of(trait::ProgressSerenityBonus);
  who.solo_serenity_bonus = of(trait::SoloSerenityBonus);
  who.leisure_guilt = of(trait::LeisureGuilt);
  who.stress_threshold = of(trait::StressThreshold);
  who.event_impact = of(trait::EventImpact);
  who.decay = all(w.f + block::Decay);
  who.decay.v = who.decay.v * of(trait::MetabolicRate);
  constexpr int W = count::Traits;
  who.reward_weights = Meters{of(W), of(W + 1), of(W + 2), of(W + 3), of(W + 4)} + all(w.f + block::RewardBias);
  return who;
}

// The k-th profile float of the person of whom nothing is personal; it has no reward weights.
RHYTHM_INLINE auto neutral_of(const Tables& w) {
  return [&w](int k) { return all(k < count::Traits ? w.f[block::TraitNeutral + k] : 0.0f); };
}

// Which of the taken actions carry which tag.
struct Tagged {
  M productive, social, solo, guilty;
};
RHYTHM_INLINE Tagged tags_of(const Tables& w, U action) {
  const U bit = shift_left(all(1u), action);
  const uint32_t* tagged = w.u + block::Tagged;
  return {intersects(bit, all(tagged[world::tag::Productive])), intersects(bit, all(tagged[world::tag::Social])),
          intersects(bit, all(tagged[world::tag::Solo])), intersects(bit, all(tagged[world::tag::Guilty]))};
}

// a op b where m, else a. Registers of many lanes do it by a mask; a single number by an operand that changes nothing,
// -0 to add and 1 to multiply by, chosen while a is still being computed.
RHYTHM_INLINE F add_where(M m, F a, F b) {
  if constexpr (kLanes == 1) return a + select(m, b, all(-0.0f));
  return select(m, a + b, a);
}
RHYTHM_INLINE F subtract_where(M m, F a, F b) {
  if constexpr (kLanes == 1) return a - select(m, b, all(0.0f));
  return select(m, a - b, a);
}
RHYTHM_INLINE F multiply_where(M m, F a, F b) {
  if constexpr (kLanes == 1) return a * select(m, b, all(1.0f));
  return select(m, a * b, a);
}
RHYTHM_INLINE Meters add_where(M m, Meters a, Meters b) {
  return {add_where(m, a.v, b.v), add_where(m, a.c, b.c), add_where(m, a.p, b.p), add_where(m, a.s, b.s),
          add_where(m, a.n, b.n)};
}

// Rules 1 and 2: the effect on this person. `d` comes with the action's effect, its progress scaled by vitality.
RHYTHM_INLINE Meters respond(const Tables& w, const Person& who, const Focus& works, const Tagged& is, const Meters& m,
                             Meters d) {
  d.p = multiply_where(is.productive, d.p, works.focus);
  d.c = add_where(is.productive, d.c, works.cognition);
  d.v = multiply_where(is.social, d.v, who.social_vitality_multiplier);
  d.v = add_where(is.productive, d.v, who.work_vitality_recovery);
  d.s = add_where(is.productive, d.s, who.progress_serenity_bonus);
  d.s = add_where(is.social, d.s, who.social_serenity_bonus);
  d.s = add_where(is.solo, d.s, who.solo_serenity_bonus);
  d.s = subtract_where(is.guilty, d.s, who.leisure_guilt);
  return add_where(m.s < who.stress_threshold, d, all(w.f + block::Stress));
}

template <class Time>
RHYTHM_INLINE Meters effect_of(const Tables& w, Time now, const Tagged& is, const Meters& m, U action) {
  Meters d = by_slot(now, [&](int slot) { return lookup(w.effect[slot], action); });
  const F vigour = all(w.f[block::VitalityFactorBase]) + all(w.f[block::VitalityFactorSlope]) * m.v;
  d.p = multiply_where(is.productive, d.p, vigour);
  return d;
}

// Ten bits n of a word as (n + 0.5) / 512 - 1: put under the exponent of 2 they are 2 + (n + 0.5) / 512, exactly.
template <int Field>
RHYTHM_INLINE F luck_field(U word) {
  constexpr int at = 13 - 10 * Field;
  U n = word;
  if constexpr (at > 0) n = word << at;
  if constexpr (at < 0) n = word >> -at;
  return float_bits(and_or(n, all(0x3ffu << 13), all(0x40000000u | 1u << 12))) - (all(2.0f) + all(1.0f));
}

// Rule 3: six symmetric numbers.
struct Luck {
  Meters meters;
  F reward;
};
RHYTHM_INLINE Luck luck_of(const Tables& w, Draw y) {
  const Meters z = {luck_field<0>(y.x0), luck_field<1>(y.x0), luck_field<2>(y.x0), luck_field<0>(y.x1),
                    luck_field<1>(y.x1)};
  return {all(w.f + block::NoiseMeters) * z, all(w.f[block::NoiseReward]) * luck_field<2>(y.x1)};
}

// Rule 6: the event's code, or count::Events for none.
RHYTHM_INLINE U event_of(const Tables& w, Draw x) {
  const U none = all(static_cast<uint32_t>(count::Events));
  return select(x.x0 < all(w.u[block::EventThreshold]), below(x.x1, count::Events), none);
}

RHYTHM_INLINE U count_below(const Meters& m, F threshold) {
  const U one = all(1u);
  U low = select(m.v < threshold, one, all(0u));
  low = select(m.c < threshold, low + one, low);
  low = select(m.p < threshold, low + one, low);
  low = select(m.s < threshold, low + one, low);
  return select(m.n < threshold, low + one, low);
}

// Rule 8, before luck.
RHYTHM_INLINE F reward_of(const Tables& w, const Person& who, const Meters& delta, U low) {
  const Meters term = who.reward_weights * delta;
  const F sum = (((term.v + term.c) + term.p) + term.s) + term.n;
  return (all(w.f[block::RewardScale]) * sum) - (all(w.f[block::CrashPenalty]) * to_float(low));
}

// What of an episode changes from step to step.
struct Life {
  Meters meters;
  F early, late;
  U crashes;
};
RHYTHM_INLINE Life select(M m, const Life& a, const Life& b) {
  return {select(m, a.meters, b.meters), select(m, a.early, b.early), select(m, a.late, b.late),
          select(m, a.crashes, b.crashes)};
}

// What a step shows.
struct Moment {
  Meters delta, anomaly;
  F reward;
  U event;
};

RHYTHM_INLINE void add_reward(SameTime now, F r, Life& life) {
  if (now.t < count::Steps / 2) {
    life.early = life.early + r;
  } else {
    life.late = life.late + r;
  }
}
RHYTHM_INLINE void add_reward(OwnTime now, F r, Life& life) {
  const M first_half = now.t < all(static_cast<uint32_t>(count::Steps / 2));
  life.early = select(first_half, life.early + r, life.early);
  life.late = select(first_half, life.late, life.late + r);
}

// What a step leaves to chance. It depends on seed and time alone.
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

// One step of the rules, but for beliefs and the grade. What a caller does not read of the result costs nothing.
template <class Time>
RHYTHM_INLINE Moment live(const Tables& w, const Person& who, const Focus& works, Time now, const Fate& fate, U action,
                          Life& life) {
  const Tagged is = tags_of(w, action);
  const Meters effect = effect_of(w, now, is, life.meters, action);
  const Luck luck = luck_of(w, fate.noise);
  Meters d = respond(w, who, works, is, life.meters, effect) + luck.meters;
  Moment moment;
  const auto neutral = neutral_of(w);
  const Focus neutral_works = by_slot(now, [&](int slot) { return focus_in(w, slot, neutral); });
  moment.anomaly = d - respond(w, make_person(w, neutral), neutral_works, is, life.meters, effect);
  d = d - who.decay;
  moment.event = event_of(w, fate.event);
  d = d + lookup(w.event_effect, moment.event) * who.event_impact;
  const Meters moved = clamp01(life.meters + d);
  moment.delta = moved - life.meters;
  life.meters = moved;
  const U low = count_below(moved, all(w.f[block::CrashThreshold]));
  life.crashes = life.crashes + low;
  const F r = reward_of(w, who, moment.delta, low);
  add_reward(now, r, life);
  moment.reward = r + luck.reward;
  return moment;
}
