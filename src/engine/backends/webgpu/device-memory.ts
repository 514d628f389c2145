/// <reference types="@webgpu/types" />
/** Allocates the memory of one batch on a device. A lack of memory is an error of this batch alone. */

import { BackendError, StateError } from '../../../shared/errors.js';
import { WORD } from './buffer-layout.js';
import type { GpuDevice } from './device.js';

/** The memory of one batch. */
export class Memory {
  readonly gpu: GpuDevice;
  /** The error of the first failed allocation. It is permanent, because the device skips work that uses the missing buffer. */
  #shortage: BackendError | null = null;
  #closed = false;

  constructor(gpu: GpuDevice) {
    this.gpu = gpu;
  }

  /**
   * Allocates a zeroed buffer. A later `check` throws if there was not enough memory.
   * @param bytes a multiple of 4.
   */
  allocate(label: string, bytes: number, usage: number): GPUBuffer {
    const { device, adapterName } = this.gpu;
    device.pushErrorScope('out-of-memory');
    // An empty buffer cannot be bound. The least size is chosen by hand.
    const buffer = device.createBuffer({ label, size: Math.max(bytes, 16), usage });
    device.popErrorScope().then(
      (error) => {
        if (error !== null) this.#shortage ??= outOfMemory(label, bytes, adapterName);
      },
      () => {},
    );
    return buffer;
  }

  /** Marks the memory as closed: later calls of `check` throw. The caller frees the buffers. @returns whether it was open. */
  close(): boolean {
    const wasOpen = !this.#closed;
    this.#closed = true;
    return wasOpen;
  }

  /**
   * Throws if work on this memory must not begin. @throws StateError `closed`, BackendError `out_of_memory`, or as
   * `GpuDevice.check`.
   */
  check(): void {
    if (this.#closed)
      throw new StateError(
        'closed',
        'Expected an open environment, got one that was closed during the call. Create a new environment.',
      );
    if (this.#shortage !== null && !this.gpu.isLost) throw this.#shortage;
    this.gpu.check();
  }

  /** Resolves when the queue's work is done. @throws as `check`. */
  async finished(): Promise<void> {
    this.check();
    const { queue, device } = this.gpu;
    await Promise.race([queue.onSubmittedWorkDone().catch(() => {}), device.lost]);
    this.check();
  }
}

const outOfMemory = (what: string, bytes: number, adapter: string): BackendError =>
  new BackendError(
    'out_of_memory',
    `Expected ${bytes} bytes for ${what} on ${adapter}, got none. Lower numEnvs, or close other environments.`,
  );

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
