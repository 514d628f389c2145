/// <reference types="@webgpu/types" />
/** Writes the arrays of a request, for the environments of one launch, to the device's memory. */
import { type Launch, type LaunchArray, WORD } from './buffer-layout.js';
import { USAGE } from './buffer-usage.js';
import type { Memory } from './device-memory.js';
import { Scratch } from './scratch.js';

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
