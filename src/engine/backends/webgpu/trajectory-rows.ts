/** Copies the device's rows of a trajectory to its arrays. */
import type { Trajectory } from '../backend.js';
import { RECORDED, RECORDED_ARRAYS, WORD } from './buffer-layout.js';
import type { TakeRows } from './launcher.js';

/** Returns a receiver that writes a launch's results to a trajectory. The results are arrays with a row per environment. */
export function putTrajectory(trajectory: Trajectory): TakeRows {
  return (rows, first, count) => {
    for (const name of Object.keys(RECORDED_ARRAYS) as (keyof Trajectory)[]) {
      const [, width] = RECORDED_ARRAYS[name];
      const array = trajectory[name];
      const begin = rows.byteOffset + RECORDED[name] * count * WORD;
      const source =
        array instanceof Int8Array
          ? new Int8Array(rows.buffer, begin, count * width)
          : new Float32Array(rows.buffer, begin, count * width);
      array.set(source, first * width);
    }
  };
}
