/// <reference types="@webgpu/types" />
/** Writes the arrays of requests to the device's memory, and reads the device's memory back to JavaScript. */

import {
  type Launch,
  type LaunchArray,
  MAP_MODE_READ,
  type Memory,
  SCRATCH_BYTES,
  Scratch,
  USAGE,
  WORD,
} from './buffer-layout.js';

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

/**
 * Receives the results of `count` environments from `first` on: a row for each environment, or, if the kernel is `record`, an
 * array for each field of a trajectory. `first` is an index in the batch, or for `rowsAt` a position in `indices`.
 */
export type TakeRows = (rows: Uint32Array, first: number, count: number) => void;

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

type Rows = Uint8Array | Uint32Array | Float32Array;
/** An array, and its number of elements per environment: 0 if all environments share the array. */
export type RequestArray = readonly [array: Rows | null, width: number];
/** The arrays of a request, by the name of their launch parameter. */
export type RequestArrays = { readonly [Name in LaunchArray]?: RequestArray };

/** The buffer from which kernels read the arrays of a request. */
export class RequestBuffer {
  readonly #queue: GPUQueue;
  readonly #scratch: Scratch;

  constructor(memory: Memory) {
    this.#queue = memory.gpu.queue;
    this.#scratch = new Scratch(memory, 'requests', USAGE.storage | USAGE.copyTarget);
  }

  get buffer(): GPUBuffer {
    return this.#scratch.buffer;
  }

  /** Writes the rows of environments `first` to `first + count - 1` of every array. @returns their offsets in words. */
  put(arrays: RequestArrays, first: number, count: number): Launch {
    const present = Object.entries(arrays).filter(([, [array]]) => array !== null) as [
      LaunchArray,
      RequestArray,
    ][];
    const cuts = present.map(([name, [array, width]]) => ({
      name,
      rows: cut(array as Rows, width, first, count),
    }));
    this.#scratch.require(cuts.reduce((bytes, { rows }) => bytes + aligned(rows.byteLength), 0));
    let offset = 0;
    const offsets = cuts.map(({ name, rows }) => {
      const at = offset;
      this.#write(at, rows);
      offset += aligned(rows.byteLength);
      return [name, at / WORD];
    });
    return Object.fromEntries(offsets);
  }

  /** Writes rows as whole words, and pads the last word. */
  #write(offset: number, rows: Rows): void {
    const whole = rows.byteLength - (rows.byteLength % WORD);
    const bytes = new Uint8Array(rows.buffer as ArrayBuffer, rows.byteOffset, rows.byteLength);
    if (whole > 0) this.#queue.writeBuffer(this.buffer, offset, bytes.buffer, bytes.byteOffset, whole);
    if (whole === rows.byteLength) return;
    const last = new Uint8Array(WORD);
    last.set(bytes.subarray(whole));
    this.#queue.writeBuffer(this.buffer, offset + whole, last);
  }

  destroy(): void {
    this.#scratch.destroy();
  }
}

const aligned = (bytes: number): number => Math.ceil(bytes / WORD) * WORD;

function cut(array: Rows, width: number, first: number, count: number): Rows {
  return width === 0 ? array : array.subarray(first * width, (first + count) * width);
}

/** Returns the number of bytes of a request per environment. */
export const bytesPerEnv = (arrays: RequestArrays): number =>
  Object.values(arrays).reduce((bytes, [array, width]) => bytes + (array?.BYTES_PER_ELEMENT ?? 0) * width, 0);
