// Saves and loads states as rows of words; computes hashes and belief targets.

// Saves the states of the launch's environments (launcher.ts); with `indices`, of the listed ones that are in this segment
// (segment.ts).
@compute @workgroup_size(workgroup_size)
fn save(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;  // always 0, but the compiler does not know that: see numbers.wgsl
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  var env = launch.first + i;
  if (launch.indices != NONE) {
    // For an environment of another segment the result is at least launch.capacity: below 0 the subtraction wraps around.
    env = request[launch.indices + i] - launch.source_first;
    if (env >= launch.capacity) {
      return;
    }
  }
  for (var k = 0u; k < COUNT_STATE_WORDS; k++) {
    results[i * COUNT_STATE_WORDS + k] = word(env, k);
  }
}

// Returns the last transition. The state does not contain it, so it is replayed from profile, seed, actions and first meters.
fn replay_last_step(env: u32, steps: u32) -> Transition {
  let profile = profile_of(env);
  let seed = word(env, STATE_SEED);
  var episode = new_episode(meters_at(env, STATE_FIRST_METERS));
  var last = NO_TRANSITION;
  for (var t = word(env, STATE_BEGAN); t < steps; t++) {
    last = step_episode(profile, draws_of(seed, t), t, stored_action(env, t), &episode);
  }
  return last;
}

// Loads states, and computes their outputs again unless the request keeps them.
@compute @workgroup_size(workgroup_size)
fn load(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;  // always 0, but the compiler does not know that: see numbers.wgsl
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  let env = launch.first + i;
  for (var k = 0u; k < COUNT_STATE_WORDS; k++) {
    put_word(env, k, request[launch.rows + i * COUNT_STATE_WORDS + k]);
  }
  if (launch.keeps_outputs != 0u) {
    return;
  }
  let steps = word(env, STATE_STEP);
  let episode = episode_of(env);
  var last = replay_last_step(env, steps);
  clear_final_observation(env);
  put_output_word(OUTPUT_FINAL_MASK, env, 0u);
  clear_grade(env);
  if (steps == COUNT_STEPS) {
    let grade = grade_of(env, episode);
    last.reward = add(last.reward, terminal_reward(grade.final_score));
    put_grade(env, grade, episode.reward_sum, COUNT_STEPS);
  }
  put_output(OUTPUT_REWARDS, env, last.reward);
  observe(env, steps, episode.meters, last);
}

// The number of words that a state's hash covers: seed, step, the bits of meters and profile, and a 0, in pairs.
const HASHED_WORDS = COUNT_METERS + COUNT_PROFILE_FLOATS + 3u;
const_assert HASHED_WORDS % 2u == 0u;

@compute @workgroup_size(workgroup_size)
fn hash(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;  // always 0, but the compiler does not know that: see numbers.wgsl
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  let env = launch.first + i;
  var words: array<u32, HASHED_WORDS>;
  words[0] = word(env, STATE_SEED);
  words[1] = word(env, STATE_STEP);
  for (var k = 0u; k < COUNT_METERS; k++) {
    words[2u + k] = word(env, STATE_METERS + k);
  }
  for (var k = 0u; k < COUNT_PROFILE_FLOATS; k++) {
    words[2u + COUNT_METERS + k] = word(env, STATE_PROFILE + k);
  }
  var key = vec2(0x52485954u, 0x484D5653u);  // "RHYTHMVS" in ASCII
  for (var pair = 0u; pair < HASHED_WORDS; pair += 2u) {
    key = threefry(key, vec2(words[pair], words[pair + 1u]));
  }
  results[2u * i] = key.x;
  results[2u * i + 1u] = key.y;
}

@compute @workgroup_size(workgroup_size)
fn targets(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;  // always 0, but the compiler does not know that: see numbers.wgsl
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  for (var k = 0u; k < COUNT_BELIEFS; k++) {
    results[i * COUNT_BELIEFS + k] = bitcast<u32>(target_of(launch.first + i, k));
  }
}
