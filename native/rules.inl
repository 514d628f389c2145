// Rules 1 to 8 of a step in C++ (docs/world.md, One step), in the order in which they are numbered there. They are written
// once for all kernels, with a kernel's lane types: F (floats), U (words) and M (masks) of kLanes episodes. Every +, - and *
// rounds once, in the order of that page.
// Included inside a kernel's namespace (kernel.inl), and in neutral.cc.

// The part of an episode's state that rules 1 to 8 change.
struct EpisodeState {
  Meters meters;
  F early, late;
  F well;
  U crashes;
};
RHYTHM_INLINE EpisodeState select(M m, const EpisodeState& a, const EpisodeState& b) {
  return {select(m, a.meters, b.meters), select(m, a.early, b.early), select(m, a.late, b.late),
          select(m, a.well, b.well), select(m, a.crashes, b.crashes)};
}

// The result of a step.
struct Transition {
  Meters delta, anomaly;
  F noiseless_reward;  // the grade uses this reward
  F reward;
  U event;
};

// The focus in one slot of the day: a factor of progress, and an addition to cognition (rule 2).
struct Focus {
  F factor, cognition;
};
RHYTHM_INLINE Focus select(M m, const Focus& a, const Focus& b) {
  return {select(m, a.factor, b.factor), select(m, a.cognition, b.cognition)};
}
// Returns the focus of the profile whose k-th float is `float_of(k)`.
template <class FloatOf>
RHYTHM_INLINE Focus focus_in(const Tables& w, int slot, FloatOf float_of) {
  const F focus = slot == 0 ? float_of(trait::MorningFocus) : slot == 1 ? broadcast(1.0f) : float_of(trait::NightFocus);
  return {focus, broadcast(w.f[block::FocusCognition]) * (focus - broadcast(1.0f))};
}

// The part of a profile that the rules read, without its focus.
struct Profile {
  F social_vitality_multiplier, social_serenity_bonus, work_vitality_recovery, progress_serenity_bonus,
      solo_serenity_bonus, leisure_guilt, stress_threshold, event_impact;
  Meters decay;           // rule 5: the world's decay; the decay of vitality is multiplied by the metabolic rate
  Meters weights;         // rule 7: the reward weights
  Meters biased_weights;  // rule 8: the reward weights plus the reward's bias
};

template <class FloatOf>
RHYTHM_INLINE Profile make_profile(const Tables& w, FloatOf float_of) {
  Profile profile;
  profile.social_vitality_multiplier = float_of(trait::SocialVitalityMultiplier);
  profile.social_serenity_bonus = float_of(trait::SocialSerenityBonus);
  profile.work_vitality_recovery = float_of(trait::WorkVitalityRecovery);
  profile.progress_serenity_bonus = float_of(trait::ProgressSerenityBonus);
  profile.solo_serenity_bonus = float_of(trait::SoloSerenityBonus);
  profile.leisure_guilt = float_of(trait::LeisureGuilt);
  profile.stress_threshold = float_of(trait::StressThreshold);
  profile.event_impact = float_of(trait::EventImpact);
  profile.decay = broadcast(w.f + block::Decay);
  profile.decay.v = profile.decay.v * float_of(trait::MetabolicRate);
  constexpr int W = count::Traits;  // the weights follow the traits
  profile.weights = {float_of(W), float_of(W + 1), float_of(W + 2), float_of(W + 3), float_of(W + 4)};
  profile.biased_weights = profile.weights + broadcast(w.f + block::RewardBias);
  return profile;
}

// The tags of each lane's action. Bit a of the block's word for a tag is 1 if action a has the tag.
struct ActionTags {
  M productive, social, solo, guilty;
};
RHYTHM_INLINE ActionTags tags_of(const Tables& w, U action) {
  const U bit = shift_left(broadcast(1u), action);
  const uint32_t* tagged = w.u + block::Tagged;
  return {intersects(bit, broadcast(tagged[world::tag::Productive])), intersects(bit, broadcast(tagged[world::tag::Social])),
          intersects(bit, broadcast(tagged[world::tag::Solo])), intersects(bit, broadcast(tagged[world::tag::Guilty]))};
}

// Return `a` op `b` where `m` is set, else `a`. Registers of many lanes use a mask. A single number uses a neutral operand (-0
// for addition, 0 for subtraction, 1 for multiplication), whose selection does not wait for the value of `a`.
RHYTHM_INLINE F add_where(M m, F a, F b) {
  if constexpr (kLanes == 1) return a + select(m, b, broadcast(-0.0f));
  return select(m, a + b, a);
}
RHYTHM_INLINE F subtract_where(M m, F a, F b) {
  if constexpr (kLanes == 1) return a - select(m, b, broadcast(0.0f));
  return select(m, a - b, a);
}
RHYTHM_INLINE F multiply_where(M m, F a, F b) {
  if constexpr (kLanes == 1) return a * select(m, b, broadcast(1.0f));
  return select(m, a * b, a);
}
RHYTHM_INLINE Meters add_where(M m, Meters a, Meters b) {
  return {add_where(m, a.v, b.v), add_where(m, a.c, b.c), add_where(m, a.p, b.p), add_where(m, a.s, b.s),
          add_where(m, a.n, b.n)};
}

// Rule 1: effect.
template <class Time>
RHYTHM_INLINE Meters effect_of(const Tables& w, Time now, U action) {
  return by_slot(now, [&](int slot) { return lookup(w.effect[slot], action); });
}

// Rule 2: response. It has three parts. The first, the factor of vitality (vigour), is the same for every profile.
RHYTHM_INLINE Meters with_vigour(const Tables& w, const ActionTags& is, const Meters& m, Meters d) {
  const F vigour = broadcast(w.f[block::VitalityFactorBase]) + broadcast(w.f[block::VitalityFactorSlope]) * m.v;
  d.p = multiply_where(is.productive, d.p, vigour);
  return d;
}
// The second part: the traits.
RHYTHM_INLINE Meters with_traits(const Profile& profile, const Focus& focus, const ActionTags& is, Meters d) {
  d.p = multiply_where(is.productive, d.p, focus.factor);
  d.c = add_where(is.productive, d.c, focus.cognition);
  d.v = multiply_where(is.social, d.v, profile.social_vitality_multiplier);
  d.v = add_where(is.productive, d.v, profile.work_vitality_recovery);
  d.s = add_where(is.productive, d.s, profile.progress_serenity_bonus);
  d.s = add_where(is.social, d.s, profile.social_serenity_bonus);
  d.s = add_where(is.solo, d.s, profile.solo_serenity_bonus);
  d.s = subtract_where(is.guilty, d.s, profile.leisure_guilt);
  return d;
}
// The third part: stress.
RHYTHM_INLINE Meters with_stress(const Tables& w, F threshold, const Meters& m, Meters d) {
  return add_where(m.s < threshold, d, broadcast(w.f + block::Stress));
}

// Rule 3: noise. Returns (n + 0.5) / 512 - 1 for the ten bits n of a word from bit First on. The bits become a part of the
// mantissa of the float 2^exponent + (n + 0.5) / 512: bit First - 1 is set for the 0.5. Subtracting 2^exponent + 1 is exact.
template <int First>
RHYTHM_INLINE F noise_field(U word) {
  constexpr int exponent = 14 - First;
  const U scaled = and_or(word, broadcast(0x3ffu << First), broadcast((127u + exponent) << 23 | 1u << (First - 1)));
  return as_floats(scaled) - broadcast(static_cast<float>((1 << exponent) + 1));
}
// The first, second and third ten bits of a word. noise_field needs ten bits between bits 1 and 22 of a word, where a float has
// its mantissa. The second ten bits lie there. One rotation moves the first and the third there.
struct NoiseFields {
  F first, second, third;
};
RHYTHM_INLINE NoiseFields noise_fields(U word) {
  const U rotated = rotate_left<13>(word);
  return {noise_field<13>(rotated), noise_field<10>(word), noise_field<1>(rotated)};
}
struct Noise {
  Meters meters;
  F reward;  // rule 8
};
RHYTHM_INLINE Noise noise_of(const Tables& w, Draw draw) {
  const NoiseFields a = noise_fields(draw.x0), b = noise_fields(draw.x1);
  const Meters z = {a.first, a.second, a.third, b.first, b.second};
  return {broadcast(w.f + block::NoiseMeters) * z, broadcast(w.f[block::NoiseReward]) * b.third};
}

// Rule 4: anomaly. Returns the result of rules 1 and 2 for the neutral profile. The part that does not depend on the state is
// a table: see neutral.h.
template <class Time>
RHYTHM_INLINE Meters neutral_response_of(const Tables& w, Time now, const ActionTags& is, const Meters& m, U action,
                                         const Meters& vigorous) {
  Meters d = by_slot(now, [&](int slot) {
    Meters response = lookup(w.neutral[slot], action);
    response.p = multiply_where(is.productive, vigorous.p, broadcast(w.neutral_focus[slot]));
    response.n = vigorous.n;  // no trait changes it
    return response;
  });
  return with_stress(w, broadcast(w.f[block::TraitNeutral + trait::StressThreshold]), m, d);
}

// Rule 6: event. Returns the event's code, or count::Events for no event, whose effect in the table is 0.
RHYTHM_INLINE U event_of(const Tables& w, Draw x) {
  const U none = broadcast(static_cast<uint32_t>(count::Events));
  return select(x.x0 < broadcast(w.u[block::EventThreshold]), below(x.x1, count::Events), none);
}

// Rule 7: meters. Returns how many meters are below the threshold.
RHYTHM_INLINE U count_below(const Meters& m, F threshold) {
  const U one = broadcast(1u);
  U low = select(m.v < threshold, one, broadcast(0u));
  low = select(m.c < threshold, low + one, low);
  low = select(m.p < threshold, low + one, low);
  low = select(m.s < threshold, low + one, low);
  return select(m.n < threshold, low + one, low);
}

// Rules 7 and 8. Returns the weighted sum of five numbers.
RHYTHM_INLINE F weighted_sum(const Meters& weights, const Meters& numbers) {
  const Meters term = weights * numbers;
  return (((term.v + term.c) + term.p) + term.s) + term.n;
}

// Rule 8: reward. Returns the reward without noise.
RHYTHM_INLINE F reward_of(const Tables& w, const Profile& profile, const Meters& delta, U low) {
  const F sum = weighted_sum(profile.biased_weights, delta);
  return (broadcast(w.f[block::RewardScale]) * sum) - (broadcast(w.f[block::CrashPenalty]) * to_float(low));
}
// Rule 8: reward. Adds the reward without noise to the sum of its half.
RHYTHM_INLINE void add_reward(SharedTime now, F r, EpisodeState& episode) {
  if (now.t < count::Steps / 2) {
    episode.early = episode.early + r;
  } else {
    episode.late = episode.late + r;
  }
}
RHYTHM_INLINE void add_reward(LaneTimes now, F r, EpisodeState& episode) {
  const M first_half = now.t < broadcast(static_cast<uint32_t>(count::Steps / 2));
  episode.early = select(first_half, episode.early + r, episode.early);
  episode.late = select(first_half, episode.late, episode.late + r);
}

// Rules 1 to 8. The caller adds the noiseless reward to its half (add_reward), applies beliefs (rule 9) and
// advances the time (rule 10). The compiler removes results that the caller does not read.
template <class Time>
RHYTHM_INLINE Transition step_episode(const Tables& w, const Profile& profile, const Focus& focus, Time now,
                                      const Draws& draws, U action, EpisodeState& episode) {
  Transition transition;
  const ActionTags is = tags_of(w, action);
  // Rule 1: effect.
  const Meters effect = effect_of(w, now, action);
  // Rule 2: response.
  const Meters vigorous = with_vigour(w, is, episode.meters, effect);
  Meters d = with_traits(profile, focus, is, vigorous);
  d = with_stress(w, profile.stress_threshold, episode.meters, d);
  // Rule 3: noise.
  const Noise noise = noise_of(w, draws.noise);
  d = d + noise.meters;
  // Rule 4: anomaly.
  transition.anomaly = d - neutral_response_of(w, now, is, episode.meters, action, vigorous);
  // Rule 5: decay.
  d = d - profile.decay;
  // Rule 6: event.
  transition.event = event_of(w, draws.event);
  d = d + lookup_eight(w.event_effect, transition.event) * profile.event_impact;
  // Rule 7: meters.
  const Meters moved = clamp01(episode.meters + d);
  transition.delta = moved - episode.meters;
  episode.meters = moved;
  const U low = count_below(moved, broadcast(w.f[block::CrashThreshold]));
  episode.crashes = episode.crashes + low;
  episode.well = episode.well + weighted_sum(profile.weights, moved);
  // Rule 8: reward.
  transition.noiseless_reward = reward_of(w, profile, transition.delta, low);
  transition.reward = transition.noiseless_reward + noise.reward;
  return transition;
}
