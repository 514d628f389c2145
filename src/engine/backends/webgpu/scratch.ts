/// <reference types="@webgpu/types" />
/** Scratch memory for requests and results. It grows when a call needs more. */
import { WORD } from './buffer-layout.js';
import type { Memory } from './device-memory.js';

/**
 * The maximum size of scratch memory in bytes: 32 MiB. Larger requests are split into several launches. Chosen by hand: a
 * smaller size saves memory, and splits more requests.
 */
export const SCRATCH_BYTES = 2 ** 25;

/** A buffer that grows. */
export class Scratch {
  readonly #memory: Memory;
  readonly #label: string;
  readonly #usage: number;
  #buffer: GPUBuffer;

  constructor(memory: Memory, label: string, usage: number) {
    this.#memory = memory;
    this.#label = label;
    this.#usage = usage;
    this.#buffer = memory.allocate(label, 0, usage);
  }

  /** Returns a buffer of at least `bytes` bytes. If the buffer grows, its contents are lost. */
  require(bytes: number): GPUBuffer {
    if (this.#buffer.size >= bytes) return this.#buffer;
    this.#buffer.destroy();
    this.#buffer = this.#memory.allocate(this.#label, Math.ceil(bytes / WORD) * WORD, this.#usage);
    return this.#buffer;
  }

  get buffer(): GPUBuffer {
    return this.#buffer;
  }

  destroy(): void {
    this.#buffer.destroy();
  }
}
