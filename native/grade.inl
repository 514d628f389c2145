// Beliefs, their skill, and the grade of a finished episode.
// Included inside a kernel's namespace, see kernel.inl.

// Rule 9: belief. Returns a number of a belief, clamped to [0, 1], and 0 below SmallestBelief (2^-40).
RHYTHM_INLINE F clean_belief(const Tables& w, F x) {
  const F clamped = clamp01(x);
  return select(clamped < broadcast(w.f[block::SmallestBelief]), broadcast(0.0f), clamped);
}

// Rule 9: belief. Returns the term of belief_skill: 1 minus a multiple of the belief's mean squared error.
RHYTHM_INLINE F skill_term(const Tables& w, const Beliefs& belief, const Beliefs& target) {
  const F social = belief.social - target.social;
  const F morning = belief.morning - target.morning;
  const F work = belief.work - target.work;
  const F q = ((social * social + morning * morning) + work * work) * broadcast(w.f[block::PerBelief]);
  return broadcast(1.0f) - broadcast(w.f[block::BeliefSkillScale]) * q;
}

// Returns the mean absolute error of a belief.
RHYTHM_INLINE F mean_absolute_error(const Tables& w, const Beliefs& belief, const Beliefs& target) {
  const F sum = (abs(belief.social - target.social) + abs(belief.morning - target.morning)) + abs(belief.work - target.work);
  return sum * broadcast(w.f[block::PerBelief]);
}

struct Grade {
  F components[count::Components];
  F belief_mae;
  F first_half_mean;
  F second_half_mean;
  F final_score;
};

RHYTHM_INLINE F adaptation_of(const Tables& w, F first_half_mean, F second_half_mean) {
  return clamp01(broadcast(w.f[block::AdaptationScale]) * (second_half_mean - first_half_mean)) *
         clamp01(broadcast(w.f[block::AdaptationGateOffset]) + second_half_mean);
}

// Returns the grade. grader(k) is the weight of component k.
template <class Weight>
RHYTHM_INLINE Grade grade_of(const Tables& w, const EpisodeState& episode, const Beliefs& belief, M given, F skill,
                             const Beliefs& target, Weight grader) {
  Grade grade;
  grade.belief_mae = mean_absolute_error(w, belief, target);
  grade.first_half_mean = episode.early * broadcast(w.f[block::PerHalf]);
  grade.second_half_mean = episode.late * broadcast(w.f[block::PerHalf]);
  F* c = grade.components;
  // The order is that of docs/world.md, The grade. PerReading is 1 / (28 steps * 5 meters).
  c[0] = broadcast(1.0f) - to_float(episode.crashes) * broadcast(w.f[block::PerReading]);
  c[1] = episode.meters.p;
  c[2] = episode.meters.n;
  c[3] = adaptation_of(w, grade.first_half_mean, grade.second_half_mean);
  c[4] = clamp01(broadcast(0.5f) + broadcast(0.5f) * ((episode.early + episode.late) * broadcast(w.f[block::PerStep])));
  c[5] = select(given, broadcast(1.0f) - grade.belief_mae, broadcast(0.0f));
  c[6] = clamp01(broadcast(w.f[block::WellbeingScale]) *
                 (episode.well * broadcast(w.f[block::PerStep]) - broadcast(w.f[block::WellbeingBase])));
  // PerSkillStep is 1 / (steps from beliefSkillFrom on).
  c[7] = min(max(skill * broadcast(w.f[block::PerSkillStep]), broadcast(-1.0f)), broadcast(1.0f));
  F sum = grader(0) * c[0];
  for (int k = 1; k < count::Components; k++) sum = sum + grader(k) * c[k];
  grade.final_score = clamp01(sum);
  return grade;
}

// Rule 10: time. Returns the terminal term of the last reward.
RHYTHM_INLINE F terminal_reward(const Tables& w, F final_score) {
  return broadcast(w.f[block::TerminalScale]) * (final_score - broadcast(0.5f));
}
