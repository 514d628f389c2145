// Whole episodes in one call, from their present states to their stops.

fn policy_seed_at(i: u32) -> u32 {
  if (launch.seeds == NONE) {
    return 0u;
  }
  return request[launch.seeds + i];
}

fn choose(i: u32, seed: u32, t: u32, m: Meters, policy_seed: u32) -> u32 {
  if (launch.policy == POLICY_RANDOM) {
    return random_action(seed, t, policy_seed);
  }
  if (launch.policy == POLICY_HEURISTIC) {
    return heuristic_action(t, m);
  }
  return byte_at(launch.actions, i * COUNT_STEPS + t);
}

// Beliefs change nothing but the grade, so only the last one given in [begin, end) counts.
fn take_last_belief(slot: u32, i: u32, begin: u32, end: u32) {
  if (launch.belief_kind == BELIEFS_NONE) {
    return;
  }
  if (launch.belief_kind == BELIEFS_CONSTANT) {
    put_belief(slot, belief_at(0u));
    return;
  }
  for (var t = end; t > begin; t--) {
    if (byte_at(launch.given, i * COUNT_STEPS + t - 1u) != 0u) {
      put_belief(slot, belief_at(i * COUNT_STEPS + t - 1u));
      return;
    }
  }
}

fn run_slot(slot: u32, i: u32, begin: u32, stop: u32) {
  let who = person_of(slot);
  let seed = word(slot, STATE_SEED);
  let policy_seed = policy_seed_at(i);
  take_last_belief(slot, i, begin, stop);
  var life = life_of(slot);
  var last = NO_MOMENT;
  // The word of the tape that is being written: memory sees it when it is full.
  var tape = word(slot, STATE_TAPE + (begin >> 3u));
  for (var t = begin; t < stop; t++) {
    // The last step's reward is not whole yet: see below.
    if (t > begin) {
      life.earned = add(life.earned, last.reward);
    }
    let action = choose(i, seed, t, life.meters, policy_seed);
    last = live(who, seed, t, action, &life);
    tape |= action << (4u * (t & 7u));
    if ((t & 7u) == 7u) {
      put_word(slot, STATE_TAPE + (t >> 3u), tape);
      tape = 0u;
    }
    if (records) {
      record(i, t, life.meters, last);
    }
  }
  if ((stop & 7u) != 0u) {
    put_word(slot, STATE_TAPE + (stop >> 3u), tape);
  }
  if (stop == COUNT_STEPS) {
    last.reward = end_episode(slot, life, last.reward);
    if (records) {
      record_reward(i, stop - 1u, last.reward);
    }
  }
  life.earned = add(life.earned, last.reward);
  put_life(slot, life);
  put_word(slot, STATE_STEP, stop);
  show(SHOWN_REWARDS, slot, last.reward);
  observe(slot, stop, life.meters, last);
}

@compute @workgroup_size(workgroup_size)
fn run(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  let slot = launch.first + i;
  let begin = word(slot, STATE_STEP);
  var stop = COUNT_STEPS;
  if (launch.stops != NONE) {
    stop = byte_at(launch.stops, i);
  }
  if (records) {
    clear_record(i);
  }
  forget_replaced(slot);
  show_word(SHOWN_FINAL_MASK, slot, u32(begin < COUNT_STEPS && stop == COUNT_STEPS));
  if (begin >= stop) {
    return;
  }
  run_slot(slot, i, begin, stop);
}
