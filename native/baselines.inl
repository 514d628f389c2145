// The built-in policies: random and heuristic.
// Included inside a kernel's namespace, see kernel.inl.

// Returns the random policy's action, and sets `draws` to the step's draws of noise and event. For lanes with different seeds
// (LaneDraws of draws.inl) one call of `threefry` computes these two draws and the action's, so that the processor overlaps
// their independent operations.
template <class Time>
RHYTHM_INLINE U random_action(const Tables& w, U seed, Time now, U policy_seed, const LaneDraws&, Draws& draws) {
  const Key keys[3] = {make_key(seed, broadcast(w.noise_stream)), make_key(seed, broadcast(w.event_stream)),
                       make_key(seed, broadcast(w.u[block::StreamPolicy]))};
  const U t = steps_of(now), zero = broadcast(0u);
  Draw d[3] = {{t, zero}, {t, zero}, {t, policy_seed}};
  threefry(keys, d);
  draws = {d[0], d[1]};
  return below(d[2].x0, count::Actions);
}
// For lanes with one seed `source` has the draws of noise and event.
RHYTHM_INLINE U random_action(const Tables& w, U seed, SharedTime now, U policy_seed, const SharedDraws& source,
                              Draws& draws) {
  draws = source.at(w, seed, now);
  return below(threefry(seed, broadcast(w.u[block::StreamPolicy]), steps_of(now), policy_seed).x0, count::Actions);
}

RHYTHM_INLINE F meter_by_code(const Meters& m, uint32_t code) {
  const F meters[count::Meters] = {m.v, m.c, m.p, m.s, m.n};
  return meters[code];
}

// Returns the heuristic's action. The first rule that applies decides, so the rules are evaluated from last to first.
template <class Time>
RHYTHM_INLINE U heuristic_action(const Tables& w, Time now, const Meters& m) {
  U action = by_slot(now, [&](int slot) { return broadcast(w.schedule[slot]); });
  const U slot_bit = by_slot(now, [&](int slot) { return broadcast(1u << slot); });
  for (int rule = count::HeuristicRules - 1; rule >= 0; rule--) {
    const M holds = (meter_by_code(m, w.u[block::HeuristicMeter + rule]) < broadcast(w.f[block::HeuristicBelow + rule])) &
                    intersects(slot_bit, broadcast(w.u[block::HeuristicSlots + rule]));
    action = select(holds, broadcast(w.u[block::HeuristicAction + rule]), action);
  }
  return action;
}
