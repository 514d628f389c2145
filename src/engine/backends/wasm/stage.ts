/** Copies the arrays of a call into and out of the memory of a WebAssembly batch. */
import type { Address, BatchInstance } from './instance.js';

/** An array that a call takes. */
export type View = Uint8Array | Int8Array | Uint32Array | Float32Array | Float64Array | BigUint64Array;

const LINE = 64;
/** The environments of a tile of native/kernel.h. */
export const TILE = 16;

/** The part of the memory that holds the arguments of one call. */
export class Stage {
  readonly #buffer: ArrayBuffer;
  readonly #bytes: Uint8Array;
  readonly #first: Address;
  #next: Address;
  /** How many bytes the arguments of a call may have, without those that align arrays. */
  readonly capacity: number;

  constructor({ buffer, stage, stageBytes }: BatchInstance) {
    this.#buffer = buffer;
    this.#bytes = new Uint8Array(buffer);
    this.#first = stage;
    this.#next = stage;
    this.capacity = stageBytes - 32 * LINE;
  }

  /** Begins a call: frees the arguments of the call before it. */
  clear(): void {
    this.#next = this.#first;
  }

  /** Stages the only argument of a call. */
  putOnly(bytes: Uint8Array): Address {
    this.#bytes.set(bytes, this.#first);
    return this.#first;
  }

  /** Returns room for an array. */
  take(byteLength: number): Address {
    const address = this.#next;
    this.#next = Math.ceil((address + byteLength) / LINE) * LINE;
    return address;
  }

  /** Stages an array. Returns 0 for none. */
  put(array: View | null | undefined): Address {
    if (array === null || array === undefined) return 0;
    const address = this.take(array.byteLength);
    this.#bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), address);
    return address;
  }

  /**
   * Stages rows `first` to `end - 1` of an array with `width` entries per row. Returns the address that row 0 would have.
   * Returns 0 for no array.
   */
  putRows(array: View | null | undefined, width: number, first: number, end: number): Address {
    if (array === null || array === undefined) return 0;
    return this.put(array.subarray(first * width, end * width)) - first * width * array.BYTES_PER_ELEMENT;
  }

  /** Stages the rows of an array with these numbers. Returns 0 for no array. @param width entries per row. */
  pick(array: View | null, width: number, rows: Uint32Array): Address {
    if (array === null) return 0;
    const address = this.take(rows.length * width * array.BYTES_PER_ELEMENT);
    const picked = this.view(array, address, rows.length * width);
    for (let to = 0, i = 0; i < rows.length; i++)
      for (let from = rows[i] * width, k = 0; k < width; k++) picked[to++] = array[from++];
    return address;
  }

  /** Returns a view of an array in the memory, of the same kind as `like`. It is valid until the next call. */
  view<T extends View>(like: T, address: Address, length: number): T {
    const Kind = like.constructor as new (buffer: ArrayBuffer, offset: number, length: number) => T;
    return new Kind(this.#buffer, address, length);
  }
}
