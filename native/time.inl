// The time of a lane-vector of episodes: their steps.
// Included inside a kernel's namespace, see kernel.inl.

// SameTime: all episodes are at the same step, which is fast. OwnTime: their steps may differ.
struct SameTime {
  int t;
};
struct OwnTime {
  U t;
};
RHYTHM_INLINE U steps_of(SameTime now) { return all(static_cast<uint32_t>(now.t)); }
RHYTHM_INLINE U steps_of(OwnTime now) { return now.t; }
RHYTHM_INLINE SameTime next(SameTime now) { return {now.t + 1}; }
RHYTHM_INLINE OwnTime next(OwnTime now) { return {now.t + all(1u)}; }

// Returns pick(slot) for each episode's slot of the day.
template <class Pick>
RHYTHM_INLINE auto by_slot(SameTime now, Pick pick) {
  return pick(now.t & (count::Slots - 1));
}
template <class Pick>
RHYTHM_INLINE auto by_slot(OwnTime now, Pick pick) {
  const U slot = now.t & all(static_cast<uint32_t>(count::Slots - 1));
  auto picked = pick(0);
  for (int s = 1; s < count::Slots; s++) {
    picked = select(slot == all(static_cast<uint32_t>(s)), pick(s), picked);
  }
  return picked;
}
static_assert((count::Slots & (count::Slots - 1)) == 0);
