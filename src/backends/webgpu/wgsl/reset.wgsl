// Beginning episodes.

// A new episode of a slot, at step `t`; its person drawn as its mode says; floats that were given stay.
fn begin(slot: u32, seed: u32, t: u32, life: Life) {
  let mode = word(slot, STATE_MODE);
  if (mode == MODE_SAMPLED) {
    put_sampled_profile(slot, seed);
  } else if (mode == MODE_DISCRETE) {
    put_discrete_profile(slot, seed);
  }
  put_word(slot, STATE_SEED, seed);
  put_word(slot, STATE_STEP, t);
  put_life(slot, life);
  put_word(slot, STATE_GIVEN, 0u);
  for (var k = 0u; k < COUNT_TAPE_WORDS; k++) {
    put_word(slot, STATE_TAPE + k, 0u);
  }
  for (var k = 0u; k < COUNT_BELIEFS; k++) {
    put_real(slot, STATE_BELIEF + k, 0.5);
  }
  put_word(slot, STATE_BEGAN, t);
  put_meters(slot, STATE_FIRST_METERS, life.meters);
  observe(slot, t, life.meters, NO_MOMENT);
}
fn begin_week(slot: u32, seed: u32) {
  begin(slot, seed, 0u, new_life(five(BLOCK_INITIAL_METERS)));
}

// What has been before an episode that begins later in the week.
fn sum_at(sums: u32, i: u32) -> f32 {
  if (sums == NONE) {
    return 0.0;
  }
  return bitcast<f32>(request[sums + i]);
}
fn given_life(i: u32) -> Life {
  let at = launch.meters + i * COUNT_METERS;
  var life = new_life(
    Meters(
      bitcast<f32>(request[at]),
      bitcast<f32>(request[at + 1u]),
      bitcast<f32>(request[at + 2u]),
      bitcast<f32>(request[at + 3u]),
      bitcast<f32>(request[at + 4u]),
    ),
  );
  life.early = sum_at(launch.early, i);
  life.late = sum_at(launch.late, i);
  life.earned = sum_at(launch.returns, i);
  if (launch.crashes != NONE) {
    life.crashes = byte_at(launch.crashes, i);
  }
  return life;
}

@compute @workgroup_size(workgroup_size)
fn reset(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  let slot = launch.first + i;
  show_word(SHOWN_FINAL_MASK, slot, 0u);
  if (!is_in(launch.mask, i)) {
    return;
  }
  if (launch.modes != NONE) {
    put_word(slot, STATE_MODE, byte_at(launch.modes, i));
  }
  if (launch.profiles != NONE && word(slot, STATE_MODE) == MODE_GIVEN) {
    for (var k = 0u; k < COUNT_PROFILE_FLOATS; k++) {
      put_word(slot, STATE_PROFILE + k, request[launch.profiles + i * COUNT_PROFILE_FLOATS + k]);
    }
  }
  if (launch.graders != NONE) {
    for (var k = 0u; k < COUNT_COMPONENTS; k++) {
      put_word(slot, STATE_GRADER + k, request[launch.graders + i * COUNT_COMPONENTS + k]);
    }
  }
  if (launch.steps == NONE) {
    begin_week(slot, request[launch.seeds + i]);
  } else {
    begin(slot, request[launch.seeds + i], byte_at(launch.steps, i), given_life(i));
  }
  show(SHOWN_REWARDS, slot, 0.0);
  hide_grade(slot);
}

// After a step: a slot that took it keeps its reward and its grade, and what it showed as its final observation.
@compute @workgroup_size(workgroup_size)
fn begin_anew(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;
  let i = id.x;
  if (i >= launch.count || byte_at(launch.reset_mask, i) == 0u) {
    return;
  }
  let slot = launch.first + i;
  if (is_in(launch.mask, i)) {
    keep_final(slot);
  } else {
    hide_grade(slot);
  }
  begin_week(slot, request[launch.seeds + i]);
}
