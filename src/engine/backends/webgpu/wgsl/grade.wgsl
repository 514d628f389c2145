// Beliefs, their skill, and the grade of a finished episode.

// Rule 9: belief. Clamps a number of a belief to [0, 1]. Numbers below the smallest belief become 0.
fn clean_belief(x: f32) -> f32 {
  let bounded = clamp01(x);
  return select(bounded, 0.0, bounded < world_number(BLOCK_SMALLEST_BELIEF));
}
// Rule 9: belief. Stores a belief in the state.
fn put_belief(env: u32, belief: vec3<f32>) {
  put_number(env, STATE_BELIEF, clean_belief(belief.x));
  put_number(env, STATE_BELIEF + 1u, clean_belief(belief.y));
  put_number(env, STATE_BELIEF + 2u, clean_belief(belief.z));
  put_word(env, STATE_GIVEN, 1u);
}

// The first members of Grade are the components, in the order of their weights.
const_assert COUNT_COMPONENTS == 8u;
struct Grade {
  crash_free: f32,
  progress: f32,
  connection: f32,
  adaptation: f32,
  efficiency: f32,
  belief_accuracy: f32,
  wellbeing: f32,
  belief_skill: f32,
  belief_mae: f32,
  first_half_mean: f32,
  second_half_mean: f32,
  final_score: f32,
}

// Returns the error of one of the three numbers of a belief, with its sign.
fn belief_error(env: u32, belief: u32) -> f32 {
  return subtract(state_number(env, STATE_BELIEF + belief), target_of(env, belief));
}

// Rule 9: belief. Returns the term of belief_skill: 1 minus a multiple of the belief's mean squared error.
fn skill_term(env: u32) -> f32 {
  let social = belief_error(env, 0u);
  let morning = belief_error(env, 1u);
  let work = belief_error(env, 2u);
  let squares = add(add(multiply(social, social), multiply(morning, morning)), multiply(work, work));
  let q = multiply(squares, world_number(BLOCK_PER_BELIEF));
  return subtract(1.0, multiply(world_number(BLOCK_BELIEF_SKILL_SCALE), q));
}

// Returns the component adaptation: the scaled improvement, times a factor that falls to 0 for a poor second half.
fn adaptation_of(first_half_mean: f32, second_half_mean: f32) -> f32 {
  let improvement = clamp01(multiply(world_number(BLOCK_ADAPTATION_SCALE), subtract(second_half_mean, first_half_mean)));
  return multiply(improvement, clamp01(add(world_number(BLOCK_ADAPTATION_GATE_OFFSET), second_half_mean)));
}

// Returns the grade of a finished episode (docs/world.md, The grade).
fn grade_of(env: u32, episode: EpisodeState) -> Grade {
  var grade: Grade;
  let error = add(add(abs(belief_error(env, 0u)), abs(belief_error(env, 1u))), abs(belief_error(env, 2u)));
  grade.belief_mae = multiply(error, world_number(BLOCK_PER_BELIEF));
  grade.first_half_mean = multiply(episode.early, world_number(BLOCK_PER_HALF));
  grade.second_half_mean = multiply(episode.late, world_number(BLOCK_PER_HALF));
  let mean = multiply(add(episode.early, episode.late), world_number(BLOCK_PER_STEP));
  grade.crash_free = subtract(1.0, multiply(f32(episode.crashes), world_number(BLOCK_PER_READING)));
  grade.progress = episode.meters.p;
  grade.connection = episode.meters.n;
  grade.adaptation = adaptation_of(grade.first_half_mean, grade.second_half_mean);
  grade.efficiency = clamp01(add(0.5, multiply(0.5, mean)));
  grade.belief_accuracy = select(0.0, subtract(1.0, grade.belief_mae), word(env, STATE_GIVEN) == 1u);
  let weighted_mean = multiply(episode.well, world_number(BLOCK_PER_STEP));
  let above_base = subtract(weighted_mean, world_number(BLOCK_WELLBEING_BASE));
  grade.wellbeing = clamp01(multiply(world_number(BLOCK_WELLBEING_SCALE), above_base));
  grade.belief_skill = clamp_unit(multiply(episode.skill, world_number(BLOCK_PER_SKILL_STEP)));
  var sum = multiply(state_number(env, STATE_GRADER), grade.crash_free);
  sum = add(sum, multiply(state_number(env, STATE_GRADER + 1u), grade.progress));
  sum = add(sum, multiply(state_number(env, STATE_GRADER + 2u), grade.connection));
  sum = add(sum, multiply(state_number(env, STATE_GRADER + 3u), grade.adaptation));
  sum = add(sum, multiply(state_number(env, STATE_GRADER + 4u), grade.efficiency));
  sum = add(sum, multiply(state_number(env, STATE_GRADER + 5u), grade.belief_accuracy));
  sum = add(sum, multiply(state_number(env, STATE_GRADER + 6u), grade.wellbeing));
  sum = add(sum, multiply(state_number(env, STATE_GRADER + 7u), grade.belief_skill));
  grade.final_score = clamp01(sum);
  return grade;
}

// Rule 10: time. Returns the terminal term of the last reward.
fn terminal_reward(final_score: f32) -> f32 {
  return multiply(world_number(BLOCK_TERMINAL_SCALE), subtract(final_score, 0.5));
}
