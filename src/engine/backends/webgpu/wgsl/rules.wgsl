// The rules of a step in WGSL, in the order of docs/world.md, One step.

// The random draws of a step.
struct Draws {
  noise: vec2<u32>,
  event: vec2<u32>,
}
fn draws_of(seed: u32, t: u32) -> Draws {
  return Draws(
    threefry(vec2(seed, world[BLOCK_STREAM_NOISE] ^ launch.imagination), vec2(t, 0u)),
    threefry(vec2(seed, world[BLOCK_STREAM_EVENT] ^ launch.imagination), vec2(t, 0u)),
  );
}

// The result of a step.
struct Transition {
  event: u32,
  action: u32,
  reward: f32,
  delta: Meters,
  anomaly: Meters,
}
// The transition before the first step. COUNT_ACTIONS stands for no action, COUNT_EVENTS for no event.
const NO_TRANSITION = Transition(COUNT_EVENTS, COUNT_ACTIONS, 0.0, ZERO_METERS, ZERO_METERS);

// A profile. Its numbers are named fields, because compilers keep an indexed array in memory, not in registers.
struct Profile {
  social_vitality_multiplier: f32,
  social_serenity_bonus: f32,
  morning_focus: f32,
  night_focus: f32,
  work_vitality_recovery: f32,
  progress_serenity_bonus: f32,
  solo_serenity_bonus: f32,
  leisure_guilt: f32,
  stress_threshold: f32,
  metabolic_rate: f32,
  event_impact: f32,
  weights: Meters,
}
fn profile_of(env: u32) -> Profile {
  let at = address(env) + STATE_PROFILE * TILE;
  return Profile(
    trait_in_state(at, TRAIT_SOCIAL_VITALITY_MULTIPLIER),
    trait_in_state(at, TRAIT_SOCIAL_SERENITY_BONUS),
    trait_in_state(at, TRAIT_MORNING_FOCUS),
    trait_in_state(at, TRAIT_NIGHT_FOCUS),
    trait_in_state(at, TRAIT_WORK_VITALITY_RECOVERY),
    trait_in_state(at, TRAIT_PROGRESS_SERENITY_BONUS),
    trait_in_state(at, TRAIT_SOLO_SERENITY_BONUS),
    trait_in_state(at, TRAIT_LEISURE_GUILT),
    trait_in_state(at, TRAIT_STRESS_THRESHOLD),
    trait_in_state(at, TRAIT_METABOLIC_RATE),
    trait_in_state(at, TRAIT_EVENT_IMPACT),
    meters_at(env, STATE_PROFILE + COUNT_TRAITS),
  );
}
fn trait_in_state(at: u32, which: u32) -> f32 {
  return bitcast<f32>(state[at + which * TILE]);
}
fn neutral_profile() -> Profile {
  return Profile(
    world_number(BLOCK_TRAIT_NEUTRAL + TRAIT_SOCIAL_VITALITY_MULTIPLIER),
    world_number(BLOCK_TRAIT_NEUTRAL + TRAIT_SOCIAL_SERENITY_BONUS),
    world_number(BLOCK_TRAIT_NEUTRAL + TRAIT_MORNING_FOCUS),
    world_number(BLOCK_TRAIT_NEUTRAL + TRAIT_NIGHT_FOCUS),
    world_number(BLOCK_TRAIT_NEUTRAL + TRAIT_WORK_VITALITY_RECOVERY),
    world_number(BLOCK_TRAIT_NEUTRAL + TRAIT_PROGRESS_SERENITY_BONUS),
    world_number(BLOCK_TRAIT_NEUTRAL + TRAIT_SOLO_SERENITY_BONUS),
    world_number(BLOCK_TRAIT_NEUTRAL + TRAIT_LEISURE_GUILT),
    world_number(BLOCK_TRAIT_NEUTRAL + TRAIT_STRESS_THRESHOLD),
    world_number(BLOCK_TRAIT_NEUTRAL + TRAIT_METABOLIC_RATE),
    world_number(BLOCK_TRAIT_NEUTRAL + TRAIT_EVENT_IMPACT),
    ZERO_METERS,
  );
}

// Returns whether an action has a tag. Bit a of BLOCK_TAGGED + tag is 1 if action a has it.
fn has_tag(tag: u32, action: u32) -> bool {
  return ((world[BLOCK_TAGGED + tag] >> action) & 1u) == 1u;
}

// Rule 1: effect.
fn effect_of(slot: u32, action: u32) -> Meters {
  return meters_in_world(BLOCK_EFFECT + (slot * COUNT_ACTIONS + action) * COUNT_METERS);
}

// Rule 2: response.
fn focus_of(profile: Profile, slot: u32) -> f32 {
  let by_day = select(1.0, profile.morning_focus, slot == 0u);
  return select(by_day, profile.night_focus, slot > 1u);
}
fn response_of(profile: Profile, slot: u32, action: u32, m: Meters, effect: Meters) -> Meters {
  var d = effect;
  let productive = has_tag(TAG_PRODUCTIVE, action);
  let social = has_tag(TAG_SOCIAL, action);
  if (productive) {
    let focus = focus_of(profile, slot);
    let vigour = add(world_number(BLOCK_VITALITY_FACTOR_BASE), multiply(world_number(BLOCK_VITALITY_FACTOR_SLOPE), m.v));
    d.p = multiply(multiply(d.p, vigour), focus);
    d.c = add(d.c, multiply(world_number(BLOCK_FOCUS_COGNITION), subtract(focus, 1.0)));
  }
  if (social) {
    d.v = multiply(d.v, profile.social_vitality_multiplier);
  }
  if (productive) {
    d.v = add(d.v, profile.work_vitality_recovery);
    d.s = add(d.s, profile.progress_serenity_bonus);
  }
  if (social) {
    d.s = add(d.s, profile.social_serenity_bonus);
  }
  if (has_tag(TAG_SOLO, action)) {
    d.s = add(d.s, profile.solo_serenity_bonus);
  }
  if (has_tag(TAG_GUILTY, action)) {
    d.s = subtract(d.s, profile.leisure_guilt);
  }
  if (m.s < profile.stress_threshold) {
    d = plus(d, meters_in_world(BLOCK_STRESS));
  }
  return d;
}

// Rule 3: noise. Returns field j of a word: ten bits as an exact number in (-1, 1).
fn noise_field(bits: u32, j: u32) -> f32 {
  let field = f32((bits >> (10u * j)) & 1023u);
  return subtract(multiply(add(field, 0.5), power_of_two(-9)), 1.0);
}
fn noise_of_meters(draw: vec2<u32>) -> Meters {
  let z = Meters(
    noise_field(draw.x, 0u),
    noise_field(draw.x, 1u),
    noise_field(draw.x, 2u),
    noise_field(draw.y, 0u),
    noise_field(draw.y, 1u),
  );
  return times(meters_in_world(BLOCK_NOISE_METERS), z);
}

// Rule 5: decay.
fn decay_of(profile: Profile) -> Meters {
  var decay = meters_in_world(BLOCK_DECAY);
  decay.v = multiply(decay.v, profile.metabolic_rate);
  return decay;
}

// Rule 6: event. Returns its code, or COUNT_EVENTS for no event.
fn event_of(draw: vec2<u32>) -> u32 {
  return select(COUNT_EVENTS, below(draw.y, COUNT_EVENTS), draw.x < world[BLOCK_EVENT_THRESHOLD]);
}
fn impact_of(profile: Profile, event: u32) -> Meters {
  return scaled(meters_in_world(BLOCK_EVENT_EFFECT + event * COUNT_METERS), profile.event_impact);
}

// Rule 7: meters. Returns how many meters are below the threshold.
fn count_below(m: Meters, threshold: f32) -> u32 {
  return u32(m.v < threshold) + u32(m.c < threshold) + u32(m.p < threshold) + u32(m.s < threshold) +
    u32(m.n < threshold);
}

// Rules 7 and 8. Adds five numbers from left to right.
fn sum_of(term: Meters) -> f32 {
  return add(add(add(add(term.v, term.c), term.p), term.s), term.n);
}

// Rule 8: reward. Returns the reward without noise.
fn reward_of(weights: Meters, delta: Meters, low: u32) -> f32 {
  let sum = sum_of(times(plus(weights, meters_in_world(BLOCK_REWARD_BIAS)), delta));
  let penalty = multiply(world_number(BLOCK_CRASH_PENALTY), f32(low));
  return subtract(multiply(world_number(BLOCK_REWARD_SCALE), sum), penalty);
}
// Rule 8: reward. Returns the noise.
fn noise_of_reward(draw: vec2<u32>) -> f32 {
  return multiply(world_number(BLOCK_NOISE_REWARD), noise_field(draw.y, 2u));
}

// Rules 1 to 8. The caller applies rules 9 and 10, and adds the reward to the episode's return.
fn step_episode(
  profile: Profile,
  draws: Draws,
  t: u32,
  action: u32,
  episode: ptr<function, EpisodeState>,
) -> Transition {
  let slot = t % COUNT_SLOTS;
  let before = (*episode).meters;
  // Rule 1: effect.
  let effect = effect_of(slot, action);
  // Rule 2: response.
  var d = response_of(profile, slot, action, before, effect);
  // Rule 3: noise.
  d = plus(d, noise_of_meters(draws.noise));
  // Rule 4: anomaly.
  let anomaly = minus(d, response_of(neutral_profile(), slot, action, before, effect));
  // Rule 5: decay.
  d = minus(d, decay_of(profile));
  // Rule 6: event.
  let event = event_of(draws.event);
  if (event < COUNT_EVENTS) {
    d = plus(d, impact_of(profile, event));
  }
  // Rule 7: meters.
  let moved = clamped(plus(before, d));
  let delta = minus(moved, before);
  let low = count_below(moved, world_number(BLOCK_CRASH_THRESHOLD));
  (*episode).meters = moved;
  (*episode).crashes += low;
  (*episode).well = add((*episode).well, sum_of(times(profile.weights, moved)));
  // Rule 8: reward.
  let r = reward_of(profile.weights, delta, low);
  if (t < COUNT_STEPS / 2u) {
    (*episode).early = add((*episode).early, r);
  } else {
    (*episode).late = add((*episode).late, r);
  }
  return Transition(event, action, add(r, noise_of_reward(draws.noise)), delta, anomaly);
}
