// Plays many steps of each episode in one call, from its current step to the step at which it stops.

// Returns the seed of the random policy; 0 if the request has none.
fn policy_seed_at(i: u32) -> u32 {
  if (launch.seeds == NONE) {
    return 0u;
  }
  return request[launch.seeds + i];
}

// Returns the action of a run's policy. `i` is the environment's index in the launch.
fn choose(i: u32, seed: u32, t: u32, m: Meters, policy_seed: u32) -> u32 {
  if (launch.policy == POLICY_RANDOM) {
    return random_action(seed, t, policy_seed);
  }
  if (launch.policy == POLICY_HEURISTIC) {
    return heuristic_action(t, m);
  }
  return byte_at(launch.actions, i * COUNT_STEPS + t);
}

// Rule 9: belief. Applies the belief at row `at` of a sequence, if it is given. Returns whether it is given.
fn apply_belief(env: u32, at: u32) -> bool {
  if (launch.belief_kind != BELIEFS_SEQUENCE || byte_at(launch.given, at) == 0u) {
    return false;
  }
  put_belief(env, belief_at(at));
  return true;
}

// Runs an environment from step `begin` to step `stop`. `i` is its index in the launch.
fn run_env(env: u32, i: u32, begin: u32, stop: u32) {
  let profile = profile_of(env);
  let seed = word(env, STATE_SEED);
  let policy_seed = policy_seed_at(i);
  if (launch.belief_kind == BELIEFS_CONSTANT) {
    put_belief(env, belief_at(0u));
  }
  // The term of belief_skill changes only when a belief is given.
  var has_belief = word(env, STATE_GIVEN) == 1u;
  var term = 0.0;
  if (has_belief) {
    term = skill_term(env);
  }
  var episode = episode_of(env);
  var last = NO_TRANSITION;
  // The word of recorded actions that is being filled. It is stored when it is full, and after the loop.
  var packed = word(env, STATE_TAPE + (begin >> 3u));
  for (var t = begin; t < stop; t++) {
    // The last reward is added after the loop, because it may still get the terminal term.
    if (t > begin) {
      episode.reward_sum = add(episode.reward_sum, last.reward);
    }
    let action = choose(i, seed, t, episode.meters, policy_seed);
    last = step_episode(profile, draws_of(seed, t), t, action, &episode);
    if (apply_belief(env, i * COUNT_STEPS + t)) {
      has_belief = true;
      term = skill_term(env);
    }
    if (has_belief && t >= world[BLOCK_BELIEF_SKILL_FROM]) {
      episode.skill = add(episode.skill, term);
    }
    packed |= action << (4u * (t & 7u));
    if ((t & 7u) == 7u) {
      put_word(env, STATE_TAPE + (t >> 3u), packed);
      packed = 0u;
    }
    if (records) {
      record(i, t, episode.meters, last);
    }
  }
  if ((stop & 7u) != 0u) {
    put_word(env, STATE_TAPE + (stop >> 3u), packed);
  }
  if (stop == COUNT_STEPS) {
    last.reward = end_episode(env, episode, last.reward);
    if (records) {
      record_reward(i, stop - 1u, last.reward);
    }
  }
  episode.reward_sum = add(episode.reward_sum, last.reward);
  put_episode(env, episode);
  put_word(env, STATE_STEP, stop);
  put_output(OUTPUT_REWARDS, env, last.reward);
  observe(env, stop, episode.meters, last);
}

@compute @workgroup_size(workgroup_size)
fn run(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;  // always 0, but the compiler does not know that: see numbers.wgsl
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  let env = launch.first + i;
  let begin = word(env, STATE_STEP);
  var stop = COUNT_STEPS;
  if (launch.stops != NONE) {
    stop = byte_at(launch.stops, i);
  }
  if (records) {
    clear_record(i);
  }
  clear_replaced_results(env);
  put_output_word(OUTPUT_FINAL_MASK, env, u32(begin < COUNT_STEPS && stop == COUNT_STEPS));
  if (begin >= stop) {
    return;
  }
  run_env(env, i, begin, stop);
}
