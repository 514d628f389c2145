// Loads and stores states. The buffer consists of tiles of TILE environments. A tile has, for each word of STATE_FIELDS
// (src/world/fields.ts), that word of all its environments.

// Returns the index of an environment's first word. Its next words follow at a distance of TILE.
fn address(env: u32) -> u32 {
  return (env / TILE) * (COUNT_STATE_WORDS * TILE) + env % TILE;
}
fn word(env: u32, field: u32) -> u32 {
  return state[address(env) + field * TILE];
}
fn put_word(env: u32, field: u32, value: u32) {
  state[address(env) + field * TILE] = value;
}
fn state_number(env: u32, field: u32) -> f32 {
  return bitcast<f32>(word(env, field));
}
fn put_number(env: u32, field: u32, value: f32) {
  put_word(env, field, bitcast<u32>(value));
}

fn meters_at(env: u32, field: u32) -> Meters {
  return Meters(
    state_number(env, field),
    state_number(env, field + 1u),
    state_number(env, field + 2u),
    state_number(env, field + 3u),
    state_number(env, field + 4u),
  );
}
fn put_meters(env: u32, field: u32, m: Meters) {
  put_number(env, field, m.v);
  put_number(env, field + 1u, m.c);
  put_number(env, field + 2u, m.p);
  put_number(env, field + 3u, m.s);
  put_number(env, field + 4u, m.n);
}

// The meters, sums and crashes of an episode. STATE_FIELDS says what each sum is.
struct EpisodeState {
  meters: Meters,
  early: f32,
  late: f32,
  well: f32,
  skill: f32,
  reward_sum: f32,
  crashes: u32,
}

fn new_episode(meters: Meters) -> EpisodeState {
  return EpisodeState(meters, 0.0, 0.0, 0.0, 0.0, 0.0, 0u);
}
fn episode_of(env: u32) -> EpisodeState {
  return EpisodeState(
    meters_at(env, STATE_METERS),
    state_number(env, STATE_EARLY),
    state_number(env, STATE_LATE),
    state_number(env, STATE_WELL),
    state_number(env, STATE_SKILL),
    state_number(env, STATE_RETURN),
    word(env, STATE_CRASHES),
  );
}
fn put_episode(env: u32, episode: EpisodeState) {
  put_meters(env, STATE_METERS, episode.meters);
  put_number(env, STATE_EARLY, episode.early);
  put_number(env, STATE_LATE, episode.late);
  put_number(env, STATE_WELL, episode.well);
  put_number(env, STATE_SKILL, episode.skill);
  put_number(env, STATE_RETURN, episode.reward_sum);
  put_word(env, STATE_CRASHES, episode.crashes);
}

// Records an action in the state's field `tape`: four bits per action, eight actions per word.
fn record_action(env: u32, t: u32, action: u32) {
  let field = STATE_TAPE + (t >> 3u);
  put_word(env, field, word(env, field) | (action << (4u * (t & 7u))));
}
// Returns the action of step `t` from the same field.
fn stored_action(env: u32, t: u32) -> u32 {
  return (word(env, STATE_TAPE + (t >> 3u)) >> (4u * (t & 7u))) & 15u;
}
