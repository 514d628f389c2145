// THE rules of a step in C++, written once over a lane type: F floats, U words, M masks of kLanes episodes.
// Every + - * rounds once, in the order of the world's page. Included inside a kernel's namespace, see kernel.inl.

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

// Rule 1, and what rule 2 does to everybody alike.
template <class Time>
RHYTHM_INLINE Meters effect_of(const Tables& w, Time now, const Tagged& is, const Meters& m, U action) {
  Meters d = by_slot(now, [&](int slot) { return lookup(w.effect[slot], action); });
  const F vigour = all(w.f[block::VitalityFactorBase]) + all(w.f[block::VitalityFactorSlope]) * m.v;
  d.p = multiply_where(is.productive, d.p, vigour);
  return d;
}

// What rule 2 makes of it for this person, but for stress.
RHYTHM_INLINE Meters personal(const Person& who, const Focus& works, const Tagged& is, Meters d) {
  d.p = multiply_where(is.productive, d.p, works.focus);
  d.c = add_where(is.productive, d.c, works.cognition);
  d.v = multiply_where(is.social, d.v, who.social_vitality_multiplier);
  d.v = add_where(is.productive, d.v, who.work_vitality_recovery);
  d.s = add_where(is.productive, d.s, who.progress_serenity_bonus);
  d.s = add_where(is.social, d.s, who.social_serenity_bonus);
  d.s = add_where(is.solo, d.s, who.solo_serenity_bonus);
  d.s = subtract_where(is.guilty, d.s, who.leisure_guilt);
  return d;
}
// The rest of rule 2.
RHYTHM_INLINE Meters stressed(const Tables& w, F threshold, const Meters& m, Meters d) {
  return add_where(m.s < threshold, d, all(w.f + block::Stress));
}

// Rule 2 for the neutral person. What the effect alone decides is known beforehand: see neutral.h.
template <class Time>
RHYTHM_INLINE Meters neutral_of(const Tables& w, Time now, const Tagged& is, const Meters& m, U action,
                                const Meters& effect) {
  Meters d = by_slot(now, [&](int slot) {
    Meters known = lookup(w.neutral[slot], action);
    known.p = multiply_where(is.productive, effect.p, all(w.neutral_focus[slot]));
    known.n = effect.n;
    return known;
  });
  return stressed(w, all(w.f[block::TraitNeutral + trait::StressThreshold]), m, d);
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
  F earned;  // before luck: what the grade counts
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

// One step of the rules, but for the sums of rewards, beliefs and the grade. What a caller does not read of the result
// costs nothing.
template <class Time>
RHYTHM_INLINE Moment live(const Tables& w, const Person& who, const Focus& works, Time now, const Fate& fate, U action,
                          Life& life) {
  const Tagged is = tags_of(w, action);
  const Meters effect = effect_of(w, now, is, life.meters, action);
  const Luck luck = luck_of(w, fate.noise);
  Meters d = stressed(w, who.stress_threshold, life.meters, personal(who, works, is, effect)) + luck.meters;
  Moment moment;
  moment.anomaly = d - neutral_of(w, now, is, life.meters, action, effect);
  d = d - who.decay;
  moment.event = event_of(w, fate.event);
  d = d + lookup(w.event_effect, moment.event) * who.event_impact;
  const Meters moved = clamp01(life.meters + d);
  moment.delta = moved - life.meters;
  life.meters = moved;
  const U low = count_below(moved, all(w.f[block::CrashThreshold]));
  life.crashes = life.crashes + low;
  moment.earned = reward_of(w, who, moment.delta, low);
  moment.reward = moment.earned + luck.reward;
  return moment;
}
