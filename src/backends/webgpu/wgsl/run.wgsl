// Whole episodes in one call, from their present states to their stops.

// Whether each step is written down.
override records: bool = false;

fn random_action(seed: u32, t: u32, policy_seed: u32) -> u32 {
  return below(threefry(vec2(seed, world[BLOCK_STREAM_POLICY]), vec2(t, policy_seed)).x, COUNT_ACTIONS);
}

fn meter_by_code(m: Meters, code: u32) -> f32 {
  let low = select(select(m.v, m.c, code == 1u), m.p, code == 2u);
  return select(select(low, m.s, code == 3u), m.n, code == 4u);
}

// The first rule that holds decides.
fn heuristic_action(t: u32, m: Meters) -> u32 {
  let slot_of_day = t % COUNT_SLOTS;
  for (var rule = 0u; rule < COUNT_HEURISTIC_RULES; rule++) {
    let in_slot = ((world[BLOCK_HEURISTIC_SLOTS + rule] >> slot_of_day) & 1u) == 1u;
    let meter = meter_by_code(m, world[BLOCK_HEURISTIC_METER + rule]);
    let holds = meter < number(BLOCK_HEURISTIC_BELOW + rule);
    if (in_slot && holds) {
      return world[BLOCK_HEURISTIC_ACTION + rule];
    }
  }
  return world[BLOCK_HEURISTIC_SCHEDULE + slot_of_day];
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

// A trajectory's rows, array after array: codes as bytes, then floats.
const CODE_WORDS = COUNT_STEPS / 4u;
const METER_FLOATS = COUNT_STEPS * COUNT_METERS;
const_assert CODE_WORDS * 4u == COUNT_STEPS;

fn put_code(which: u32, i: u32, t: u32, code: u32) {
  let at = which * launch.count + i * CODE_WORDS + t / 4u;
  let shift = 8u * (t % 4u);
  sink[at] = (sink[at] & ~(0xffu << shift)) | ((code & 0xffu) << shift);
}
fn put_recorded_meters(which: u32, i: u32, t: u32, m: Meters) {
  let at = which * launch.count + i * METER_FLOATS + t * COUNT_METERS;
  sink[at] = bitcast<u32>(m.v);
  sink[at + 1u] = bitcast<u32>(m.c);
  sink[at + 2u] = bitcast<u32>(m.p);
  sink[at + 3u] = bitcast<u32>(m.s);
  sink[at + 4u] = bitcast<u32>(m.n);
}
fn clear_record(i: u32) {
  for (var k = 0u; k < CODE_WORDS; k++) {
    sink[RECORDED_ACTIONS * launch.count + i * CODE_WORDS + k] = NONE;
    sink[RECORDED_EVENTS * launch.count + i * CODE_WORDS + k] = NONE;
  }
  for (var t = 0u; t < COUNT_STEPS; t++) {
    record_reward(i, t, 0.0);
    put_recorded_meters(RECORDED_METERS, i, t, STILL);
    put_recorded_meters(RECORDED_DELTAS, i, t, STILL);
    put_recorded_meters(RECORDED_ANOMALIES, i, t, STILL);
  }
}
fn record_reward(i: u32, t: u32, reward: f32) {
  sink[RECORDED_REWARDS * launch.count + i * COUNT_STEPS + t] = bitcast<u32>(reward);
}
fn record(i: u32, t: u32, m: Meters, moment: Moment) {
  put_code(RECORDED_ACTIONS, i, t, moment.action);
  put_code(RECORDED_EVENTS, i, t, select(moment.event, NONE, moment.event == COUNT_EVENTS));
  record_reward(i, t, moment.reward);
  put_recorded_meters(RECORDED_METERS, i, t, m);
  put_recorded_meters(RECORDED_DELTAS, i, t, moment.delta);
  put_recorded_meters(RECORDED_ANOMALIES, i, t, moment.anomaly);
}

fn run_slot(slot: u32, i: u32, begin: u32, stop: u32) {
  let who = person_of(slot);
  let seed = word(slot, STATE_SEED);
  var policy_seed = 0u;
  if (launch.seeds != NONE) {
    policy_seed = request[launch.seeds + i];
  }
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
