// Beginning episodes.
// Included inside a kernel's namespace, see kernel.inl.

RHYTHM_INLINE void put_profile(const Slots& slots, const Reset& r, const Group& g, M who, U seed) {
  const Tables& w = *slots.tables;
  const U how = g.word(state::Mode);
  const M sampled = who & (how == all(static_cast<uint32_t>(mode::Sampled)));
  const M discrete = who & (how == all(static_cast<uint32_t>(mode::Discrete)));
  const M given = who & (how == all(static_cast<uint32_t>(mode::Given)));
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

RHYTHM_INLINE void reset_group(const Slots& slots, const Reset& r, const Group& g) {
  const Tables& w = *slots.tables;
  const M who = mask_at(r.mask, g);
  if (!r.after_step) put_flags(slots.out.final_mask, g, all(false));
  if (!any(who)) return;
  const U seed = words_at(r.seeds, g);
  const Meters initial = all(w.f + block::InitialMeters);
  const F zero = all(0.0f);
  if (r.modes != nullptr) g.put_where(who, state::Mode, bytes_at(r.modes, g));
  put_profile(slots, r, g, who, seed);
  g.put_where(who, state::Seed, seed);
  put_life(g, select(who, Life{initial, zero, zero, all(0u)}, life_of(g)));
  g.put_where(who, state::Return, zero);
  g.put_where(who, state::Step, all(0u));
  g.put_where(who, state::Given, all(0u));
  for (int k = 0; k < count::TapeWords; k++) g.put_where(who, state::Tape + k, all(0u));
  for (int k = 0; k < count::Beliefs; k++) g.put_where(who, state::Belief + k, all(0.5f));
  if (r.graders != nullptr) {
    for (int k = 0; k < count::Components; k++) {
      g.put_where(who, state::Grader + k, column_at(r.graders, count::Components, k, g));
    }
  }
  observe(slots, g, who, SameTime{0}, initial, nothing_shown());
  const M silent = r.after_step ? who & !mask_at(r.stepped, g) : who;
  put_where(slots.out.rewards + g.first, silent, zero);
  hide_result(slots, g, silent);
}

void reset(const Slots& slots, const Reset& r, size_t first_tile, size_t last_tile) {
  each_group(slots, first_tile, last_tile, [&](const Group& g) { reset_group(slots, r, g); });
}
