/// <reference types="@webgpu/types" />
/** Memory that requests are put into, and that results come out of: allocated once, larger when more is wanted. */
import { WORD } from './layout.js';
import type { Memory } from './memory.js';

/** More of a request than this is cut into several launches. */
export const SCRATCH_BYTES = 2 ** 25;

export class Scratch {
  readonly #memory: Memory;
  readonly #label: string;
  readonly #usage: number;
  #buffer: GPUBuffer;

  constructor(memory: Memory, label: string, usage: number) {
    this.#memory = memory;
    this.#label = label;
    this.#usage = usage;
    this.#buffer = memory.buffer(label, 0, usage);
  }

  /** At least `bytes` of it. What it held may be gone. */
  require(bytes: number): GPUBuffer {
    if (this.#buffer.size >= bytes) return this.#buffer;
    this.#buffer.destroy();
    this.#buffer = this.#memory.buffer(this.#label, Math.ceil(bytes / WORD) * WORD, this.#usage);
    return this.#buffer;
  }

  get buffer(): GPUBuffer {
    return this.#buffer;
  }

  destroy(): void {
    this.#buffer.destroy();
  }
}
