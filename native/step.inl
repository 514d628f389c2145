// Takes one step of a batch. SharedTime and LaneTimes: see time.inl.
// Included inside a kernel's namespace, see kernel.inl.

// Records an action in the state's field `tape`: four bits per action, eight actions per word.
RHYTHM_INLINE void record_action(const Group& g, SharedTime now, M, U action) {
  const int word = state::Tape + (now.t >> 3);
  g.put(word, g.word(word) | action << 4 * (now.t & 7));
}
RHYTHM_INLINE void record_action(const Group& g, LaneTimes now, M active, U action) {
  const U nibble = shift_left(action, (now.t & broadcast(7u)) << 2);
  for (int k = 0; k < count::TapeWords; k++) {
    const M here = active & ((now.t >> 3) == broadcast(static_cast<uint32_t>(k)));
    g.put_where(here, state::Tape + k, g.word(state::Tape + k) | nibble);
  }
}

// Adds a reward to the sum of the half that each lane is in. With SharedTime, does not access the sum of the other half.
RHYTHM_INLINE void add_reward(const Group& g, SharedTime now, M, F r) {
  const int half = now.t < count::Steps / 2 ? state::Early : state::Late;
  g.put(half, g.number(half) + r);
}
RHYTHM_INLINE void add_reward(const Group& g, LaneTimes now, M active, F r) {
  EpisodeState episode = episode_of(g);
  add_reward(now, r, episode);
  g.put_where(active, state::Early, episode.early);
  g.put_where(active, state::Late, episode.late);
}

// Returns whether the step at this time may be an episode's last.
RHYTHM_INLINE bool may_end(SharedTime now) { return now.t == count::Steps - 1; }
RHYTHM_INLINE bool may_end(LaneTimes) { return true; }

RHYTHM_INLINE void apply_beliefs(const Tables& w, const Step& s, const Group& g, M active) {
  const M given = active & mask_at(s.given, g);
  if (!any(given)) return;
  const auto column = [&](int k) { return clean_belief(w, column_at(s.beliefs, count::Beliefs, k, g)); };
  put_beliefs(g, given, {column(0), column(1), column(2)});
}

// Rule 9: belief. Adds the last belief's term to the state's `skill`, where a belief was given and step `t` counts.
RHYTHM_INLINE void add_skill(const Tables& w, const Group& g, M active, U t) {
  const M counts = active & (g.word(state::Given) == broadcast(1u)) & !(t < broadcast(w.u[block::BeliefSkillFrom]));
  if (!any(counts)) return;
  const F term = skill_term(w, beliefs_of(g), targets_of(w, profile_floats(g)));
  g.put_where(counts, state::Skill, g.number(state::Skill) + term);
}

// Steps all lanes, or with LaneTimes the active lanes.
template <class Time>
RHYTHM_INLINE void step_lanes(const Envs& envs, const Step& s, const Group& g, M active, Time now) {
  const Tables& w = *envs.tables;
  const EpisodeState before = episode_of(g);
  // The action of an environment that does not step may be any byte. Keep its low bits, so that it stays within the tables.
  const U action = bytes_at(s.actions, g) & broadcast(static_cast<uint32_t>(kTableWidth - 1));
  EpisodeState episode = before;
  const Draws draws = draws_of(w, g.word(state::Seed), now);
  const auto float_of = profile_floats(g);
  const Profile profile = make_profile(w, float_of);
  const Focus focus = by_slot(now, [&](int slot) { return focus_in(w, slot, float_of); });
  Transition transition = step_episode(w, profile, focus, now, draws, action, episode);
  if constexpr (std::is_same_v<Time, LaneTimes>) episode = select(active, episode, before);
  put_meters_and_counts(g, episode);
  add_reward(g, now, active, transition.noiseless_reward);
  record_action(g, now, active, action);
  // Rule 9: belief.
  if (s.given != nullptr) apply_beliefs(w, s, g, active);
  add_skill(w, g, active, steps_of(now));
  // Rule 10: time.
  const U t = steps_of(next(now));
  g.put_where(active, state::Step, t);
  const F sum_before = g.number(state::Return);
  M ended = broadcast(false);
  if (may_end(now)) {
    ended = active & (t == broadcast(static_cast<uint32_t>(count::Steps)));
    if (any(ended)) end_episodes(envs, g, ended, episode_of(g), sum_before, transition.reward);
  }
  g.put_where(active, state::Return, sum_before + transition.reward);
  put_flags(envs.out.final_mask, g, ended);
  put_floats(envs.out.rewards, g, select(active, transition.reward, broadcast(0.0f)));
  observe(envs, g, active, next(now), episode.meters, last_step_of(w, transition, action));
}

// Steps the active lanes, each at its own time. Not inlined: inlined, it would take registers from the steps of lanes that
// share a time.
__attribute__((noinline)) void step_lane_times(const Envs& envs, const Step& s, const Group& g, M active) {
  if (any(active)) return step_lanes(envs, s, g, active, LaneTimes{g.word(state::Step)});
  put_floats(envs.out.rewards, g, broadcast(0.0f));
  put_flags(envs.out.final_mask, g, broadcast(false));
}

RHYTHM_INLINE void step_group(const Envs& envs, const Step& s, const Group& g) {
  const M active = mask_at(s.mask, g);
  const uint32_t t0 = g.tile->words[state::Step][g.lane];
  const bool shared_time = !any(!active) && !any(!(g.word(state::Step) == broadcast(t0)));
  if (!shared_time) return step_lane_times(envs, s, g, active);
  const Group whole = {g.tile, g.lane, g.first, kLanes};
  step_lanes(envs, s, whole, broadcast(true), SharedTime{static_cast<int>(t0)});
}

// Returns whether every byte is an action's code. Checks four bytes per word: adding 128 - count::Actions to the low seven bits
// of a byte sets its highest bit if they are at least count::Actions. Bytes from 128 on have it set already.
bool all_legal(const uint8_t* codes, size_t length) {
  const auto repeat = [](uint32_t byte) { return broadcast(byte * 0x01010101u); };
  U wrong = broadcast(0u);
  size_t at = 0;
  for (; at + sizeof(U) <= length; at += sizeof(U)) {
    const U four = load(reinterpret_cast<const uint32_t*>(codes + at));
    wrong = wrong | four | ((four & repeat(0x7f)) + repeat(0x80 - count::Actions));
  }
  bool legal = !any(intersects(wrong, repeat(0x80)));
  for (; at < length; at++) legal = legal && codes[at] < count::Actions;
  return legal;
}

size_t find_refused(const Envs& envs, const Step& s, const uint8_t* resets, size_t first_tile, size_t last_tile,
                    uint32_t& latest) {
  U most = broadcast(0u);
  for (size_t tile = first_tile; tile < last_tile; tile++) {
    M wrong = broadcast(false);
    each_group(envs, tile, tile + 1, [&](const Group& g) __attribute__((always_inline)) {
      const U steps = g.word(state::Step);
      const M legal = bytes_at(s.actions, g) < broadcast(static_cast<uint32_t>(count::Actions));
      const M unfinished = steps < broadcast(static_cast<uint32_t>(count::Steps));
      wrong = wrong | (mask_at(s.mask, g) & !(legal & unfinished));
      M kept = g.present();
      if (resets != nullptr) kept = kept & !mask_at(resets, g);
      most = select(kept & (most < steps), steps, most);
    });
    if (any(wrong)) return tile;
  }
  uint32_t lanes[kLanes];
  store(lanes, most);
  latest = 0;
  for (const uint32_t steps : lanes) latest = latest < steps ? steps : latest;
  return last_tile;
}

void step(const Envs& envs, const Step& s, size_t first_tile, size_t last_tile) {
  each_group(envs, first_tile, last_tile,
             [&](const Group& g) __attribute__((always_inline)) { step_group(envs, s, g); });
}
