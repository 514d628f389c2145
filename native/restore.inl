// Restores the outputs of loaded states; computes hashes, belief targets and the errors of beliefs.
// Included inside a kernel's namespace, see kernel.inl.

// Returns the action of step `t` from the state's field `tape`: four bits per action, eight actions per word.
RHYTHM_INLINE U stored_action(const Group& g, U t) {
  U word = g.word(state::Tape);
  for (int k = 1; k < count::TapeWords; k++) {
    word = select((t >> 3) == broadcast(static_cast<uint32_t>(k)), g.word(state::Tape + k), word);
  }
  return shift_right(word, (t & broadcast(7u)) << 2) & broadcast(static_cast<uint32_t>(kTableWidth - 1));
}

// Returns the last step. The state does not contain it, so it is replayed from profile, seed, actions and first meters.
RHYTHM_INLINE LastStep replay_last_step(const Tables& w, const Group& g, U steps) {
  const Profile profile = make_profile(w, profile_floats(g));
  const FocusBySlot focus(w, profile_floats(g));
  const U seed = g.word(state::Seed);
  const auto meter = [&](int k) { return g.number(state::FirstMeters + k); };
  const F zero = broadcast(0.0f);
  EpisodeState episode = {{meter(0), meter(1), meter(2), meter(3), meter(4)}, zero, zero, zero, broadcast(0u)};
  LastStep last_step = no_last_step();
  LaneTimes now = {g.word(state::Began)};
  for (M active = now.t < steps; any(active); active = now.t < steps) {
    const U action = stored_action(g, now.t);
    const Transition transition = step_episode(w, profile, focus.at(now), now, draws_of(w, seed, now), action, episode);
    last_step = select(active, last_step_of(w, transition, action), last_step);
    now = next(now);
  }
  return last_step;
}

RHYTHM_INLINE void restore_group(const Envs& envs, const Group& g) {
  const Tables& w = *envs.tables;
  const M active = g.present();
  const U t = select(active, g.word(state::Step), broadcast(0u));
  const EpisodeState episode = episode_of(g);
  LastStep last_step = replay_last_step(w, g, t);
  const M ended = active & (t == broadcast(static_cast<uint32_t>(count::Steps)));
  clear_grade(envs, g, active);
  put_flags(envs.out.final_mask, g, broadcast(false));
  if (any(ended)) {
    const Grade grade = grade_group(envs, g, episode);
    last_step.reward = select(ended, last_step.reward + terminal_reward(w, grade.final_score), last_step.reward);
    put_grade(envs, g, ended, grade, g.number(state::Return), count::Steps);
  }
  put_where(envs.out.rewards + g.first, active, last_step.reward);
  observe(envs, g, active, LaneTimes{t}, episode.meters, last_step);
}

void restore_outputs(const Envs& envs, size_t first_tile, size_t last_tile) {
  each_group(envs, first_tile, last_tile, [&](const Group& g) { restore_group(envs, g); });
}

// Computes the hashes of N groups at once (docs/world.md, The hash of a state). Each hash is a chain of dependent
// operations; several chains overlap.
template <int N>
RHYTHM_INLINE void put_hashes(const Group (&g)[N], uint64_t* hashes) {
  // The hashed words: seed, step, meters, profile, and a zero.
  constexpr int floats = count::Meters + count::ProfileFloats;
  static_assert(state::Profile == state::Meters + count::Meters && floats % 2 == 1);
  Key keys[N];
  Draw d[N];
  // Adds two words of the state to the hashes; a negative `second` stands for the zero.
  const auto add = [&](int first, int second) __attribute__((always_inline)) {
    RHYTHM_UNROLL for (int i = 0; i < N; i++) {
      keys[i] = make_key(d[i].x0, d[i].x1);
      d[i] = {g[i].word(first), second < 0 ? broadcast(0u) : g[i].word(second)};
    }
    threefry(keys, d);
  };
  // The initial key: "RHYTHMVS" in ASCII.
  for (Draw& each : d) each = {broadcast(0x52485954u), broadcast(0x484D5653u)};
  add(state::Seed, state::Step);
  for (int k = 0; k < floats - 1; k += 2) add(state::Meters + k, state::Meters + k + 1);
  add(state::Meters + floats - 1, -1);
  for (int i = 0; i < N; i++) {
    uint32_t low[kLanes], high[kLanes];
    store(low, d[i].x0), store(high, d[i].x1);
    for (int j = 0; j < g[i].count; j++) hashes[g[i].first + j] = static_cast<uint64_t>(high[j]) << 32 | low[j];
  }
}

void hash(const Envs& envs, uint64_t* hashes, size_t first_tile, size_t last_tile) {
  constexpr int chains = 4;  // chosen by hand
  Group groups[chains] = {};
  int waiting = 0;
  each_group(envs, first_tile, last_tile, [&](const Group& g) {
    groups[waiting++] = g;
    if (waiting < chains) return;
    put_hashes<chains>(groups, hashes);
    waiting = 0;
  });
  for (int i = 0; i < waiting; i++) {
    const Group one[1] = {groups[i]};
    put_hashes<1>(one, hashes);
  }
}

void targets(const Envs& envs, float* rows, size_t first_tile, size_t last_tile) {
  each_group(envs, first_tile, last_tile, [&](const Group& g) {
    const Beliefs t = targets_of(*envs.tables, profile_floats(g));
    const F columns[count::Beliefs] = {t.social, t.morning, t.work};
    put_rows<count::Beliefs>(rows + static_cast<size_t>(g.first) * count::Beliefs, g.present(), columns);
  });
}

// See kernel.h.
void belief_errors(const Envs& envs, const float* beliefs, const uint8_t* given, float* mae, float* skill, size_t first_tile,
                   size_t last_tile) {
  const Tables& w = *envs.tables;
  each_group(envs, first_tile, last_tile, [&](const Group& g) {
    const M is_given = given == nullptr ? broadcast(false) : mask_at(given, g);
    const auto number = [&](int k) {
      const F half = broadcast(0.5f);
      return beliefs == nullptr ? half : select(is_given, clean_belief(w, column_at(beliefs, count::Beliefs, k, g)), half);
    };
    const Beliefs belief = {number(0), number(1), number(2)}, target = targets_of(w, profile_floats(g));
    const F none = broadcast(-1.0f), term = min(max(skill_term(w, belief, target), none), broadcast(1.0f));
    put_floats(mae, g, mean_absolute_error(w, belief, target));
    put_floats(skill, g, select(is_given, term, none));
  });
}
