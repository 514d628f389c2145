// Takes one step of a batch.
// Included inside a kernel's namespace, see kernel.inl.

RHYTHM_INLINE void note_action(const Group& g, SameTime now, M, U action) {
  const int word = state::Tape + (now.t >> 3);
  g.put(word, g.word(word) | action << 4 * (now.t & 7));
}
RHYTHM_INLINE void note_action(const Group& g, OwnTime now, M who, U action) {
  const U nibble = shift_left(action, (now.t & all(7u)) << 2);
  for (int k = 0; k < count::TapeWords; k++) {
    const M here = who & ((now.t >> 3) == all(static_cast<uint32_t>(k)));
    g.put_where(here, state::Tape + k, g.word(state::Tape + k) | nibble);
  }
}

// Adds to the sum of the half that all lanes are in. Does not touch the other sum in memory.
RHYTHM_INLINE void add_reward(const Group& g, SameTime now, M, F r) {
  const int half = now.t < count::Steps / 2 ? state::Early : state::Late;
  g.put(half, g.number(half) + r);
}
RHYTHM_INLINE void add_reward(const Group& g, OwnTime now, M who, F r) {
  EpisodeState episode = episode_of(g);
  add_reward(now, r, episode);
  g.put_where(who, state::Early, episode.early);
  g.put_where(who, state::Late, episode.late);
}

RHYTHM_INLINE bool may_end(SameTime now) { return now.t == count::Steps - 1; }
RHYTHM_INLINE bool may_end(OwnTime) { return true; }

RHYTHM_INLINE void take_beliefs(const Tables& w, const Step& s, const Group& g, M who) {
  const M given = who & mask_at(s.given, g);
  if (!any(given)) return;
  const auto column = [&](int k) { return clean_belief(w, column_at(s.beliefs, count::Beliefs, k, g)); };
  put_beliefs(g, given, {column(0), column(1), column(2)});
}

// Steps all lanes, or with OwnTime the lanes of `who`.
template <class Time>
RHYTHM_INLINE void step_lanes(const Slots& slots, const Step& s, const Group& g, M who, Time now) {
  const Tables& w = *slots.tables;
  const EpisodeState before = episode_of(g);
  // A slot that does not step may hold any code: mask it, so that it stays within the tables.
  const U action = bytes_at(s.actions, g) & all(static_cast<uint32_t>(kTableWidth - 1));
  EpisodeState episode = before;
  const Draws draws = draws_of(w, g.word(state::Seed), now);
  const auto float_of = profile_of(g);
  const Profile profile = make_profile(w, float_of);
  const Focus focus = by_slot(now, [&](int slot) { return focus_in(w, slot, float_of); });
  Transition transition = step_episode(w, profile, focus, now, draws, action, episode);
  if constexpr (std::is_same_v<Time, OwnTime>) episode = select(who, episode, before);
  put_present(g, episode);
  add_reward(g, now, who, transition.earned);
  note_action(g, now, who, action);
  // Rule 9: belief.
  if (s.given != nullptr) take_beliefs(w, s, g, who);
  // Rule 10: time.
  const U t = steps_of(next(now));
  g.put_where(who, state::Step, t);
  const F earned_before = g.number(state::Return);
  M ended = all(false);
  if (may_end(now)) {
    ended = who & (t == all(static_cast<uint32_t>(count::Steps)));
    if (any(ended)) end_episodes(slots, g, ended, episode_of(g), earned_before, transition.reward);
  }
  g.put_where(who, state::Return, earned_before + transition.reward);
  put_flags(slots.out.final_mask, g, ended);
  put_floats(slots.out.rewards, g, select(who, transition.reward, all(0.0f)));
  observe(slots, g, who, next(now), episode.meters, shown_of(w, transition, action));
}

// Steps lanes at different times. Not inlined, so that the common case keeps its registers.
__attribute__((noinline)) void step_apart(const Slots& slots, const Step& s, const Group& g, M who) {
  if (any(who)) return step_lanes(slots, s, g, who, OwnTime{g.word(state::Step)});
  put_floats(slots.out.rewards, g, all(0.0f));
  put_flags(slots.out.final_mask, g, all(false));
}

RHYTHM_INLINE void step_group(const Slots& slots, const Step& s, const Group& g) {
  const M who = mask_at(s.mask, g);
  const uint32_t t0 = g.tile->words[state::Step][g.lane];
  const bool together = !any(!who) && !any(!(g.word(state::Step) == all(t0)));
  if (!together) return step_apart(slots, s, g, who);
  const Group whole = {g.tile, g.lane, g.first, kLanes};
  step_lanes(slots, s, whole, all(true), SameTime{static_cast<int>(t0)});
}

// Returns whether every byte is an action's code, four bytes to a word. Adding a constant sets a byte's highest bit if the
// byte is at least count::Actions; bytes from 128 on have it set already.
bool legal(const uint8_t* codes, size_t length) {
  const auto each = [](uint32_t byte) { return all(byte * 0x01010101u); };
  U wrong = all(0u);
  size_t at = 0;
  for (; at + sizeof(U) <= length; at += sizeof(U)) {
    const U four = load(reinterpret_cast<const uint32_t*>(codes + at));
    wrong = wrong | four | ((four & each(0x7f)) + each(0x80 - count::Actions));
  }
  bool fine = !any(intersects(wrong, each(0x80)));
  for (; at < length; at++) fine = fine && codes[at] < count::Actions;
  return fine;
}

size_t check(const Slots& slots, const Step& s, size_t first_tile, size_t last_tile) {
  for (size_t tile = first_tile; tile < last_tile; tile++) {
    M wrong = all(false);
    each_group(slots, tile, tile + 1, [&](const Group& g) __attribute__((always_inline)) {
      const M legal = bytes_at(s.actions, g) < all(static_cast<uint32_t>(count::Actions));
      const M going = g.word(state::Step) < all(static_cast<uint32_t>(count::Steps));
      wrong = wrong | (mask_at(s.mask, g) & !(legal & going));
    });
    if (any(wrong)) return tile;
  }
  return last_tile;
}

void step(const Slots& slots, const Step& s, size_t first_tile, size_t last_tile) {
  each_group(slots, first_tile, last_tile,
             [&](const Group& g) __attribute__((always_inline)) { step_group(slots, s, g); });
}
