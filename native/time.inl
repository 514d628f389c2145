// The step that a group of episodes is at: one step for all lanes, or a step for each.
// Included inside a kernel's namespace, see kernel.inl.

// The step of all lanes. Faster than LaneTimes.
struct SharedTime {
  int t;
};
// The step of each lane.
struct LaneTimes {
  U t;
};
RHYTHM_INLINE U steps_of(SharedTime now) { return broadcast(static_cast<uint32_t>(now.t)); }
RHYTHM_INLINE U steps_of(LaneTimes now) { return now.t; }
RHYTHM_INLINE SharedTime next(SharedTime now) { return {now.t + 1}; }
RHYTHM_INLINE LaneTimes next(LaneTimes now) { return {now.t + broadcast(1u)}; }

// Returns pick(slot) for each episode's slot of the day.
template <class Pick>
RHYTHM_INLINE auto by_slot(SharedTime now, Pick pick) {
  return pick(now.t & (count::Slots - 1));
}
template <class Pick>
RHYTHM_INLINE auto by_slot(LaneTimes now, Pick pick) {
  const U slot = now.t & broadcast(static_cast<uint32_t>(count::Slots - 1));
  auto picked = pick(0);
  for (int s = 1; s < count::Slots; s++) {
    picked = select(slot == broadcast(static_cast<uint32_t>(s)), pick(s), picked);
  }
  return picked;
}
static_assert((count::Slots & (count::Slots - 1)) == 0, "t & (Slots - 1) is t % Slots for a power of two");
