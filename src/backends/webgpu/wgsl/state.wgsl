// An episode's state: tiles of TILE slots, field by field, words as STATE_FIELDS has them.

fn address(slot: u32) -> u32 {
  return (slot / TILE) * (COUNT_STATE_WORDS * TILE) + slot % TILE;
}
fn word(slot: u32, field: u32) -> u32 {
  return state[address(slot) + field * TILE];
}
fn put_word(slot: u32, field: u32, value: u32) {
  state[address(slot) + field * TILE] = value;
}
fn real(slot: u32, field: u32) -> f32 {
  return bitcast<f32>(word(slot, field));
}
fn put_real(slot: u32, field: u32, value: f32) {
  put_word(slot, field, bitcast<u32>(value));
}

fn meters_at(slot: u32, field: u32) -> Meters {
  return Meters(
    real(slot, field),
    real(slot, field + 1u),
    real(slot, field + 2u),
    real(slot, field + 3u),
    real(slot, field + 4u),
  );
}
fn put_meters(slot: u32, field: u32, m: Meters) {
  put_real(slot, field, m.v);
  put_real(slot, field + 1u, m.c);
  put_real(slot, field + 2u, m.p);
  put_real(slot, field + 3u, m.s);
  put_real(slot, field + 4u, m.n);
}

// What of an episode changes from step to step.
struct Life {
  meters: Meters,
  early: f32,
  late: f32,
  earned: f32,
  crashes: u32,
}

fn new_life(meters: Meters) -> Life {
  return Life(meters, 0.0, 0.0, 0.0, 0u);
}
fn life_of(slot: u32) -> Life {
  return Life(
    meters_at(slot, STATE_METERS),
    real(slot, STATE_EARLY),
    real(slot, STATE_LATE),
    real(slot, STATE_RETURN),
    word(slot, STATE_CRASHES),
  );
}
fn put_life(slot: u32, life: Life) {
  put_meters(slot, STATE_METERS, life.meters);
  put_real(slot, STATE_EARLY, life.early);
  put_real(slot, STATE_LATE, life.late);
  put_real(slot, STATE_RETURN, life.earned);
  put_word(slot, STATE_CRASHES, life.crashes);
}

// The tape: four bits an action, eight actions a word.
fn note_action(slot: u32, t: u32, action: u32) {
  let field = STATE_TAPE + (t >> 3u);
  put_word(slot, field, word(slot, field) | (action << (4u * (t & 7u))));
}
fn taped_action(slot: u32, t: u32) -> u32 {
  return (word(slot, STATE_TAPE + (t >> 3u)) >> (4u * (t & 7u))) & 15u;
}
