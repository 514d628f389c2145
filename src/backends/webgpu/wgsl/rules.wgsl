// THE rules of a step in WGSL (world page, One step), in the order in which they are numbered there.

// What of a person the rules of a step read, by name: arrays would be indexed in memory.
struct Person {
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
fn person_of(slot: u32) -> Person {
  let at = address(slot) + STATE_PROFILE * TILE;
  return Person(
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
    meters_at(slot, STATE_PROFILE + COUNT_TRAITS),
  );
}
fn trait_in_state(at: u32, which: u32) -> f32 {
  return bitcast<f32>(state[at + which * TILE]);
}
fn neutral_person() -> Person {
  return Person(
    number(BLOCK_TRAIT_NEUTRAL + TRAIT_SOCIAL_VITALITY_MULTIPLIER),
    number(BLOCK_TRAIT_NEUTRAL + TRAIT_SOCIAL_SERENITY_BONUS),
    number(BLOCK_TRAIT_NEUTRAL + TRAIT_MORNING_FOCUS),
    number(BLOCK_TRAIT_NEUTRAL + TRAIT_NIGHT_FOCUS),
    number(BLOCK_TRAIT_NEUTRAL + TRAIT_WORK_VITALITY_RECOVERY),
    number(BLOCK_TRAIT_NEUTRAL + TRAIT_PROGRESS_SERENITY_BONUS),
    number(BLOCK_TRAIT_NEUTRAL + TRAIT_SOLO_SERENITY_BONUS),
    number(BLOCK_TRAIT_NEUTRAL + TRAIT_LEISURE_GUILT),
    number(BLOCK_TRAIT_NEUTRAL + TRAIT_STRESS_THRESHOLD),
    number(BLOCK_TRAIT_NEUTRAL + TRAIT_METABOLIC_RATE),
    number(BLOCK_TRAIT_NEUTRAL + TRAIT_EVENT_IMPACT),
    STILL,
  );
}

// Rule 2.
fn focus_of(who: Person, slot_of_day: u32) -> f32 {
  let by_day = select(1.0, who.morning_focus, slot_of_day == 0u);
  return select(by_day, who.night_focus, slot_of_day > 1u);
}

fn has_tag(tag: u32, action: u32) -> bool {
  return ((world[BLOCK_TAGGED + tag] >> action) & 1u) == 1u;
}

// Rules 1 and 2: what an action does to a person with these meters.
fn respond(who: Person, slot_of_day: u32, action: u32, m: Meters) -> Meters {
  var d = five(BLOCK_EFFECT + (slot_of_day * COUNT_ACTIONS + action) * COUNT_METERS);
  let productive = has_tag(TAG_PRODUCTIVE, action);
  let social = has_tag(TAG_SOCIAL, action);
  if (productive) {
    let focus = focus_of(who, slot_of_day);
    let vigour = add(number(BLOCK_VITALITY_FACTOR_BASE), multiply(number(BLOCK_VITALITY_FACTOR_SLOPE), m.v));
    d.p = multiply(multiply(d.p, vigour), focus);
    d.c = add(d.c, multiply(number(BLOCK_FOCUS_COGNITION), subtract(focus, 1.0)));
  }
  if (social) {
    d.v = multiply(d.v, who.social_vitality_multiplier);
  }
  if (productive) {
    d.v = add(d.v, who.work_vitality_recovery);
    d.s = add(d.s, who.progress_serenity_bonus);
  }
  if (social) {
    d.s = add(d.s, who.social_serenity_bonus);
  }
  if (has_tag(TAG_SOLO, action)) {
    d.s = add(d.s, who.solo_serenity_bonus);
  }
  if (has_tag(TAG_GUILTY, action)) {
    d.s = subtract(d.s, who.leisure_guilt);
  }
  if (m.s < who.stress_threshold) {
    d = plus(d, five(BLOCK_STRESS));
  }
  return d;
}

// Rule 3: field j of a word, ten bits as a symmetric number, exactly.
fn luck_field(bits: u32, j: u32) -> f32 {
  let field = f32((bits >> (10u * j)) & 1023u);
  return subtract(multiply(add(field, 0.5), power_of_two(-9)), 1.0);
}
fn luck_of_meters(noise: vec2<u32>) -> Meters {
  let z = Meters(
    luck_field(noise.x, 0u),
    luck_field(noise.x, 1u),
    luck_field(noise.x, 2u),
    luck_field(noise.y, 0u),
    luck_field(noise.y, 1u),
  );
  return times(five(BLOCK_NOISE_METERS), z);
}
// Of rule 8.
fn luck_of_reward(noise: vec2<u32>) -> f32 {
  return multiply(number(BLOCK_NOISE_REWARD), luck_field(noise.y, 2u));
}

// Rule 5.
fn decay_of(who: Person) -> Meters {
  var decay = five(BLOCK_DECAY);
  decay.v = multiply(decay.v, who.metabolic_rate);
  return decay;
}

// Rule 6: which event fires. None is COUNT_EVENTS.
fn event_of(draw: vec2<u32>) -> u32 {
  return select(COUNT_EVENTS, below(draw.y, COUNT_EVENTS), draw.x < world[BLOCK_EVENT_THRESHOLD]);
}

// Rule 7: how many are low.
fn count_below(m: Meters, threshold: f32) -> u32 {
  return u32(m.v < threshold) + u32(m.c < threshold) + u32(m.p < threshold) + u32(m.s < threshold) +
    u32(m.n < threshold);
}

// Rule 8, before luck.
fn reward_of(weights: Meters, delta: Meters, low: u32) -> f32 {
  let term = times(plus(weights, five(BLOCK_REWARD_BIAS)), delta);
  let sum = add(add(add(add(term.v, term.c), term.p), term.s), term.n);
  let penalty = multiply(number(BLOCK_CRASH_PENALTY), f32(low));
  return subtract(multiply(number(BLOCK_REWARD_SCALE), sum), penalty);
}

// What a step shows.
struct Moment {
  event: u32,
  action: u32,
  reward: f32,
  delta: Meters,
  anomaly: Meters,
}
// What a slot shows that has taken no step. No action is COUNT_ACTIONS.
const NO_MOMENT = Moment(COUNT_EVENTS, COUNT_ACTIONS, 0.0, STILL, STILL);

// Rules 1 to 8: one step, but for beliefs and the grade. The reward is not yet part of what was earned.
fn live(who: Person, seed: u32, t: u32, action: u32, life: ptr<function, Life>) -> Moment {
  let slot_of_day = t % COUNT_SLOTS;
  let noise = threefry(vec2(seed, world[BLOCK_STREAM_NOISE] ^ launch.imagination), vec2(t, 0u));
  let fate = threefry(vec2(seed, world[BLOCK_STREAM_EVENT] ^ launch.imagination), vec2(t, 0u));
  let before = (*life).meters;
  // Rules 1 to 3.
  var d = plus(respond(who, slot_of_day, action, before), luck_of_meters(noise));
  // Rule 4.
  let anomaly = minus(d, respond(neutral_person(), slot_of_day, action, before));
  // Rule 5.
  d = minus(d, decay_of(who));
  // Rule 6.
  let event = event_of(fate);
  if (event < COUNT_EVENTS) {
    let effect = five(BLOCK_EVENT_EFFECT + event * COUNT_METERS);
    d = plus(d, scaled(effect, who.event_impact));
  }
  // Rule 7.
  let moved = clamped(plus(before, d));
  let delta = minus(moved, before);
  let low = count_below(moved, number(BLOCK_CRASH_THRESHOLD));
  (*life).meters = moved;
  (*life).crashes += low;
  // Rule 8.
  let r = reward_of(who.weights, delta, low);
  if (t < COUNT_STEPS / 2u) {
    (*life).early = add((*life).early, r);
  } else {
    (*life).late = add((*life).late, r);
  }
  return Moment(event, action, add(r, luck_of_reward(noise)), delta, anomaly);
}
