/** Decides whether a graphics device plays crowds. */
export const GPU_RULES = {
  /** Whether an adapter counts that the processor emulates. It is slower than WebAssembly. */
  acceptsSoftware: false,
  /** @param gpu the device's speed; that of the workers is `workers`, both in steps per second. */
  isFaster: (gpu: number, workers: number): boolean => gpu > workers,
};
