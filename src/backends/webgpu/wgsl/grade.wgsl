// Beliefs and the grade of a finished episode.

// Rule 9: what a given number counts as.
fn clean_belief(x: f32) -> f32 {
  let kept = clamp01(x);
  return select(kept, 0.0, kept < number(BLOCK_SMALLEST_BELIEF));
}
fn put_belief(slot: u32, belief: vec3<f32>) {
  put_real(slot, STATE_BELIEF, clean_belief(belief.x));
  put_real(slot, STATE_BELIEF + 1u, clean_belief(belief.y));
  put_real(slot, STATE_BELIEF + 2u, clean_belief(belief.z));
  put_word(slot, STATE_GIVEN, 1u);
}

// Its first members are the components, in the order of their weights.
const_assert COUNT_COMPONENTS == 6u;
struct Grade {
  crash_free: f32,
  progress: f32,
  connection: f32,
  adaptation: f32,
  efficiency: f32,
  belief_accuracy: f32,
  belief_mae: f32,
  early_mean: f32,
  late_mean: f32,
  final_score: f32,
}

fn belief_error(slot: u32, belief: u32) -> f32 {
  return abs(subtract(real(slot, STATE_BELIEF + belief), target_of(slot, belief)));
}

fn adaptation_of(early_mean: f32, late_mean: f32) -> f32 {
  let gain = clamp01(multiply(number(BLOCK_ADAPTATION_SCALE), subtract(late_mean, early_mean)));
  return multiply(gain, clamp01(add(number(BLOCK_ADAPTATION_GATE_OFFSET), late_mean)));
}

fn grade_of(slot: u32, life: Life) -> Grade {
  var grade: Grade;
  let error = add(add(belief_error(slot, 0u), belief_error(slot, 1u)), belief_error(slot, 2u));
  grade.belief_mae = multiply(error, number(BLOCK_PER_BELIEF));
  grade.early_mean = multiply(life.early, number(BLOCK_PER_HALF));
  grade.late_mean = multiply(life.late, number(BLOCK_PER_HALF));
  let mean = multiply(add(life.early, life.late), number(BLOCK_PER_STEP));
  grade.crash_free = subtract(1.0, multiply(f32(life.crashes), number(BLOCK_PER_READING)));
  grade.progress = life.meters.p;
  grade.connection = life.meters.n;
  grade.adaptation = adaptation_of(grade.early_mean, grade.late_mean);
  grade.efficiency = clamp01(add(0.5, multiply(0.5, mean)));
  grade.belief_accuracy = select(0.0, subtract(1.0, grade.belief_mae), word(slot, STATE_GIVEN) == 1u);
  var sum = multiply(real(slot, STATE_GRADER), grade.crash_free);
  sum = add(sum, multiply(real(slot, STATE_GRADER + 1u), grade.progress));
  sum = add(sum, multiply(real(slot, STATE_GRADER + 2u), grade.connection));
  sum = add(sum, multiply(real(slot, STATE_GRADER + 3u), grade.adaptation));
  sum = add(sum, multiply(real(slot, STATE_GRADER + 4u), grade.efficiency));
  sum = add(sum, multiply(real(slot, STATE_GRADER + 5u), grade.belief_accuracy));
  grade.final_score = clamp01(sum);
  return grade;
}

// Rule 10: the grade's part of the last reward.
fn terminal_reward(final_score: f32) -> f32 {
  return multiply(number(BLOCK_TERMINAL_SCALE), subtract(final_score, 0.5));
}
