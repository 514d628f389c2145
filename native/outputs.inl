// Writes the outputs of a batch: observations and grades.
// Included inside a kernel's namespace, see kernel.inl.

// The part of an observation that comes from the last step.
struct LastStep {
  F event, last_action, reward;
  Meters delta, anomaly;
};

// Returns the last step of an episode that has taken no step: no event, no action, zeros.
RHYTHM_INLINE LastStep no_last_step() {
  const F zero = broadcast(0.0f), none = broadcast(-1.0f);
  const Meters zeros = {zero, zero, zero, zero, zero};
  return {none, none, zero, zeros, zeros};
}
RHYTHM_INLINE LastStep select(M m, const LastStep& a, const LastStep& b) {
  return {select(m, a.event, b.event), select(m, a.last_action, b.last_action), select(m, a.reward, b.reward),
          select(m, a.delta, b.delta), select(m, a.anomaly, b.anomaly)};
}

RHYTHM_INLINE LastStep last_step_of(const Tables& w, const Transition& transition, U action) {
  return {lookup_eight(w.observed_event, transition.event), to_float(action), transition.reward, transition.delta,
          transition.anomaly};
}

// The four fields of an observation that describe the time. time.inl has the types of a time.
struct Clock {
  F step, day, slot, remaining;
};
RHYTHM_INLINE Clock clock_of(const Tables& w, SharedTime now) {
  const float* numbers = w.clock[now.t];
  return {broadcast(numbers[0]), broadcast(numbers[1]), broadcast(numbers[2]), broadcast(numbers[3])};
}
RHYTHM_INLINE Clock clock_of(const Tables&, LaneTimes now) {
  static_assert(count::Slots == 4, "a day is t >> 2");
  const F step = to_float(now.t);
  return {step, to_float(now.t >> 2), to_float(now.t & broadcast(3u)), broadcast(static_cast<float>(count::Steps)) - step};
}

// Stores `Width` numbers per environment, as rows or columns according to the batch's layout, for the active lanes.
template <int Width>
RHYTHM_INLINE void put_numbers(const Envs& envs, float* array, const Group& g, M active, const F* columns) {
  const size_t stride = envs.out.column_stride;
  if (stride != 0) return put_columns<Width>(array + g.first, stride, active, columns);
  float* rows = array + static_cast<size_t>(g.first) * Width;
  if (!any(!active)) return put_whole_rows<Width>(rows, columns);
  put_rows<Width>(rows, active, columns);
}

// Stores the observations of the active lanes.
template <class Time>
RHYTHM_INLINE void observe(const Envs& envs, const Group& g, M active, Time now, const Meters& m, const LastStep& last_step) {
  if (envs.out.observations == nullptr) return;
  const Meters &d = last_step.delta, &a = last_step.anomaly;
  const Clock clock = clock_of(*envs.tables, now);
  const F columns[count::ObservationFloats] = {
      clock.step, clock.day, clock.slot, clock.remaining,
      m.v, m.c, m.p, m.s, m.n, last_step.event, last_step.last_action, last_step.reward,
      d.v, d.c, d.p, d.s, d.n, a.v, a.c, a.p, a.s, a.n};
  static_assert(observation::Meters == 4 && observation::Event == 9 && observation::LastAction == 10 &&
                observation::Reward == 11 && observation::Deltas == 12 && observation::Anomalies == 17);
  put_numbers<count::ObservationFloats>(envs, envs.out.observations, g, active, columns);
}

// Stores the grades, returns and lengths of the active lanes' episodes, and whether they have terminated.
RHYTHM_INLINE void put_grade(const Envs& envs, const Group& g, M active, const Grade& grade, F episode_return, int length) {
  if (envs.out.components == nullptr) return;
  const uint32_t active_bits = lane_bits(active);
  put_numbers<count::Components>(envs, envs.out.components, g, active, grade.components);
  put_where(envs.out.final_scores + g.first, active, grade.final_score);
  put_where(envs.out.belief_mae + g.first, active, grade.belief_mae);
  put_where(envs.out.first_half_means + g.first, active, grade.first_half_mean);
  put_where(envs.out.second_half_means + g.first, active, grade.second_half_mean);
  put_where(envs.out.episode_returns + g.first, active, episode_return);
  put_where(reinterpret_cast<uint32_t*>(envs.out.episode_lengths) + g.first, active, broadcast(static_cast<uint32_t>(length)));
  const uint8_t over = length == count::Steps;
  if (!any(!active)) {
    std::memset(envs.out.terminated + g.first, over, kLanes);
    return;
  }
  for (int i = 0; i < kLanes; i++) {
    if (active_bits >> i & 1) envs.out.terminated[g.first + i] = over;
  }
}
RHYTHM_INLINE void clear_grade(const Envs& envs, const Group& g, M active) {
  if (!any(active)) return;
  const F zero = broadcast(0.0f);
  put_grade(envs, g, active, {{zero, zero, zero, zero, zero, zero, zero, zero}, zero, zero, zero, zero}, zero, 0);
}

// Prefetches the memory of the observations and components, which the end of a run will write.
RHYTHM_INLINE void prefetch_outputs(const Envs& envs, const Group& g) {
  const size_t stride = envs.out.column_stride;
  const auto prefetch_numbers = [&](const float* array, size_t width) {
    if (stride == 0) return prefetch(array + static_cast<size_t>(g.first) * width, width * kLanes * sizeof(float));
    // One byte fetches a cache line of 64 bytes. No kernel has more than 16 lanes, whose floats take 64 bytes.
    for (size_t k = 0; k < width; k++) prefetch(array + k * stride + g.first, 1);
  };
  prefetch_numbers(envs.out.observations, count::ObservationFloats);
  prefetch_numbers(envs.out.components, count::Components);
}

// Clears the final observations.
RHYTHM_INLINE void clear_final(const Envs& envs, const Group& g) {
  if (envs.out.final_observations == nullptr) return;
  F zeros[count::ObservationFloats];
  for (F& zero : zeros) zero = broadcast(0.0f);
  put_numbers<count::ObservationFloats>(envs, envs.out.final_observations, g, g.present(), zeros);
}

RHYTHM_INLINE Grade grade_group(const Envs& envs, const Group& g, const EpisodeState& episode) {
  const Beliefs target = targets_of(*envs.tables, profile_floats(g));
  const M given = g.word(state::Given) == broadcast(1u);
  return grade_of(*envs.tables, episode, beliefs_of(g), given, g.number(state::Skill), target,
                  [&](int k) { return g.number(state::Grader + k); });
}

// Grades the episodes that ended and stores their results. Adds the terminal term to their last reward, and returns the
// term. `sum_before` is the sum of the rewards before the last.
RHYTHM_INLINE F end_episodes(const Envs& envs, const Group& g, M ended, const EpisodeState& episode, F sum_before,
                             F& reward) {
  const Grade grade = grade_group(envs, g, episode);
  const F terminal = terminal_reward(*envs.tables, grade.final_score);
  reward = select(ended, reward + terminal, reward);
  put_grade(envs, g, ended, grade, sum_before + reward, count::Steps);
  return terminal;
}
