/** Usage flags of buffers, with the values of the WebGPU specification. Node has no globals for them. */
export const USAGE = {
  mapRead: 0x1,
  copySource: 0x4,
  copyTarget: 0x8,
  uniform: 0x40,
  storage: 0x80,
} as const;
export const MAP_READ = 0x1;
