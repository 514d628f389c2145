// Copying slots, their states and what they show, from a shard of another batch.

@group(1) @binding(0) var<storage, read> source_state: array<u32>;
@group(1) @binding(1) var<storage, read> source_shown: array<u32>;

// Number k of a slot of the source stands at x + k * y.
fn source_row(which: u32, width: u32, slot: u32) -> vec2<u32> {
  let start = which * launch.source_capacity;
  let columns = vec2(start + slot, launch.source_capacity);
  return select(vec2(start + slot * width, 1u), columns, launch.source_in_columns != 0u);
}
fn copy_row(which: u32, width: u32, slot: u32, origin: u32) {
  let to = row(which, width, slot);
  let origin_row = source_row(which, width, origin);
  for (var k = 0u; k < width; k++) {
    shown[to.x + k * to.y] = source_shown[origin_row.x + k * origin_row.y];
  }
}

@compute @workgroup_size(workgroup_size)
fn gather(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  // Slots of other shards wrap around to numbers that are none of this one's.
  let origin = request[launch.indices + i] - launch.source_first;
  if (origin >= launch.source_capacity) {
    return;
  }
  let slot = launch.first + i;
  for (var k = 0u; k < COUNT_STATE_WORDS; k++) {
    put_word(slot, k, source_state[address(origin) + k * TILE]);
  }
  copy_row(SHOWN_OBSERVATIONS, COUNT_OBSERVATION_FLOATS, slot, origin);
  copy_row(SHOWN_COMPONENTS, COUNT_COMPONENTS, slot, origin);
  for (var which = SHOWN_REWARDS; which < SHOWN_FINAL_MASK; which++) {
    copy_row(which, 1u, slot, origin);
  }
  show_word(SHOWN_FINAL_MASK, slot, 0u);
  if (launch.keeps_final == 0u) {
    return;
  }
  if (launch.source_keeps_final == 0u) {
    forget_final(slot);
    return;
  }
  copy_row(SHOWN_FINAL_OBSERVATIONS, COUNT_OBSERVATION_FLOATS, slot, origin);
}
