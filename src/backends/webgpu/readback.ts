/// <reference types="@webgpu/types" />
/** From the device's memory to JavaScript's. */
import type { GpuDevice } from './device.js';
import { WORD } from './layout.js';
import { SCRATCH_BYTES, Scratch } from './scratch.js';
import { MAP_READ, USAGE } from './usage.js';

/** Words of a buffer that are wanted, and who takes them: a view that is gone when it returns. */
export interface Piece {
  readonly buffer: GPUBuffer;
  /** In words. */
  readonly first: number;
  readonly count: number;
  /** @param from which of the wanted words these begin with. */
  take(words: Uint32Array, from: number): void;
}

const MOST = SCRATCH_BYTES / WORD;

export class Readback {
  readonly #gpu: GpuDevice;
  readonly #scratch: Scratch;

  constructor(gpu: GpuDevice) {
    this.#gpu = gpu;
    this.#scratch = new Scratch(gpu, 'what is read back', USAGE.mapRead | USAGE.copyTarget);
  }

  /** @throws as `GpuDevice.check`. */
  async read(pieces: readonly Piece[]): Promise<void> {
    this.#gpu.check();
    for (const pass of passes(pieces)) await this.#pass(pass);
  }

  async #pass(parts: readonly Part[]): Promise<void> {
    const words = parts.reduce((sum, part) => sum + part.count, 0);
    const target = this.#scratch.require(words * WORD);
    const encoder = this.#gpu.device.createCommandEncoder();
    let offset = 0;
    for (const { piece, from, count } of parts) {
      const source = (piece.first + from) * WORD;
      encoder.copyBufferToBuffer(piece.buffer, source, target, offset * WORD, count * WORD);
      offset += count;
    }
    this.#gpu.queue.submit([encoder.finish()]);
    const mapped = await this.#map(target, words * WORD);
    offset = 0;
    for (const { piece, from, count } of parts) {
      piece.take(mapped.subarray(offset, offset + count), from);
      offset += count;
    }
    target.unmap();
  }

  async #map(target: GPUBuffer, bytes: number): Promise<Uint32Array> {
    try {
      await target.mapAsync(MAP_READ, 0, bytes);
    } catch (cause) {
      // Why it could not be mapped is known a moment later.
      await Promise.race([this.#gpu.device.lost, this.#gpu.queue.onSubmittedWorkDone().catch(() => {})]);
      this.#gpu.check();
      throw cause;
    }
    this.#gpu.check();
    return new Uint32Array(target.getMappedRange(0, bytes));
  }

  destroy(): void {
    this.#scratch.destroy();
  }
}

interface Part {
  readonly piece: Piece;
  readonly from: number;
  readonly count: number;
}

/** Pieces cut and packed, so that what is read at once fits into the scratch memory. */
function passes(pieces: readonly Piece[]): Part[][] {
  const all: Part[][] = [[]];
  let room = MOST;
  for (const piece of pieces) {
    for (let from = 0; from < piece.count; ) {
      if (room === 0) {
        all.push([]);
        room = MOST;
      }
      const count = Math.min(piece.count - from, room);
      all[all.length - 1].push({ piece, from, count });
      room -= count;
      from += count;
    }
  }
  return all.filter((parts) => parts.length > 0);
}
