// What slots show: the arrays of `Outputs`, one after the other, each of `capacity` slots.

fn place(which: u32, slot: u32) -> u32 {
  return which * launch.capacity + slot;
}
fn show(which: u32, slot: u32, value: f32) {
  shown[place(which, slot)] = bitcast<u32>(value);
}
fn show_word(which: u32, slot: u32, value: u32) {
  shown[place(which, slot)] = value;
}

// Number k of a slot stands at x + k * y.
fn row(which: u32, width: u32, slot: u32) -> vec2<u32> {
  let start = which * launch.capacity;
  return select(vec2(start + slot * width, 1u), vec2(start + slot, launch.capacity), launch.in_columns != 0u);
}

fn show_number(at: vec2<u32>, k: u32, value: f32) {
  shown[at.x + k * at.y] = bitcast<u32>(value);
}
fn show_meters(at: vec2<u32>, first: u32, m: Meters) {
  show_number(at, first, m.v);
  show_number(at, first + 1u, m.c);
  show_number(at, first + 2u, m.p);
  show_number(at, first + 3u, m.s);
  show_number(at, first + 4u, m.n);
}

fn code_or_minus_one(code: u32, none: u32) -> f32 {
  return select(f32(code), -1.0, code == none);
}

fn observe(slot: u32, t: u32, m: Meters, last: Moment) {
  let at = row(SHOWN_OBSERVATIONS, COUNT_OBSERVATION_FLOATS, slot);
  show_number(at, OBSERVATION_STEP, f32(t));
  show_number(at, OBSERVATION_DAY, f32(t / COUNT_SLOTS));
  show_number(at, OBSERVATION_SLOT, f32(t % COUNT_SLOTS));
  show_number(at, OBSERVATION_REMAINING, f32(COUNT_STEPS - t));
  show_meters(at, OBSERVATION_METERS, m);
  show_number(at, OBSERVATION_EVENT, code_or_minus_one(last.event, COUNT_EVENTS));
  show_number(at, OBSERVATION_LAST_ACTION, code_or_minus_one(last.action, COUNT_ACTIONS));
  show_number(at, OBSERVATION_REWARD, last.reward);
  show_meters(at, OBSERVATION_DELTAS, last.delta);
  show_meters(at, OBSERVATION_ANOMALIES, last.anomaly);
}

// A replaced episode's last observation is shown by the call that replaced it alone, and so is its grade.
fn keep_final(slot: u32) {
  if (launch.keeps_final == 0u) {
    return;
  }
  let origin_row = row(SHOWN_OBSERVATIONS, COUNT_OBSERVATION_FLOATS, slot);
  let to = row(SHOWN_FINAL_OBSERVATIONS, COUNT_OBSERVATION_FLOATS, slot);
  for (var k = 0u; k < COUNT_OBSERVATION_FLOATS; k++) {
    shown[to.x + k * to.y] = shown[origin_row.x + k * origin_row.y];
  }
}
fn forget_final(slot: u32) {
  if (launch.keeps_final == 0u) {
    return;
  }
  let at = row(SHOWN_FINAL_OBSERVATIONS, COUNT_OBSERVATION_FLOATS, slot);
  for (var k = 0u; k < COUNT_OBSERVATION_FLOATS; k++) {
    shown[at.x + k * at.y] = 0u;
  }
}

fn show_grade(slot: u32, grade: Grade, earned: f32, length: u32) {
  let at = row(SHOWN_COMPONENTS, COUNT_COMPONENTS, slot);
  show_number(at, 0u, grade.crash_free);
  show_number(at, 1u, grade.progress);
  show_number(at, 2u, grade.connection);
  show_number(at, 3u, grade.adaptation);
  show_number(at, 4u, grade.efficiency);
  show_number(at, 5u, grade.belief_accuracy);
  show(SHOWN_FINAL_SCORES, slot, grade.final_score);
  show(SHOWN_BELIEF_MAE, slot, grade.belief_mae);
  show(SHOWN_EARLY_MEANS, slot, grade.early_mean);
  show(SHOWN_LATE_MEANS, slot, grade.late_mean);
  show(SHOWN_EPISODE_RETURNS, slot, earned);
  show_word(SHOWN_EPISODE_LENGTHS, slot, length);
  show_word(SHOWN_TERMINATED, slot, u32(length == COUNT_STEPS));
}
fn hide_grade(slot: u32) {
  var nothing: Grade;
  show_grade(slot, nothing, 0.0, 0u);
}
fn forget_replaced(slot: u32) {
  forget_final(slot);
  if (shown[place(SHOWN_TERMINATED, slot)] != 0u && word(slot, STATE_STEP) < COUNT_STEPS) {
    hide_grade(slot);
  }
}

// Grades and shows an episode that has ended, its last reward not yet earned. Returns that reward, the grade's part
// included.
fn end_episode(slot: u32, life: Life, reward: f32) -> f32 {
  let grade = grade_of(slot, life);
  let last = add(reward, terminal_reward(grade.final_score));
  show_grade(slot, grade, add(life.earned, last), COUNT_STEPS);
  return last;
}
