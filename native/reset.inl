// Begins episodes.
// Included inside a kernel's namespace, see kernel.inl.

// Stores the profiles of the active lanes by mode: sampled, discrete or given. Given profiles stay if the reset has none.
RHYTHM_INLINE void put_profile(const Envs& envs, const Reset& r, const Group& g, M active, U seed) {
  const Tables& w = *envs.tables;
  const U profile_mode = g.word(state::Mode);
  const M sampled = active & (profile_mode == broadcast(static_cast<uint32_t>(mode::Sampled)));
  const M discrete = active & (profile_mode == broadcast(static_cast<uint32_t>(mode::Discrete)));
  const M given = active & (profile_mode == broadcast(static_cast<uint32_t>(mode::Given)));
  F profile[count::ProfileFloats];
  const auto put = [&](M lanes) {
    for (int k = 0; k < count::ProfileFloats; k++) g.put_where(lanes, state::Profile + k, profile[k]);
  };
  if (any(sampled)) sample_profile(w, seed, profile), put(sampled);
  if (any(discrete)) discrete_profile(w, seed, profile), put(discrete);
  if (r.profiles != nullptr && any(given)) {
    for (int k = 0; k < count::ProfileFloats; k++) profile[k] = column_at(r.profiles, count::ProfileFloats, k, g);
    put(given);
  }
}

// Stores the first belief, whether one was given, and the belief skill.
RHYTHM_INLINE void put_first_beliefs(const Reset& r, const Group& g, M active) {
  const bool has_beliefs = r.start != nullptr && r.start->beliefs != nullptr;
  const bool has_skill = r.start != nullptr && r.start->skill != nullptr;
  g.put_where(active, state::Skill, has_skill ? column_at(r.start->skill, 1, 0, g) : broadcast(0.0f));
  for (int k = 0; k < count::Beliefs; k++) {
    g.put_where(active, state::Belief + k, has_beliefs ? column_at(r.start->beliefs, count::Beliefs, k, g) : broadcast(0.5f));
  }
  g.put_where(active, state::Given, has_beliefs ? bytes_at(r.start->given, g) : broadcast(0u));
}

// Begins the episodes of the active lanes at `now`, in the given state.
template <class Time>
RHYTHM_INLINE void begin_lanes(const Envs& envs, const Reset& r, const Group& g, M active, Time now,
                               const EpisodeState& episode, F reward_sum) {
  const U seed = words_at(r.seeds, g);
  if (r.modes != nullptr) g.put_where(active, state::Mode, bytes_at(r.modes, g));
  put_profile(envs, r, g, active, seed);
  g.put_where(active, state::Seed, seed);
  put_episode(g, select(active, episode, episode_of(g)));
  g.put_where(active, state::Return, reward_sum);
  g.put_where(active, state::Step, steps_of(now));
  for (int k = 0; k < count::TapeWords; k++) g.put_where(active, state::Tape + k, broadcast(0u));
  put_first_beliefs(r, g, active);
  if (r.graders != nullptr) {
    for (int k = 0; k < count::Components; k++) {
      g.put_where(active, state::Grader + k, column_at(r.graders, count::Components, k, g));
    }
  }
  g.put_where(active, state::Began, steps_of(now));
  const F meters[] = {episode.meters.v, episode.meters.c, episode.meters.p, episode.meters.s, episode.meters.n};
  for (int k = 0; k < count::Meters; k++) g.put_where(active, state::FirstMeters + k, meters[k]);
  observe(envs, g, active, now, episode.meters, no_last_step());
  // In a reset that follows a step (`after_step`), lanes that took the step keep its reward and grade.
  const M cleared = r.after_step ? active & !mask_at(r.stepped, g) : active;
  put_where(envs.out.rewards + g.first, cleared, broadcast(0.0f));
  clear_grade(envs, g, cleared);
}

// Begins episodes at later steps. Not inlined, so that the common case stays small.
__attribute__((noinline)) void begin_later(const Envs& envs, const Reset& r, const Group& g, M active) {
  const Start& start = *r.start;
  const auto meter = [&](int k) { return column_at(start.meters, count::Meters, k, g); };
  const auto sum = [&](const float* sums) { return sums == nullptr ? broadcast(0.0f) : column_at(sums, 1, 0, g); };
  const EpisodeState episode = {{meter(0), meter(1), meter(2), meter(3), meter(4)},
                                sum(start.early),
                                sum(start.late),
                                sum(start.well),
                                start.crashes == nullptr ? broadcast(0u) : bytes_at(start.crashes, g)};
  begin_lanes(envs, r, g, active, LaneTimes{bytes_at(start.steps, g)}, episode, sum(start.returns));
}

RHYTHM_INLINE void reset_group(const Envs& envs, const Reset& r, const Group& g) {
  const M active = mask_at(r.mask, g);
  if (!r.after_step) put_flags(envs.out.final_mask, g, broadcast(false));
  if (!any(active)) return;
  if (r.start != nullptr) return begin_later(envs, r, g, active);
  const F zero = broadcast(0.0f);
  const EpisodeState episode = {broadcast(envs.tables->f + block::InitialMeters), zero, zero, zero, broadcast(0u)};
  begin_lanes(envs, r, g, active, SharedTime{0}, episode, zero);
}

void reset(const Envs& envs, const Reset& r, size_t first_tile, size_t last_tile) {
  each_group(envs, first_tile, last_tile, [&](const Group& g) { reset_group(envs, r, g); });
}
