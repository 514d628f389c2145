// Writes the outputs: arrays in one buffer, one after the other, each with room for `launch.capacity` environments. OUTPUT_NAME
// is the sum of the words per environment of all arrays before NAME, so NAME starts at word OUTPUT_NAME * launch.capacity.

fn output_index(output: u32, env: u32) -> u32 {
  return output * launch.capacity + env;
}
fn put_output(output: u32, env: u32, value: f32) {
  outputs[output_index(output, env)] = bitcast<u32>(value);
}
fn put_output_word(output: u32, env: u32, value: u32) {
  outputs[output_index(output, env)] = value;
}

// Returns (x, y): number k of an environment's `width` numbers in an output is at x + k * y.
fn row(output: u32, width: u32, env: u32) -> vec2<u32> {
  let start = output * launch.capacity;
  return select(vec2(start + env * width, 1u), vec2(start + env, launch.capacity), launch.in_columns != 0u);
}

fn put_output_number(at: vec2<u32>, k: u32, value: f32) {
  outputs[at.x + k * at.y] = bitcast<u32>(value);
}
fn put_output_meters(at: vec2<u32>, first: u32, m: Meters) {
  put_output_number(at, first, m.v);
  put_output_number(at, first + 1u, m.c);
  put_output_number(at, first + 2u, m.p);
  put_output_number(at, first + 3u, m.s);
  put_output_number(at, first + 4u, m.n);
}

fn code_or_minus_one(code: u32, none: u32) -> f32 {
  return select(f32(code), -1.0, code == none);
}

// Writes an environment's observation after `t` steps. `last` is the last step's transition.
fn observe(env: u32, t: u32, m: Meters, last: Transition) {
  let at = row(OUTPUT_OBSERVATIONS, COUNT_OBSERVATION_FLOATS, env);
  put_output_number(at, OBSERVATION_STEP, f32(t));
  put_output_number(at, OBSERVATION_DAY, f32(t / COUNT_SLOTS));
  put_output_number(at, OBSERVATION_SLOT, f32(t % COUNT_SLOTS));
  put_output_number(at, OBSERVATION_REMAINING, f32(COUNT_STEPS - t));
  put_output_meters(at, OBSERVATION_METERS, m);
  put_output_number(at, OBSERVATION_EVENT, code_or_minus_one(last.event, COUNT_EVENTS));
  put_output_number(at, OBSERVATION_LAST_ACTION, code_or_minus_one(last.action, COUNT_ACTIONS));
  put_output_number(at, OBSERVATION_REWARD, last.reward);
  put_output_meters(at, OBSERVATION_DELTAS, last.delta);
  put_output_meters(at, OBSERVATION_ANOMALIES, last.anomaly);
}

// Copies a replaced episode's last observation to the final observations.
fn copy_final_observation(env: u32) {
  if (launch.keeps_final == 0u) {
    return;
  }
  let origin_row = row(OUTPUT_OBSERVATIONS, COUNT_OBSERVATION_FLOATS, env);
  let to = row(OUTPUT_FINAL_OBSERVATIONS, COUNT_OBSERVATION_FLOATS, env);
  for (var k = 0u; k < COUNT_OBSERVATION_FLOATS; k++) {
    outputs[to.x + k * to.y] = outputs[origin_row.x + k * origin_row.y];
  }
}
fn clear_final_observation(env: u32) {
  if (launch.keeps_final == 0u) {
    return;
  }
  let at = row(OUTPUT_FINAL_OBSERVATIONS, COUNT_OBSERVATION_FLOATS, env);
  for (var k = 0u; k < COUNT_OBSERVATION_FLOATS; k++) {
    outputs[at.x + k * at.y] = 0u;
  }
}

// Writes the results of an episode that has ended; `clear_grade` writes zeros.
fn put_grade(env: u32, grade: Grade, episode_return: f32, length: u32) {
  let at = row(OUTPUT_COMPONENTS, COUNT_COMPONENTS, env);
  put_output_number(at, 0u, grade.crash_free);
  put_output_number(at, 1u, grade.progress);
  put_output_number(at, 2u, grade.connection);
  put_output_number(at, 3u, grade.adaptation);
  put_output_number(at, 4u, grade.efficiency);
  put_output_number(at, 5u, grade.belief_accuracy);
  put_output_number(at, 6u, grade.wellbeing);
  put_output_number(at, 7u, grade.belief_skill);
  put_output(OUTPUT_FINAL_SCORES, env, grade.final_score);
  put_output(OUTPUT_BELIEF_MAE, env, grade.belief_mae);
  put_output(OUTPUT_FIRST_HALF_MEANS, env, grade.first_half_mean);
  put_output(OUTPUT_SECOND_HALF_MEANS, env, grade.second_half_mean);
  put_output(OUTPUT_EPISODE_RETURNS, env, episode_return);
  put_output_word(OUTPUT_EPISODE_LENGTHS, env, length);
  put_output_word(OUTPUT_TERMINATED, env, u32(length == COUNT_STEPS));
}
fn clear_grade(env: u32) {
  var nothing: Grade;
  put_grade(env, nothing, 0.0, 0u);
}
// Clears the final observation, and the grade of an ended episode that another one has replaced.
fn clear_replaced_results(env: u32) {
  clear_final_observation(env);
  if (outputs[output_index(OUTPUT_TERMINATED, env)] != 0u && word(env, STATE_STEP) < COUNT_STEPS) {
    clear_grade(env);
  }
}

// Grades an episode that has ended and stores its result. Returns the last reward with the terminal term; `reward` is
// without it.
fn end_episode(env: u32, episode: EpisodeState, reward: f32) -> f32 {
  let grade = grade_of(env, episode);
  let last = add(reward, terminal_reward(grade.final_score));
  put_grade(env, grade, add(episode.reward_sum, last), COUNT_STEPS);
  return last;
}
