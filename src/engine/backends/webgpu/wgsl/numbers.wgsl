// Arithmetic that no compiler can rewrite. Every + - * rounds once: the bits of its result pass through an exclusive or
// with a zero that is unknown to the compiler, so nothing can be fused, reordered or factored across it.

// The zero. Every kernel first reads it from `launch.zero` (bindings.wgsl).
var<private> zero: u32;

fn exact(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ zero);
}
fn add(a: f32, b: f32) -> f32 {
  return exact(a + b);
}
fn subtract(a: f32, b: f32) -> f32 {
  return exact(a - b);
}
fn multiply(a: f32, b: f32) -> f32 {
  return exact(a * b);
}

// Clamps by comparing bits as integers. The bits of floats from 0 on are in the order of the floats. The bits of -0 and of
// floats below 0 are negative integers, which become 0.
fn clamp01(x: f32) -> f32 {
  return bitcast<f32>(clamp(bitcast<i32>(x), 0, bitcast<i32>(1.0)));
}

// Clamps to [-1, 1]: keeps the sign and limits the magnitude.
fn clamp_unit(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  return bitcast<f32>((bits & 0x80000000u) | min(bits & 0x7fffffffu, bitcast<u32>(1.0)));
}

// Reads a number of the world.
fn world_number(at: u32) -> f32 {
  return bitcast<f32>(world[at]);
}

// 2^exponent.
fn power_of_two(exponent: i32) -> f32 {
  return bitcast<f32>(u32(exponent + 127) << 23u);
}

struct Meters {
  v: f32,
  c: f32,
  p: f32,
  s: f32,
  n: f32,
}
const ZERO_METERS = Meters(0.0, 0.0, 0.0, 0.0, 0.0);

fn plus(a: Meters, b: Meters) -> Meters {
  return Meters(add(a.v, b.v), add(a.c, b.c), add(a.p, b.p), add(a.s, b.s), add(a.n, b.n));
}
fn minus(a: Meters, b: Meters) -> Meters {
  return Meters(subtract(a.v, b.v), subtract(a.c, b.c), subtract(a.p, b.p), subtract(a.s, b.s), subtract(a.n, b.n));
}
fn times(a: Meters, b: Meters) -> Meters {
  return Meters(multiply(a.v, b.v), multiply(a.c, b.c), multiply(a.p, b.p), multiply(a.s, b.s), multiply(a.n, b.n));
}
fn scaled(a: Meters, b: f32) -> Meters {
  return times(a, Meters(b, b, b, b, b));
}
fn clamped(a: Meters) -> Meters {
  return Meters(clamp01(a.v), clamp01(a.c), clamp01(a.p), clamp01(a.s), clamp01(a.n));
}
fn meters_in_world(at: u32) -> Meters {
  return Meters(world_number(at), world_number(at + 1u), world_number(at + 2u), world_number(at + 3u), world_number(at + 4u));
}
