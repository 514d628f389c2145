/** Flags of WebGPU, with the values of its specification. Node has no globals for them. */

/** GPUBufferUsage. */
export const USAGE = {
  mapRead: 0x1,
  copySource: 0x4,
  copyTarget: 0x8,
  uniform: 0x40,
  storage: 0x80,
} as const;

/** GPUMapMode.READ, the mode of `mapAsync`. */
export const MAP_MODE_READ = 0x1;
