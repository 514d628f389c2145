/// <reference types="@webgpu/types" />
/** The arrays of a request, of the slots of one launch, one after the other in the device's memory. */
import { type Launch, type LaunchArray, WORD } from './layout.js';
import type { Memory } from './memory.js';
import { Scratch } from './scratch.js';
import { USAGE } from './usage.js';

type Rows = Uint8Array | Uint32Array | Float32Array;
/** An array and how many of its elements a slot has; 0 for one that all slots share. */
export type Part = readonly [array: Rows | null, width: number];
export type Parts = { readonly [Name in LaunchArray]?: Part };

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

  /** Writes the rows of slots `first` to before `first + count` of every array. @returns where they are. */
  put(parts: Parts, first: number, count: number): Launch {
    const present = Object.entries(parts).filter(([, [array]]) => array !== null) as [LaunchArray, Part][];
    const cuts = present.map(([name, [array, width]]) => ({
      name,
      rows: cut(array as Rows, width, first, count),
    }));
    this.#scratch.require(cuts.reduce((bytes, { rows }) => bytes + aligned(rows.byteLength), 0));
    let offset = 0;
    const places = cuts.map(({ name, rows }) => {
      const at = offset;
      this.#write(at, rows);
      offset += aligned(rows.byteLength);
      return [name, at / WORD];
    });
    return Object.fromEntries(places);
  }

  /** Whole words, and what is left of the last one. */
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

/** Bytes of a request that a slot has. */
export const bytesPerSlot = (parts: Parts): number =>
  Object.values(parts).reduce((bytes, [array, width]) => bytes + (array?.BYTES_PER_ELEMENT ?? 0) * width, 0);
