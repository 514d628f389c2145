/// <reference types="@webgpu/types" />
/** Memory that requests are put into, and that results come out of: allocated once, larger when more is wanted. */
import type { GpuDevice } from './device.js';
import { WORD } from './layout.js';

/** More of a request than this is cut into several launches. */
export const SCRATCH_BYTES = 2 ** 25;

export class Scratch {
  readonly #gpu: GpuDevice;
  readonly #label: string;
  readonly #usage: number;
  #buffer: GPUBuffer;

  constructor(gpu: GpuDevice, label: string, usage: number) {
    this.#gpu = gpu;
    this.#label = label;
    this.#usage = usage;
    this.#buffer = gpu.buffer(label, 0, usage);
  }

  /** At least `bytes` of it. What it held may be gone. */
  require(bytes: number): GPUBuffer {
    if (this.#buffer.size >= bytes) return this.#buffer;
    this.#buffer.destroy();
    this.#buffer = this.#gpu.buffer(this.#label, Math.ceil(bytes / WORD) * WORD, this.#usage);
    return this.#buffer;
  }

  get buffer(): GPUBuffer {
    return this.#buffer;
  }

  destroy(): void {
    this.#buffer.destroy();
  }
}
