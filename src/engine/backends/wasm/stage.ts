/** Copies the arrays of a call into and out of the memory of a WebAssembly batch. */

import { NUM_BELIEFS, NUM_STEPS, PROFILE_SIZE } from '../../../world/fields.js';
import type { RecordedTrajectory, ReplayRequest } from '../backend.js';
import { TRAJECTORY_ARRAYS, TRAJECTORY_FIELDS } from '../outputs.js';
import type { Address, BatchInstance, Exports } from './instance.js';

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
    const bytes = width * array.BYTES_PER_ELEMENT;
    // Not `subarray`, which calls the constructor of a subclass.
    const rows = new Uint8Array(array.buffer, array.byteOffset + first * bytes, (end - first) * bytes);
    return this.put(rows) - first * bytes;
  }

  /** Stages the rows of an array with these numbers. Returns 0 for no array. @param width entries per row. */
  pick(array: View | null, width: number, rows: Uint32Array): Address {
    if (array === null) return 0;
    // As bytes or words: a subclass, such as Buffer, may have another constructor. Unsigned words would be slower.
    const Word: new (buffer: ArrayBufferLike, at: number, length: number) => Uint8Array | Int32Array =
      array.BYTES_PER_ELEMENT === 1 ? Uint8Array : Int32Array;
    const entries = new Word(array.buffer, array.byteOffset, array.length);
    const address = this.take(rows.length * width * array.BYTES_PER_ELEMENT);
    const picked = new Word(this.#buffer, address, rows.length * width);
    for (let to = 0, i = 0; i < rows.length; i++)
      for (let from = rows[i] * width, k = 0; k < width; k++) picked[to++] = entries[from++];
    return address;
  }

  /** Returns a view of an array in the memory, of the same kind as `like`. It is valid until the next call. */
  view<T extends View>(like: T, address: Address, length: number): T {
    const Kind = like.constructor as new (buffer: ArrayBuffer, offset: number, length: number) => T;
    return new Kind(this.#buffer, address, length);
  }
}

/** Environments `first` to `end - 1` of one array. */
interface StagedArray {
  readonly array: Int8Array | Float32Array;
  readonly staged: Int8Array | Float32Array;
  /** The number of pieces of consecutive entries, and the distance between pieces in both arrays. */
  readonly pieces: number;
  readonly stride: number;
  readonly stagedStride: number;
  /** The index of the first entry, and the length of a piece. */
  readonly at: number;
  readonly length: number;
}

export class StagedTrajectory {
  /** The addresses that environment 0 would have, in the order of TRAJECTORY_FIELDS; 0 for an array that is not recorded. */
  readonly addresses: readonly Address[];
  readonly columnStride: number;
  readonly #arrays: StagedArray[] = [];

  constructor(stage: Stage, trajectory: RecordedTrajectory, first: number, end: number) {
    const stride = trajectory.columnStride;
    // Columns in the memory have room for whole tiles.
    this.columnStride = stride === 0 ? 0 : Math.ceil((end - first) / TILE) * TILE;
    this.addresses = TRAJECTORY_FIELDS.map((name) => {
      const array = trajectory[name];
      if (array === undefined) return 0;
      const numbers = NUM_STEPS * TRAJECTORY_ARRAYS[name][1];
      const [pieces, perEnv] = stride === 0 ? [1, numbers] : [numbers, 1];
      const length = (end - first) * perEnv;
      const stagedStride = stride === 0 ? length : this.columnStride;
      const address = stage.take(pieces * stagedStride * array.BYTES_PER_ELEMENT);
      const staged = stage.view(array, address, pieces * stagedStride);
      // As `allocateTrajectory`: a run keeps the entries of steps that it does not take.
      staged.fill(array instanceof Int8Array ? -1 : 0);
      this.#arrays.push({ array, staged, pieces, stride, stagedStride, at: first * perEnv, length });
      return address - first * perEnv * array.BYTES_PER_ELEMENT;
    });
  }

  /** Copies the entries to the arrays. */
  read(): void {
    for (const { array, staged, pieces, stride, stagedStride, at, length } of this.#arrays)
      for (let k = 0; k < pieces; k++)
        array.set(staged.subarray(k * stagedStride, k * stagedStride + length), k * stride + at);
  }
}

/** Implements `Batch.replay` for rows whose histories are valid. */
export function replayStaged(exports: Exports, stage: Stage, request: ReplayRequest): void {
  const most = exports.replayRows();
  for (let at = 0; at < request.order.length; at += most)
    replayRows(exports, stage, request, request.order.subarray(at, at + most));
}

function replayRows(exports: Exports, stage: Stage, request: ReplayRequest, rows: Uint32Array): void {
  stage.clear();
  const { rewards, beliefMae, beliefSkill, hashes } = request;
  const pick = (column: Parameters<Stage['pick']>[0], width = 1) => stage.pick(column, width, rows);
  const results = [rewards, beliefMae, beliefSkill, hashes];
  const addresses = results.map(({ BYTES_PER_ELEMENT }) => stage.take(rows.length * BYTES_PER_ELEMENT));
  const order = stage.put(Uint32Array.from(rows.keys()));
  exports.replay(
    ...[order, rows.length],
    ...[pick(request.seeds), pick(request.modes), pick(request.profiles, PROFILE_SIZE)],
    ...[stage.put(request.grader), pick(request.stops), pick(request.histories, NUM_STEPS)],
    ...[pick(request.actions), pick(request.beliefs, NUM_BELIEFS), pick(request.given)],
    ...[pick(request.beliefHistories, NUM_STEPS * NUM_BELIEFS), pick(request.historyGiven, NUM_STEPS)],
    ...addresses,
  );
  results.forEach((array, k) => {
    const computed = stage.view(array, addresses[k], rows.length);
    for (let i = 0; i < rows.length; i++) array[rows[i]] = computed[i];
  });
}
