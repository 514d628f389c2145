/** From the device's rows of a trajectory to its arrays. */
import { NUM_METERS, NUM_STEPS } from '../../world/fields.js';
import type { Trajectory } from '../backend.js';
import type { TakeRows } from './launcher.js';
import { RECORDED, RECORDED_WORDS } from './layout.js';

/** Of a slot. */
export const TRAJECTORY_BYTES = RECORDED_WORDS * 4;

/** Elements of each array that a slot has. */
const WIDTHS: Readonly<Record<keyof Trajectory, number>> = {
  actions: NUM_STEPS,
  events: NUM_STEPS,
  rewards: NUM_STEPS,
  meters: NUM_STEPS * NUM_METERS,
  deltas: NUM_STEPS * NUM_METERS,
  anomalies: NUM_STEPS * NUM_METERS,
};

/** In a launch's results the rows of an array follow each other, and the arrays do. */
export function putTrajectory(trajectory: Trajectory): TakeRows {
  return (rows, first, count) => {
    for (const [name, width] of Object.entries(WIDTHS) as [keyof Trajectory, number][]) {
      const array = trajectory[name];
      const begin = rows.byteOffset + RECORDED[name] * count * rows.BYTES_PER_ELEMENT;
      const source =
        array instanceof Int8Array
          ? new Int8Array(rows.buffer, begin, count * width)
          : new Float32Array(rows.buffer, begin, count * width);
      array.set(source, first * width);
    }
  };
}
