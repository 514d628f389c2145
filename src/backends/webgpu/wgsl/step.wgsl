// One step of a batch.

fn belief_at(i: u32) -> vec3<f32> {
  let at = launch.beliefs + i * COUNT_BELIEFS;
  return bitcast<vec3<f32>>(vec3(request[at], request[at + 1u], request[at + 2u]));
}

fn take_step(slot: u32, i: u32) {
  let t = word(slot, STATE_STEP);
  let action = byte_at(launch.actions, i);
  var life = life_of(slot);
  var moment = live(person_of(slot), word(slot, STATE_SEED), t, action, &life);
  if (launch.given != NONE && byte_at(launch.given, i) != 0u) {
    put_belief(slot, belief_at(i));
  }
  if (t + 1u == COUNT_STEPS) {
    moment.reward = end_episode(slot, life, moment.reward);
  }
  life.earned = add(life.earned, moment.reward);
  put_life(slot, life);
  note_action(slot, t, action);
  put_word(slot, STATE_STEP, t + 1u);
  show(SHOWN_REWARDS, slot, moment.reward);
  show_word(SHOWN_FINAL_MASK, slot, u32(t + 1u == COUNT_STEPS));
  observe(slot, t + 1u, life.meters, moment);
}

@compute @workgroup_size(workgroup_size)
fn step(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  let slot = launch.first + i;
  let steps = is_in(launch.mask, i);
  forget_replaced(slot);
  if (steps) {
    take_step(slot, i);
  } else {
    show(SHOWN_REWARDS, slot, 0.0);
    show_word(SHOWN_FINAL_MASK, slot, 0u);
  }
}
