// The actions of the random and the heuristic policy.

fn random_action(seed: u32, t: u32, policy_seed: u32) -> u32 {
  return below(threefry(vec2(seed, world[BLOCK_STREAM_POLICY]), vec2(t, policy_seed)).x, COUNT_ACTIONS);
}

fn meter_by_code(m: Meters, code: u32) -> f32 {
  let low = select(select(m.v, m.c, code == 1u), m.p, code == 2u);
  return select(select(low, m.s, code == 3u), m.n, code == 4u);
}

// Returns the action of the first rule that applies, else the slot's scheduled action.
fn heuristic_action(t: u32, m: Meters) -> u32 {
  let slot = t % COUNT_SLOTS;
  for (var rule = 0u; rule < COUNT_HEURISTIC_RULES; rule++) {
    let in_slot = ((world[BLOCK_HEURISTIC_SLOTS + rule] >> slot) & 1u) == 1u;
    let meter = meter_by_code(m, world[BLOCK_HEURISTIC_METER + rule]);
    let holds = meter < world_number(BLOCK_HEURISTIC_BELOW + rule);
    if (in_slot && holds) {
      return world[BLOCK_HEURISTIC_ACTION + rule];
    }
  }
  return world[BLOCK_HEURISTIC_SCHEDULE + slot];
}
