// Computes outputs from states: the last transition, hashes, belief targets.
// Included inside a kernel's namespace, see kernel.inl.

RHYTHM_INLINE U taped_action(const Group& g, U t) {
  U word = g.word(state::Tape);
  for (int k = 1; k < count::TapeWords; k++) {
    word = select((t >> 3) == all(static_cast<uint32_t>(k)), g.word(state::Tape + k), word);
  }
  return shift_right(word, (t & all(7u)) << 2) & all(static_cast<uint32_t>(kTableWidth - 1));
}

// Returns the last transition. The state does not contain it, so it is replayed from seed, actions and first meters.
RHYTHM_INLINE Shown last_step(const Tables& w, const Group& g, U steps) {
  const Profile profile = make_profile(w, profile_of(g));
  const Week week(w, profile_of(g));
  const U seed = g.word(state::Seed);
  const auto meter = [&](int k) { return g.number(state::FirstMeters + k); };
  EpisodeState episode = {{meter(0), meter(1), meter(2), meter(3), meter(4)}, all(0.0f), all(0.0f), all(0u)};
  Shown shown = nothing_shown();
  OwnTime now = {g.word(state::Began)};
  for (M active = now.t < steps; any(active); active = now.t < steps) {
    const U action = taped_action(g, now.t);
    const Transition transition = step_episode(w, profile, week.at(now), now, draws_of(w, seed, now), action, episode);
    shown = select(active, shown_of(w, transition, action), shown);
    now = next(now);
  }
  return shown;
}

RHYTHM_INLINE void show_group(const Slots& slots, const Group& g) {
  const Tables& w = *slots.tables;
  const M who = g.present();
  const U t = select(who, g.word(state::Step), all(0u));
  const EpisodeState episode = episode_of(g);
  Shown shown = last_step(w, g, t);
  const M ended = who & (t == all(static_cast<uint32_t>(count::Steps)));
  hide_result(slots, g, who);
  put_flags(slots.out.final_mask, g, all(false));
  if (any(ended)) {
    const Grade grade = grade_group(slots, g, episode);
    shown.reward = select(ended, shown.reward + terminal_reward(w, grade.final_score), shown.reward);
    show_result(slots, g, ended, grade, g.number(state::Return));
  }
  put_where(slots.out.rewards + g.first, who, shown.reward);
  observe(slots, g, who, OwnTime{t}, episode.meters, shown);
}

void show(const Slots& slots, size_t first_tile, size_t last_tile) {
  each_group(slots, first_tile, last_tile, [&](const Group& g) { show_group(slots, g); });
}

RHYTHM_INLINE Draw hash_of(const Group& g) {
  U words[24] = {g.word(state::Seed), g.word(state::Step)};
  for (int k = 0; k < count::Meters; k++) words[2 + k] = g.word(state::Meters + k);
  for (int k = 0; k < count::ProfileFloats; k++) words[2 + count::Meters + k] = g.word(state::Profile + k);
  words[23] = all(0u);
  static_assert(2 + count::Meters + count::ProfileFloats == 23);
  Draw key = {all(0x52485954u), all(0x484D5653u)};
  for (int pair = 0; pair < 24; pair += 2) key = threefry(key.x0, key.x1, words[pair], words[pair + 1]);
  return key;
}

void hash(const Slots& slots, uint64_t* hashes, size_t first_tile, size_t last_tile) {
  each_group(slots, first_tile, last_tile, [&](const Group& g) {
    const Draw key = hash_of(g);
    uint32_t low[kLanes], high[kLanes];
    store(low, key.x0), store(high, key.x1);
    for (int i = 0; i < g.count; i++) hashes[g.first + i] = static_cast<uint64_t>(high[i]) << 32 | low[i];
  });
}

void targets(const Slots& slots, float* rows, size_t first_tile, size_t last_tile) {
  each_group(slots, first_tile, last_tile, [&](const Group& g) {
    const Beliefs t = targets_of(*slots.tables, profile_of(g));
    const F columns[count::Beliefs] = {t.social, t.morning, t.work};
    put_rows<count::Beliefs>(rows + static_cast<size_t>(g.first) * count::Beliefs, g.present(), columns);
  });
}
