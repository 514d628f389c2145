/** Copies the recorded steps of a run to the arrays of a trajectory. */
import type { RecordedTrajectory } from '../backend.js';
import { TRAJECTORY_FIELDS } from '../outputs.js';
import { RECORDED, RECORDED_ARRAYS, WORD } from './buffer-layout.js';
import type { TakeRows } from './launcher.js';

/**
 * Returns a function that writes the results of a launch (launcher.ts) to a trajectory. The results are an array for each
 * field, one after the other. Each array has a row for each environment.
 */
export function putTrajectory(trajectory: RecordedTrajectory): TakeRows {
  return (rows, first, count) => {
    for (const name of TRAJECTORY_FIELDS) {
      const array = trajectory[name];
      if (array === undefined) continue;
      const [, width] = RECORDED_ARRAYS[name];
      const begin = rows.byteOffset + RECORDED[name] * count * WORD;
      const source =
        array instanceof Int8Array
          ? new Int8Array(rows.buffer, begin, count * width)
          : new Float32Array(rows.buffer, begin, count * width);
      // Row-major: the rows of consecutive environments are adjacent.
      if (trajectory.columnStride === 0) array.set(source, first * width);
      else putColumns(array, trajectory.columnStride, source, first, count);
    }
  };
}

/** Writes the rows of environments from `first` on to columns that are `stride` elements apart. */
function putColumns(
  columns: Int8Array | Float32Array,
  stride: number,
  rows: Int8Array | Float32Array,
  first: number,
  count: number,
): void {
  const width = rows.length / count;
  for (let k = 0; k < width; k++) {
    for (let i = 0; i < count; i++) columns[k * stride + first + i] = rows[i * width + k];
  }
}
