/** The arrays of a trajectory in the memory of a WebAssembly batch, for a part of the environments of a run. */
import { NUM_STEPS } from '../../../world/fields.js';
import type { RecordedTrajectory } from '../backend.js';
import { TRAJECTORY_ARRAYS, TRAJECTORY_FIELDS } from '../outputs.js';
import type { Address } from './instance.js';
import { type Stage, TILE } from './stage.js';

/** Environments `first` to `end - 1` of one array. */
interface Part {
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
  readonly #parts: Part[] = [];

  /** Copies the entries of the arrays, because a run keeps those of steps that it does not take. */
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
      const part = { array, staged, pieces, stride, stagedStride, at: first * perEnv, length };
      for (const { whole, own } of piecesOf(part)) own.set(whole);
      this.#parts.push(part);
      return address - first * perEnv * array.BYTES_PER_ELEMENT;
    });
  }

  /** Copies the entries back. */
  read(): void {
    for (const part of this.#parts) for (const { whole, own } of piecesOf(part)) whole.set(own);
  }
}

function* piecesOf({ array, staged, pieces, stride, stagedStride, at, length }: Part) {
  for (let k = 0; k < pieces; k++) {
    const whole = array.subarray(k * stride + at, k * stride + at + length);
    yield { whole, own: staged.subarray(k * stagedStride, k * stagedStride + length) };
  }
}
