// What a batch shows: observations and grades.
// Included inside a kernel's namespace, see kernel.inl.

struct Shown {
  F event, last_action, reward;
  Meters delta, anomaly;
};

RHYTHM_INLINE Shown nothing_shown() {
  const F zero = all(0.0f), none = zero - all(1.0f);
  const Meters still = {zero, zero, zero, zero, zero};
  return {none, none, zero, still, still};
}
RHYTHM_INLINE Shown select(M m, const Shown& a, const Shown& b) {
  return {select(m, a.event, b.event), select(m, a.last_action, b.last_action), select(m, a.reward, b.reward),
          select(m, a.delta, b.delta), select(m, a.anomaly, b.anomaly)};
}

// As shown: -1 for none.
RHYTHM_INLINE F event_code(U event) {
  return to_float(select(event == all(static_cast<uint32_t>(count::Events)), all(~0u), event));
}

RHYTHM_INLINE Shown shown_of(const Moment& moment, U action) {
  return {event_code(moment.event), to_float(action), moment.reward, moment.delta, moment.anomaly};
}

// Several numbers a slot, rows or columns as the batch has them, for the lanes of `who`.
template <int Width>
RHYTHM_INLINE void put_numbers(const Slots& slots, float* array, const Group& g, M who, const F* columns) {
  const size_t stride = slots.out.column_stride;
  if (stride != 0) return put_columns<Width>(array + g.first, stride, who, columns);
  float* rows = array + static_cast<size_t>(g.first) * Width;
  if constexpr (Width >= kLanes) {
    if (!any(!who)) return put_whole_rows<Width>(rows, columns);
  }
  put_rows<Width>(rows, Width, bits_of(who), columns);
}

RHYTHM_INLINE void observe(const Slots& slots, const Group& g, M who, U t, const Meters& m, const Shown& shown) {
  const Meters &d = shown.delta, &a = shown.anomaly;
  const U slot = t & all(static_cast<uint32_t>(count::Slots - 1));
  static_assert(count::Slots == 4, "a day is t >> 2");
  const F columns[count::ObservationFloats] = {
      to_float(t), to_float(t >> 2), to_float(slot), all(static_cast<float>(count::Steps)) - to_float(t),
      m.v, m.c, m.p, m.s, m.n, shown.event, shown.last_action, shown.reward,
      d.v, d.c, d.p, d.s, d.n, a.v, a.c, a.p, a.s, a.n};
  static_assert(observation::Meters == 4 && observation::Event == 9 && observation::LastAction == 10 &&
                observation::Reward == 11 && observation::Deltas == 12 && observation::Anomalies == 17);
  put_numbers<count::ObservationFloats>(slots, slots.out.observations, g, who, columns);
}

// What an episode leaves: its grade, and the sum of its rewards.
RHYTHM_INLINE void put_result(const Slots& slots, const Group& g, M who, const Grade& grade, F earned, int length) {
  const uint32_t lanes = bits_of(who);
  put_numbers<count::Components>(slots, slots.out.components, g, who, grade.components);
  put_columns<1>(slots.out.final_scores + g.first, 0, who, &grade.final_score);
  put_columns<1>(slots.out.belief_mae + g.first, 0, who, &grade.belief_mae);
  put_columns<1>(slots.out.episode_returns + g.first, 0, who, &earned);
  for (int i = 0; i < kLanes; i++) {
    if (!(lanes >> i & 1)) continue;
    slots.out.episode_lengths[g.first + i] = length;
    slots.out.terminated[g.first + i] = length == count::Steps;
  }
}
RHYTHM_INLINE void show_result(const Slots& slots, const Group& g, M who, const Grade& grade, F earned) {
  put_result(slots, g, who, grade, earned, count::Steps);
}
RHYTHM_INLINE void hide_result(const Slots& slots, const Group& g, M who) {
  if (!any(who)) return;
  const F zero = all(0.0f);
  put_result(slots, g, who, {{zero, zero, zero, zero, zero, zero}, zero, zero}, zero, 0);
}

RHYTHM_INLINE Grade grade_group(const Slots& slots, const Group& g, const Life& life) {
  const Beliefs target = targets_of(*slots.tables, profile_of(g));
  const M given = g.word(state::Given) == all(1u);
  return grade_of(*slots.tables, life, beliefs_of(g), given, target,
                  [&](int k) { return g.number(state::Grader + k); });
}
