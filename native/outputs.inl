// Writes the outputs of a batch: observations and grades.
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

RHYTHM_INLINE Shown shown_of(const Tables& w, const Transition& transition, U action) {
  return {lookup(w.shown_event, transition.event), to_float(action), transition.reward, transition.delta,
          transition.anomaly};
}

// The time as in an observation.
struct Clock {
  F step, day, slot, remaining;
};
RHYTHM_INLINE Clock clock_of(const Tables& w, SameTime now) {
  const float* numbers = w.clock[now.t];
  return {all(numbers[0]), all(numbers[1]), all(numbers[2]), all(numbers[3])};
}
RHYTHM_INLINE Clock clock_of(const Tables&, OwnTime now) {
  static_assert(count::Slots == 4, "a day is t >> 2");
  const F step = to_float(now.t);
  return {step, to_float(now.t >> 2), to_float(now.t & all(3u)), all(static_cast<float>(count::Steps)) - step};
}

// Stores `Width` numbers per slot, as rows or columns according to the batch's layout, for the lanes of `who`.
template <int Width>
RHYTHM_INLINE void put_numbers(const Slots& slots, float* array, const Group& g, M who, const F* columns) {
  const size_t stride = slots.out.column_stride;
  if (stride != 0) return put_columns<Width>(array + g.first, stride, who, columns);
  float* rows = array + static_cast<size_t>(g.first) * Width;
  if (!any(!who)) return put_whole_rows<Width>(rows, columns);
  put_rows<Width>(rows, who, columns);
}

template <class Time>
RHYTHM_INLINE void observe(const Slots& slots, const Group& g, M who, Time now, const Meters& m, const Shown& shown) {
  const Meters &d = shown.delta, &a = shown.anomaly;
  const Clock clock = clock_of(*slots.tables, now);
  const F columns[count::ObservationFloats] = {
      clock.step, clock.day, clock.slot, clock.remaining,
      m.v, m.c, m.p, m.s, m.n, shown.event, shown.last_action, shown.reward,
      d.v, d.c, d.p, d.s, d.n, a.v, a.c, a.p, a.s, a.n};
  static_assert(observation::Meters == 4 && observation::Event == 9 && observation::LastAction == 10 &&
                observation::Reward == 11 && observation::Deltas == 12 && observation::Anomalies == 17);
  put_numbers<count::ObservationFloats>(slots, slots.out.observations, g, who, columns);
}

// Stores an episode's result: its grade, the sum of its rewards, its length.
RHYTHM_INLINE void put_result(const Slots& slots, const Group& g, M who, const Grade& grade, F earned, int length) {
  const uint32_t lanes = bits_of(who);
  put_numbers<count::Components>(slots, slots.out.components, g, who, grade.components);
  put_where(slots.out.final_scores + g.first, who, grade.final_score);
  put_where(slots.out.belief_mae + g.first, who, grade.belief_mae);
  put_where(slots.out.early_means + g.first, who, grade.early_mean);
  put_where(slots.out.late_means + g.first, who, grade.late_mean);
  put_where(slots.out.episode_returns + g.first, who, earned);
  put_where(reinterpret_cast<uint32_t*>(slots.out.episode_lengths) + g.first, who, all(static_cast<uint32_t>(length)));
  const uint8_t over = length == count::Steps;
  if (!any(!who)) {
    std::memset(slots.out.terminated + g.first, over, kLanes);
    return;
  }
  for (int i = 0; i < kLanes; i++) {
    if (lanes >> i & 1) slots.out.terminated[g.first + i] = over;
  }
}
RHYTHM_INLINE void show_result(const Slots& slots, const Group& g, M who, const Grade& grade, F earned) {
  put_result(slots, g, who, grade, earned, count::Steps);
}
RHYTHM_INLINE void hide_result(const Slots& slots, const Group& g, M who) {
  if (!any(who)) return;
  const F zero = all(0.0f);
  put_result(slots, g, who, {{zero, zero, zero, zero, zero, zero}, zero, zero, zero, zero}, zero, 0);
}

// Prefetches the memory that the end of a run will write.
RHYTHM_INLINE void prefetch_shown(const Slots& slots, const Group& g) {
  const size_t stride = slots.out.column_stride;
  const auto ask = [&](const float* array, size_t width) {
    if (stride == 0) return prefetch(array + static_cast<size_t>(g.first) * width, width * kLanes * sizeof(float));
    for (size_t k = 0; k < width; k++) prefetch(array + k * stride + g.first, 1);
  };
  ask(slots.out.observations, count::ObservationFloats);
  ask(slots.out.components, count::Components);
}

RHYTHM_INLINE void forget_final(const Slots& slots, const Group& g) {
  if (slots.out.final_observations == nullptr) return;
  F zeros[count::ObservationFloats];
  for (F& zero : zeros) zero = all(0.0f);
  put_numbers<count::ObservationFloats>(slots, slots.out.final_observations, g, g.present(), zeros);
}

RHYTHM_INLINE Grade grade_group(const Slots& slots, const Group& g, const EpisodeState& episode) {
  const Beliefs target = targets_of(*slots.tables, profile_of(g));
  const M given = g.word(state::Given) == all(1u);
  return grade_of(*slots.tables, episode, beliefs_of(g), given, target,
                  [&](int k) { return g.number(state::Grader + k); });
}

// Grades the episodes that ended and stores their results. Adds the terminal term to their last reward and returns it.
RHYTHM_INLINE F end_episodes(const Slots& slots, const Group& g, M ended, const EpisodeState& episode, F earned_before,
                             F& reward) {
  const Grade grade = grade_group(slots, g, episode);
  const F terminal = terminal_reward(*slots.tables, grade.final_score);
  reward = select(ended, reward + terminal, reward);
  show_result(slots, g, ended, grade, earned_before + reward);
  return terminal;
}
