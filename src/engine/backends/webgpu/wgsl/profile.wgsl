// Profiles drawn from a seed, and the belief target of a profile (docs/world.md, Profiles).

// The random numbers of a sampled profile: one for each trait, and nine for the reward weights. After sorting, the second,
// fourth, sixth and eighth of the nine divide [0, 1] into five parts: the weights are their lengths.
const UNITS = 20u;
const SORTED_UNITS = UNITS - COUNT_TRAITS;
// A sorting network of 25 exchanges for nine numbers (Floyd's; Knuth, The Art of Computer Programming, vol. 3, 5.3.4).
const EXCHANGES = array<vec2<u32>, 25>(
  vec2(0, 1), vec2(3, 4), vec2(6, 7), vec2(1, 2), vec2(4, 5), vec2(7, 8), vec2(0, 1), vec2(3, 4), vec2(6, 7),
  vec2(0, 3), vec2(3, 6), vec2(0, 3), vec2(1, 4), vec2(4, 7), vec2(1, 4), vec2(2, 5), vec2(5, 8), vec2(2, 5),
  vec2(1, 3), vec2(5, 7), vec2(2, 6), vec2(4, 6), vec2(2, 4), vec2(2, 3), vec2(5, 6),
);

// Returns bits * 2^-24, exactly. `bits` is at most 2^24.
fn unit(bits: u32) -> f32 {
  return multiply(f32(bits), power_of_two(-24));
}

// Stores the sampled profile of a seed in the state.
fn put_sampled_profile(env: u32, seed: u32) {
  var bits: array<u32, UNITS>;
  for (var b = 0u; b < UNITS / 2u; b++) {
    let draw = threefry(vec2(seed, world[BLOCK_STREAM_PROFILE]), vec2(b, 0u)) >> vec2(8u, 8u);
    bits[2u * b] = draw.x;
    bits[2u * b + 1u] = draw.y;
  }
  for (var k = 0u; k < COUNT_TRAITS; k++) {
    let above = multiply(world_number(BLOCK_TRAIT_SPAN + k), unit(bits[k]));
    put_number(env, STATE_PROFILE + k, add(world_number(BLOCK_TRAIT_LOW + k), above));
  }
  var q: array<u32, SORTED_UNITS>;
  for (var k = 0u; k < SORTED_UNITS; k++) {
    q[k] = bits[COUNT_TRAITS + k];
  }
  for (var e = 0u; e < 25u; e++) {
    let pair = EXCHANGES[e];
    let a = q[pair.x];
    let b = q[pair.y];
    q[pair.x] = min(a, b);
    q[pair.y] = max(a, b);
  }
  // The reward weights: one number for each meter.
  put_meters(
    env,
    STATE_PROFILE + COUNT_TRAITS,
    Meters(unit(q[1]), unit(q[3] - q[1]), unit(q[5] - q[3]), unit(q[7] - q[5]), unit((1u << 24u) - q[7])),
  );
}

// Stores the discrete profile of a seed, one of the named profiles, in the state.
fn put_discrete_profile(env: u32, seed: u32) {
  let draw = threefry(vec2(seed, world[BLOCK_STREAM_PROFILE]), vec2(0u, 1u));
  let at = BLOCK_NAMED_PROFILES + below(draw.x, COUNT_NAMED_PROFILES) * COUNT_PROFILE_FLOATS;
  for (var k = 0u; k < COUNT_PROFILE_FLOATS; k++) {
    put_word(env, STATE_PROFILE + k, world[at + k]);
  }
}

// Returns one factor of a belief target, times its share.
fn factor_term(env: u32, at: u32) -> f32 {
  let source = world[BLOCK_BELIEF_SOURCE + at];
  let of_profile = state_number(env, STATE_PROFILE + source);
  var z = multiply(of_profile, world_number(BLOCK_BELIEF_WEIGHT_SCALE));
  if (source < COUNT_TRAITS) {
    let above = subtract(of_profile, world_number(BLOCK_TRAIT_LOW + source));
    z = multiply(above, world_number(BLOCK_TRAIT_INVERSE_SPAN + source));
  }
  z = clamp01(z);
  if (world[BLOCK_BELIEF_INVERTED + at] != 0u) {
    z = subtract(1.0, z);
  }
  return multiply(world_number(BLOCK_BELIEF_SHARE + at), z);
}

// Returns one of the three numbers of the belief target.
fn target_of(env: u32, belief: u32) -> f32 {
  let at = belief * COUNT_BELIEF_FACTORS;
  let sum = add(add(factor_term(env, at), factor_term(env, at + 1u)), factor_term(env, at + 2u));
  return clamp01(add(0.5, multiply(world_number(BLOCK_BELIEF_GAIN), subtract(sum, 0.5))));
}
