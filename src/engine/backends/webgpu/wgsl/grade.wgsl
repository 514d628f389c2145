// Beliefs and the grade of a finished episode.

// Rule 9: belief. Returns a given number, clamped and flushed.
fn clean_belief(x: f32) -> f32 {
  let kept = clamp01(x);
  return select(kept, 0.0, kept < number(BLOCK_SMALLEST_BELIEF));
}
fn put_belief(env: u32, belief: vec3<f32>) {
  put_real(env, STATE_BELIEF, clean_belief(belief.x));
  put_real(env, STATE_BELIEF + 1u, clean_belief(belief.y));
  put_real(env, STATE_BELIEF + 2u, clean_belief(belief.z));
  put_word(env, STATE_GIVEN, 1u);
}

// The first members of Grade are the components, in the order of their weights.
const_assert COUNT_COMPONENTS == 6u;
struct Grade {
  crash_free: f32,
  progress: f32,
  connection: f32,
  adaptation: f32,
  efficiency: f32,
  belief_accuracy: f32,
  belief_mae: f32,
  first_half_mean: f32,
  second_half_mean: f32,
  final_score: f32,
}

fn belief_error(env: u32, belief: u32) -> f32 {
  return abs(subtract(real(env, STATE_BELIEF + belief), target_of(env, belief)));
}

fn adaptation_of(first_half_mean: f32, second_half_mean: f32) -> f32 {
  let gain = clamp01(multiply(number(BLOCK_ADAPTATION_SCALE), subtract(second_half_mean, first_half_mean)));
  return multiply(gain, clamp01(add(number(BLOCK_ADAPTATION_GATE_OFFSET), second_half_mean)));
}

fn grade_of(env: u32, episode: EpisodeState) -> Grade {
  var grade: Grade;
  let error = add(add(belief_error(env, 0u), belief_error(env, 1u)), belief_error(env, 2u));
  grade.belief_mae = multiply(error, number(BLOCK_PER_BELIEF));
  grade.first_half_mean = multiply(episode.early, number(BLOCK_PER_HALF));
  grade.second_half_mean = multiply(episode.late, number(BLOCK_PER_HALF));
  let mean = multiply(add(episode.early, episode.late), number(BLOCK_PER_STEP));
  grade.crash_free = subtract(1.0, multiply(f32(episode.crashes), number(BLOCK_PER_READING)));
  grade.progress = episode.meters.p;
  grade.connection = episode.meters.n;
  grade.adaptation = adaptation_of(grade.first_half_mean, grade.second_half_mean);
  grade.efficiency = clamp01(add(0.5, multiply(0.5, mean)));
  grade.belief_accuracy = select(0.0, subtract(1.0, grade.belief_mae), word(env, STATE_GIVEN) == 1u);
  var sum = multiply(real(env, STATE_GRADER), grade.crash_free);
  sum = add(sum, multiply(real(env, STATE_GRADER + 1u), grade.progress));
  sum = add(sum, multiply(real(env, STATE_GRADER + 2u), grade.connection));
  sum = add(sum, multiply(real(env, STATE_GRADER + 3u), grade.adaptation));
  sum = add(sum, multiply(real(env, STATE_GRADER + 4u), grade.efficiency));
  sum = add(sum, multiply(real(env, STATE_GRADER + 5u), grade.belief_accuracy));
  grade.final_score = clamp01(sum);
  return grade;
}

// Rule 10: time. Returns the terminal term of the last reward.
fn terminal_reward(final_score: f32) -> f32 {
  return multiply(number(BLOCK_TERMINAL_SCALE), subtract(final_score, 0.5));
}
