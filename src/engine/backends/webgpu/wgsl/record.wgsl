// Records the steps of a run in `results`: one array of the trajectory after another, first the codes (a byte each), then the
// floats.

// Whether the run records its steps.
override records: bool = false;

const CODE_WORDS = COUNT_STEPS / 4u;
const METER_FLOATS = COUNT_STEPS * COUNT_METERS;
const_assert CODE_WORDS * 4u == COUNT_STEPS;
// -1, the code for no action and no event, in every byte.
const NO_CODES = 0xffffffffu;

// Stores a code in its byte. The array begins at word `which * launch.count` of the results; `which` is RECORDED_ACTIONS or
// RECORDED_EVENTS. `i` is the environment's index in the launch.
fn put_code(which: u32, i: u32, t: u32, code: u32) {
  let at = which * launch.count + i * CODE_WORDS + t / 4u;
  let shift = 8u * (t % 4u);
  results[at] = (results[at] & ~(0xffu << shift)) | ((code & 0xffu) << shift);
}
fn put_recorded_meters(which: u32, i: u32, t: u32, m: Meters) {
  let at = which * launch.count + i * METER_FLOATS + t * COUNT_METERS;
  results[at] = bitcast<u32>(m.v);
  results[at + 1u] = bitcast<u32>(m.c);
  results[at + 2u] = bitcast<u32>(m.p);
  results[at + 3u] = bitcast<u32>(m.s);
  results[at + 4u] = bitcast<u32>(m.n);
}
fn record_reward(i: u32, t: u32, reward: f32) {
  results[RECORDED_REWARDS * launch.count + i * COUNT_STEPS + t] = bitcast<u32>(reward);
}
fn clear_record(i: u32) {
  for (var k = 0u; k < CODE_WORDS; k++) {
    results[RECORDED_ACTIONS * launch.count + i * CODE_WORDS + k] = NO_CODES;
    results[RECORDED_EVENTS * launch.count + i * CODE_WORDS + k] = NO_CODES;
  }
  for (var t = 0u; t < COUNT_STEPS; t++) {
    record_reward(i, t, 0.0);
    put_recorded_meters(RECORDED_METERS, i, t, ZERO_METERS);
    put_recorded_meters(RECORDED_DELTAS, i, t, ZERO_METERS);
    put_recorded_meters(RECORDED_ANOMALIES, i, t, ZERO_METERS);
  }
}
fn record(i: u32, t: u32, m: Meters, transition: Transition) {
  put_code(RECORDED_ACTIONS, i, t, transition.action);
  put_code(RECORDED_EVENTS, i, t, select(transition.event, NO_CODES, transition.event == COUNT_EVENTS));
  record_reward(i, t, transition.reward);
  put_recorded_meters(RECORDED_METERS, i, t, m);
  put_recorded_meters(RECORDED_DELTAS, i, t, transition.delta);
  put_recorded_meters(RECORDED_ANOMALIES, i, t, transition.anomaly);
}
