// Beliefs and the grade of a finished episode.
// Included inside a kernel's namespace, see kernel.inl.

// Rule 9: belief. Returns a given number, clamped and flushed.
RHYTHM_INLINE F clean_belief(const Tables& w, F x) {
  const F clamped = clamp01(x);
  return select(clamped < all(w.f[block::SmallestBelief]), all(0.0f), clamped);
}

struct Grade {
  F components[count::Components];
  F belief_mae;
  F first_half_mean;
  F second_half_mean;
  F final_score;
};

RHYTHM_INLINE F adaptation_of(const Tables& w, F first_half_mean, F second_half_mean) {
  return clamp01(all(w.f[block::AdaptationScale]) * (second_half_mean - first_half_mean)) *
         clamp01(all(w.f[block::AdaptationGateOffset]) + second_half_mean);
}

// Returns the grade. grader(k) is the weight of component k.
template <class Weight>
RHYTHM_INLINE Grade grade_of(const Tables& w, const EpisodeState& episode, const Beliefs& belief, M given,
                             const Beliefs& target, Weight grader) {
  Grade grade;
  grade.belief_mae = ((abs(belief.social - target.social) + abs(belief.morning - target.morning)) +
                      abs(belief.work - target.work)) *
                     all(w.f[block::PerBelief]);
  grade.first_half_mean = episode.early * all(w.f[block::PerHalf]);
  grade.second_half_mean = episode.late * all(w.f[block::PerHalf]);
  F* c = grade.components;
  c[0] = all(1.0f) - to_float(episode.crashes) * all(w.f[block::PerReading]);
  c[1] = episode.meters.p;
  c[2] = episode.meters.n;
  c[3] = adaptation_of(w, grade.first_half_mean, grade.second_half_mean);
  c[4] = clamp01(all(0.5f) + all(0.5f) * ((episode.early + episode.late) * all(w.f[block::PerStep])));
  c[5] = select(given, all(1.0f) - grade.belief_mae, all(0.0f));
  F sum = grader(0) * c[0];
  for (int k = 1; k < count::Components; k++) sum = sum + grader(k) * c[k];
  grade.final_score = clamp01(sum);
  return grade;
}

// Rule 10: time. Returns the terminal term of the last reward.
RHYTHM_INLINE F terminal_reward(const Tables& w, F final_score) {
  return all(w.f[block::TerminalScale]) * (final_score - all(0.5f));
}
