// Threefry2x32-20 (Salmon et al., SC 2011), the only source of randomness.

fn rotate_left(x: u32, bits: u32) -> u32 {
  return (x << bits) | (x >> (32u - bits));
}

// Applies four rounds, which rotate by the numbers of `by`.
fn four_rounds(draw: vec2<u32>, by: vec4<u32>) -> vec2<u32> {
  var x = draw.x + draw.y;
  var y = rotate_left(draw.y, by.x) ^ x;
  x += y;
  y = rotate_left(y, by.y) ^ x;
  x += y;
  y = rotate_left(y, by.z) ^ x;
  x += y;
  y = rotate_left(y, by.w) ^ x;
  return vec2(x, y);
}

// Returns two random words. Five groups of four rounds rotate by `odd` (groups 1, 3, 5) or `even` (2, 4).
fn threefry(key: vec2<u32>, counter: vec2<u32>) -> vec2<u32> {
  const odd = vec4(13u, 15u, 26u, 6u);
  const even = vec4(17u, 29u, 16u, 24u);
  let third = key.x ^ key.y ^ 0x1BD11BDAu;  // the third word of the key, derived with the generator's constant
  var x = counter + key;
  x = four_rounds(x, odd) + vec2(key.y, third + 1u);
  x = four_rounds(x, even) + vec2(third, key.x + 2u);
  x = four_rounds(x, odd) + vec2(key.x, key.y + 3u);
  x = four_rounds(x, even) + vec2(key.y, third + 4u);
  return four_rounds(x, odd) + vec2(third, key.x + 5u);
}

// Returns an integer in [0, n), n < 65536.
fn below(x: u32, n: u32) -> u32 {
  return ((x >> 16u) * n) >> 16u;
}
