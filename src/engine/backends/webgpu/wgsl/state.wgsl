// Loads and stores states. They are kept in tiles of TILE environments, field by field, with the words of STATE_FIELDS.

fn address(env: u32) -> u32 {
  return (env / TILE) * (COUNT_STATE_WORDS * TILE) + env % TILE;
}
fn word(env: u32, field: u32) -> u32 {
  return state[address(env) + field * TILE];
}
fn put_word(env: u32, field: u32, value: u32) {
  state[address(env) + field * TILE] = value;
}
fn real(env: u32, field: u32) -> f32 {
  return bitcast<f32>(word(env, field));
}
fn put_real(env: u32, field: u32, value: f32) {
  put_word(env, field, bitcast<u32>(value));
}

fn meters_at(env: u32, field: u32) -> Meters {
  return Meters(
    real(env, field),
    real(env, field + 1u),
    real(env, field + 2u),
    real(env, field + 3u),
    real(env, field + 4u),
  );
}
fn put_meters(env: u32, field: u32, m: Meters) {
  put_real(env, field, m.v);
  put_real(env, field + 1u, m.c);
  put_real(env, field + 2u, m.p);
  put_real(env, field + 3u, m.s);
  put_real(env, field + 4u, m.n);
}

// The part of an episode's state that every step changes.
struct EpisodeState {
  meters: Meters,
  early: f32,
  late: f32,
  earned: f32,
  crashes: u32,
}

fn new_episode(meters: Meters) -> EpisodeState {
  return EpisodeState(meters, 0.0, 0.0, 0.0, 0u);
}
fn episode_of(env: u32) -> EpisodeState {
  return EpisodeState(
    meters_at(env, STATE_METERS),
    real(env, STATE_EARLY),
    real(env, STATE_LATE),
    real(env, STATE_RETURN),
    word(env, STATE_CRASHES),
  );
}
fn put_episode(env: u32, episode: EpisodeState) {
  put_meters(env, STATE_METERS, episode.meters);
  put_real(env, STATE_EARLY, episode.early);
  put_real(env, STATE_LATE, episode.late);
  put_real(env, STATE_RETURN, episode.earned);
  put_word(env, STATE_CRASHES, episode.crashes);
}

// Records an action: four bits per action, eight actions per word.
fn record_action(env: u32, t: u32, action: u32) {
  let field = STATE_TAPE + (t >> 3u);
  put_word(env, field, word(env, field) | (action << (4u * (t & 7u))));
}
fn stored_action(env: u32, t: u32) -> u32 {
  return (word(env, STATE_TAPE + (t >> 3u)) >> (4u * (t & 7u))) & 15u;
}
