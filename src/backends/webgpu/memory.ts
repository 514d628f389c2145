/// <reference types="@webgpu/types" />
/** The memory of one batch: what it lacks is its own error, whoever else works on the device meanwhile. */
import { BackendError, StateError } from '../../errors.js';
import type { GpuDevice } from './device.js';

export class Memory {
  readonly gpu: GpuDevice;
  /** What could not be had: it stays so, since work on it was left undone. */
  #lack: BackendError | null = null;
  #closed = false;

  constructor(gpu: GpuDevice) {
    this.gpu = gpu;
  }

  /**
   * Zeroed. Whether there is enough turns out later: `check` says so.
   * @param bytes a multiple of 4.
   */
  buffer(label: string, bytes: number, usage: number): GPUBuffer {
    const { device, adapterName } = this.gpu;
    device.pushErrorScope('out-of-memory');
    const buffer = device.createBuffer({ label, size: Math.max(bytes, 16), usage });
    device.popErrorScope().then(
      (error) => {
        if (error !== null) this.#lack ??= outOfMemory(label, bytes, adapterName);
      },
      () => {},
    );
    return buffer;
  }

  /** Work that is still to come is not begun: it would be done in memory that is no more. @returns whether it was open. */
  close(): boolean {
    const wasOpen = !this.#closed;
    this.#closed = true;
    return wasOpen;
  }

  /** @throws StateError `closed`, BackendError `out_of_memory`, or as `GpuDevice.check`. */
  check(): void {
    if (this.#closed)
      throw new StateError('closed', 'Expected an open batch, got one that was closed meanwhile.');
    if (this.#lack !== null && !this.gpu.isLost) throw this.#lack;
    this.gpu.check();
  }

  /** Settles when the queue's work is done. @throws as `check`. */
  async settled(): Promise<void> {
    this.check();
    const { queue, device } = this.gpu;
    await Promise.race([queue.onSubmittedWorkDone().catch(() => {}), device.lost]);
    this.check();
  }
}

const outOfMemory = (what: string, bytes: number, adapter: string): BackendError =>
  new BackendError(
    'out_of_memory',
    `Expected ${bytes} bytes for ${what} on ${adapter}, got none. Open fewer episodes, or close others.`,
  );
