// The bindings of every kernel (KERNELS of program.ts). A request's arrays lie in `request`, with rows for the
// environments from `launch.first` on. The fields of `launch` (buffer-layout.ts) hold their offsets; NONE marks an absent
// array.

@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> world: array<u32, COUNT_BLOCK_WORDS>;
@group(0) @binding(2) var<storage, read_write> state: array<u32>;
@group(0) @binding(3) var<storage, read_write> outputs: array<u32>;
@group(0) @binding(4) var<storage, read> request: array<u32>;
@group(0) @binding(5) var<storage, read_write> results: array<u32>;

// program.ts sets the value.
override workgroup_size: u32 = 64;

// Functions that read entry `i` of an array of bytes in `request`, four to a word. `bytes` and `mask` are the array's offset in
// words. An absent mask contains every environment.
fn byte_at(bytes: u32, i: u32) -> u32 {
  return (request[bytes + (i >> 2u)] >> (8u * (i & 3u))) & 0xffu;
}
fn is_in(mask: u32, i: u32) -> bool {
  if (mask == NONE) {
    return true;
  }
  return byte_at(mask, i) != 0u;
}
