// Takes one step of a batch.

// Returns row `i` of the request's beliefs.
fn belief_at(i: u32) -> vec3<f32> {
  let at = launch.beliefs + i * COUNT_BELIEFS;
  return bitcast<vec3<f32>>(vec3(request[at], request[at + 1u], request[at + 2u]));
}

// Takes a step of an environment. `i` is its index among the environments of this launch, which begin at launch.first.
fn take_step(env: u32, i: u32) {
  let t = word(env, STATE_STEP);
  let action = byte_at(launch.actions, i);
  var episode = episode_of(env);
  var transition = step_episode(profile_of(env), draws_of(word(env, STATE_SEED), t), t, action, &episode);
  // Rule 9: belief.
  if (launch.given != NONE && byte_at(launch.given, i) != 0u) {
    put_belief(env, belief_at(i));
  }
  if (t >= world[BLOCK_BELIEF_SKILL_FROM] && word(env, STATE_GIVEN) == 1u) {
    episode.skill = add(episode.skill, skill_term(env));
  }
  // Rule 10: time.
  if (t + 1u == COUNT_STEPS) {
    transition.reward = end_episode(env, episode, transition.reward);
  }
  episode.reward_sum = add(episode.reward_sum, transition.reward);
  put_episode(env, episode);
  record_action(env, t, action);
  put_word(env, STATE_STEP, t + 1u);
  put_output(OUTPUT_REWARDS, env, transition.reward);
  put_output_word(OUTPUT_FINAL_MASK, env, u32(t + 1u == COUNT_STEPS));
  observe(env, t + 1u, episode.meters, transition);
}

@compute @workgroup_size(workgroup_size)
fn step(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;  // always 0, but the compiler does not know that: see numbers.wgsl
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  let env = launch.first + i;
  let takes_step = is_in(launch.mask, i);
  clear_replaced_results(env);
  if (takes_step) {
    take_step(env, i);
  } else {
    put_output(OUTPUT_REWARDS, env, 0.0);
    put_output_word(OUTPUT_FINAL_MASK, env, 0u);
  }
}
