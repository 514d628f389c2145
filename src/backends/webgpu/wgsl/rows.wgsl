// States as rows of words, and what they show of themselves: the last step, lived again; hashes; targets.

@compute @workgroup_size(workgroup_size)
fn save(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  var slot = launch.first + i;
  if (launch.indices != NONE) {
    // Slots of other shards wrap around to numbers that are none of this one's.
    slot = request[launch.indices + i] - launch.source_first;
    if (slot >= launch.capacity) {
      return;
    }
  }
  for (var k = 0u; k < COUNT_STATE_WORDS; k++) {
    sink[i * COUNT_STATE_WORDS + k] = word(slot, k);
  }
}

// The last step is no part of the state: it is lived again, from the seed, the tape and how the episode began.
fn relive(slot: u32, steps: u32) -> Moment {
  let who = person_of(slot);
  var life = new_life(meters_at(slot, STATE_FIRST_METERS));
  var last = NO_MOMENT;
  for (var t = word(slot, STATE_BEGAN); t < steps; t++) {
    last = live(who, word(slot, STATE_SEED), t, taped_action(slot, t), &life);
  }
  return last;
}

@compute @workgroup_size(workgroup_size)
fn load(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  let slot = launch.first + i;
  for (var k = 0u; k < COUNT_STATE_WORDS; k++) {
    put_word(slot, k, request[launch.rows + i * COUNT_STATE_WORDS + k]);
  }
  let steps = word(slot, STATE_STEP);
  let life = life_of(slot);
  var last = relive(slot, steps);
  forget_final(slot);
  show_word(SHOWN_FINAL_MASK, slot, 0u);
  hide_grade(slot);
  if (steps == COUNT_STEPS) {
    let grade = grade_of(slot, life);
    last.reward = add(last.reward, terminal_reward(grade.final_score));
    show_grade(slot, grade, life.earned, COUNT_STEPS);
  }
  show(SHOWN_REWARDS, slot, last.reward);
  observe(slot, steps, life.meters, last);
}

// What a state's hash is chained over: seed, step, the bits of meters and profile, and a 0, in pairs.
const HASHED_WORDS = COUNT_METERS + COUNT_PROFILE_FLOATS + 3u;
const_assert HASHED_WORDS % 2u == 0u;

@compute @workgroup_size(workgroup_size)
fn hash(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  let slot = launch.first + i;
  var words: array<u32, HASHED_WORDS>;
  words[0] = word(slot, STATE_SEED);
  words[1] = word(slot, STATE_STEP);
  for (var k = 0u; k < COUNT_METERS; k++) {
    words[2u + k] = word(slot, STATE_METERS + k);
  }
  for (var k = 0u; k < COUNT_PROFILE_FLOATS; k++) {
    words[2u + COUNT_METERS + k] = word(slot, STATE_PROFILE + k);
  }
  var key = vec2(0x52485954u, 0x484D5653u);
  for (var pair = 0u; pair < HASHED_WORDS; pair += 2u) {
    key = threefry(key, vec2(words[pair], words[pair + 1u]));
  }
  sink[2u * i] = key.x;
  sink[2u * i + 1u] = key.y;
}

@compute @workgroup_size(workgroup_size)
fn targets(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  for (var k = 0u; k < COUNT_BELIEFS; k++) {
    sink[i * COUNT_BELIEFS + k] = bitcast<u32>(target_of(launch.first + i, k));
  }
}
