// Copies the states and outputs of environments from one segment (segment.ts) of the source batch.

@group(1) @binding(0) var<storage, read> source_state: array<u32>;
@group(1) @binding(1) var<storage, read> source_outputs: array<u32>;

// Returns what `row` (outputs.wgsl) returns, for an environment of the source batch.
fn source_row(output: u32, width: u32, env: u32) -> vec2<u32> {
  let start = output * launch.source_capacity;
  let columns = vec2(start + env, launch.source_capacity);
  return select(vec2(start + env * width, 1u), columns, launch.source_in_columns != 0u);
}
fn copy_row(output: u32, width: u32, env: u32, origin: u32) {
  let to = row(output, width, env);
  let origin_row = source_row(output, width, origin);
  for (var k = 0u; k < width; k++) {
    outputs[to.x + k * to.y] = source_outputs[origin_row.x + k * origin_row.y];
  }
}

@compute @workgroup_size(workgroup_size)
fn gather(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = launch.zero;  // always 0, but the compiler does not know that: see numbers.wgsl
  let i = id.x;
  if (i >= launch.count) {
    return;
  }
  // `origin` of an environment of another segment is at least launch.source_capacity: a negative difference wraps around.
  let origin = request[launch.indices + i] - launch.source_first;
  if (origin >= launch.source_capacity) {
    return;
  }
  let env = launch.first + i;
  for (var k = 0u; k < COUNT_STATE_WORDS; k++) {
    put_word(env, k, source_state[address(origin) + k * TILE]);
  }
  copy_row(OUTPUT_OBSERVATIONS, COUNT_OBSERVATION_FLOATS, env, origin);
  copy_row(OUTPUT_COMPONENTS, COUNT_COMPONENTS, env, origin);
  // The outputs from rewards to terminated have one word per environment.
  for (var output = OUTPUT_REWARDS; output < OUTPUT_FINAL_MASK; output++) {
    copy_row(output, 1u, env, origin);
  }
  put_output_word(OUTPUT_FINAL_MASK, env, 0u);
  if (launch.keeps_final == 0u) {
    return;
  }
  if (launch.source_keeps_final == 0u) {
    clear_final_observation(env);
    return;
  }
  copy_row(OUTPUT_FINAL_OBSERVATIONS, COUNT_OBSERVATION_FLOATS, env, origin);
}
