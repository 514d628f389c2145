/// <reference types="@webgpu/types" />
/** Reads the device's memory back to JavaScript. */
import { WORD } from './buffer-layout.js';
import { MAP_MODE_READ, USAGE } from './buffer-usage.js';
import type { Memory } from './device-memory.js';
import { SCRATCH_BYTES, Scratch } from './scratch.js';

/** Words of a buffer to read, and their receiver. */
export interface Piece {
  readonly buffer: GPUBuffer;
  /** The index of the first word. */
  readonly first: number;
  /** The number of words. */
  readonly count: number;
  /**
   * Receives some of the words.
   * @param words a view, valid only during the call.
   * @param from the index of the first of these words within the piece.
   */
  take(words: Uint32Array, from: number): void;
}

/** The largest number of words that one pass reads. */
const MAX_WORDS = SCRATCH_BYTES / WORD;

/** Copies pieces of buffers to JavaScript, through memory that the processor can read. */
export class Readback {
  readonly #memory: Memory;
  readonly #scratch: Scratch;

  constructor(memory: Memory) {
    this.#memory = memory;
    this.#scratch = new Scratch(memory, 'read results', USAGE.mapRead | USAGE.copyTarget);
  }

  /** Reads pieces. @throws as `Memory.check`, or the error of `mapAsync`. */
  async read(pieces: readonly Piece[]): Promise<void> {
    this.#memory.check();
    for (const pass of toPasses(pieces)) await this.#pass(pass);
  }

  /** Copies the words of chunks to the scratch memory, and passes them to their receivers. */
  async #pass(chunks: readonly Chunk[]): Promise<void> {
    this.#memory.check();
    const words = chunks.reduce((sum, chunk) => sum + chunk.count, 0);
    const target = this.#scratch.require(words * WORD);
    const { device, queue } = this.#memory.gpu;
    const encoder = device.createCommandEncoder();
    let offset = 0;
    for (const { piece, from, count } of chunks) {
      const source = (piece.first + from) * WORD;
      encoder.copyBufferToBuffer(piece.buffer, source, target, offset * WORD, count * WORD);
      offset += count;
    }
    queue.submit([encoder.finish()]);
    await this.#map(target, words * WORD);
    try {
      this.#memory.check();
      distribute(chunks, new Uint32Array(target.getMappedRange(0, words * WORD)));
    } finally {
      // Unmaps even after an error, because the next read cannot use mapped memory.
      target.unmap();
    }
  }

  /** Maps memory for reading. If that fails, throws the error of `Memory.check` if there is one, else that of `mapAsync`. */
  async #map(target: GPUBuffer, bytes: number): Promise<void> {
    try {
      await target.mapAsync(MAP_MODE_READ, 0, bytes);
    } catch (cause) {
      const { device, queue } = this.#memory.gpu;
      // The error of `Memory.check` may be known only after the queue has finished its work.
      await Promise.race([device.lost, queue.onSubmittedWorkDone().catch(() => {})]);
      this.#memory.check();
      throw cause;
    }
  }

  destroy(): void {
    this.#scratch.destroy();
  }
}

/** The part of a piece that one pass reads: `count` words, from word `from` of the piece on. */
interface Chunk {
  readonly piece: Piece;
  readonly from: number;
  readonly count: number;
}

/** Passes consecutive words to the receivers of the chunks. */
function distribute(chunks: readonly Chunk[], words: Uint32Array): void {
  let offset = 0;
  for (const { piece, from, count } of chunks) {
    piece.take(words.subarray(offset, offset + count), from);
    offset += count;
  }
}

/** Cuts and packs pieces into passes that fit into the scratch memory. */
function toPasses(pieces: readonly Piece[]): Chunk[][] {
  const passes: Chunk[][] = [[]];
  let room = MAX_WORDS;
  for (const piece of pieces) {
    for (let from = 0; from < piece.count; ) {
      if (room === 0) {
        passes.push([]);
        room = MAX_WORDS;
      }
      const count = Math.min(piece.count - from, room);
      passes[passes.length - 1].push({ piece, from, count });
      room -= count;
      from += count;
    }
  }
  return passes.filter((chunks) => chunks.length > 0);
}
