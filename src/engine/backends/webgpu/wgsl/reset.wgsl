// Begins episodes.

// Begins a new episode at step `t`. The mode decides how its profile is drawn; a given profile stays.
fn begin(env: u32, seed: u32, t: u32, episode: EpisodeState) {
  let mode = word(env, STATE_MODE);
  if (mode == MODE_SAMPLED) {
    put_sampled_profile(env, seed);
  } else if (mode == MODE_DISCRETE) {
    put_discrete_profile(env, seed);
  }
  put_word(env, STATE_SEED, seed);
  put_word(env, STATE_STEP, t);
  put_episode(env, episode);
  for (var k = 0u; k < COUNT_TAPE_WORDS; k++) {
    put_word(env, STATE_TAPE + k, 0u);
  }
  put_word(env, STATE_GIVEN, 0u);
  for (var k = 0u; k < COUNT_BELIEFS; k++) {
    put_number(env, STATE_BELIEF + k, 0.5);
  }
  put_word(env, STATE_BEGAN, t);
  put_meters(env, STATE_FIRST_METERS, episode.meters);
  observe(env, t, episode.meters, NO_TRANSITION);
}
// Begins a new episode at step 0.
fn begin_episode(env: u32, seed: u32) {
  begin(env, seed, 0u, new_episode(meters_in_world(BLOCK_INITIAL_METERS)));
}

// A reset may give the start of an episode: its step, meters, sums, crash count and belief.

// Reads a sum of a given start; 0 if the request has no such array.
fn sum_at(sums: u32, i: u32) -> f32 {
  if (sums == NONE) {
    return 0.0;
  }
  return bitcast<f32>(request[sums + i]);
}
// Returns the state of a given start.
fn given_episode(i: u32) -> EpisodeState {
  let at = launch.meters + i * COUNT_METERS;
  var episode = new_episode(
    Meters(
      bitcast<f32>(request[at]),
      bitcast<f32>(request[at + 1u]),
      bitcast<f32>(request[at + 2u]),
      bitcast<f32>(request[at + 3u]),
      bitcast<f32>(request[at + 4u]),
    ),
  );
  episode.early = sum_at(launch.early, i);
  episode.late = sum_at(launch.late, i);
  episode.well = sum_at(launch.well, i);
  episode.skill = sum_at(launch.skill, i);
  episode.reward_sum = sum_at(launch.returns, i);
  if (launch.crashes != NONE) {
    episode.crashes = byte_at(launch.crashes, i);
  }
  return episode;
}

// Stores the belief of a given start, if it has one.
fn put_first_belief(env: u32, i: u32) {
  if (launch.beliefs == NONE || byte_at(launch.given, i) == 0u) {
    return;
  }
  put_belief(env, belief_at(i));
}

// Resets the environments of the mask. Clears the output final_mask of all environments. An environment keeps its mode, its
// given profile and its grader if the request has no array of them.
@compute @workgroup_size(workgroup_size)
fn reset(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;  // always 0, but the compiler does not know that: see numbers.wgsl
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  let env = launch.first + i;
  put_output_word(OUTPUT_FINAL_MASK, env, 0u);
  if (!is_in(launch.mask, i)) {
    return;
  }
  if (launch.modes != NONE) {
    put_word(env, STATE_MODE, byte_at(launch.modes, i));
  }
  if (launch.profiles != NONE && word(env, STATE_MODE) == MODE_GIVEN) {
    for (var k = 0u; k < COUNT_PROFILE_FLOATS; k++) {
      put_word(env, STATE_PROFILE + k, request[launch.profiles + i * COUNT_PROFILE_FLOATS + k]);
    }
  }
  if (launch.graders != NONE) {
    for (var k = 0u; k < COUNT_COMPONENTS; k++) {
      put_word(env, STATE_GRADER + k, request[launch.graders + i * COUNT_COMPONENTS + k]);
    }
  }
  if (launch.steps == NONE) {
    begin_episode(env, request[launch.seeds + i]);
  } else {
    begin(env, request[launch.seeds + i], byte_at(launch.steps, i), given_episode(i));
    put_first_belief(env, i);
  }
  put_output(OUTPUT_REWARDS, env, 0.0);
  clear_grade(env);
}

// Resets environments after a step. An environment that took the step keeps its reward and grade; its observation
// becomes its final observation.
@compute @workgroup_size(workgroup_size)
fn reset_after_step(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;  // always 0, but the compiler does not know that: see numbers.wgsl
  let i = id.x;
  if (i >= launch.count || byte_at(launch.reset_mask, i) == 0u) {
    return;
  }
  let env = launch.first + i;
  if (is_in(launch.mask, i)) {
    copy_final_observation(env);
  } else {
    clear_grade(env);
  }
  begin_episode(env, request[launch.seeds + i]);
}
