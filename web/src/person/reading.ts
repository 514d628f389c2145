/** What an agent sees, by name: of each moment of a week. */
import { NUM_METERS, NUM_SLOTS, OBSERVATION, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/spec.js';

/** One moment: how things stand, and what the step before it brought. */
export interface Moment {
  /** Steps taken, 0 to 28. */
  readonly step: number;
  /** [5] in [0, 1]. */
  readonly meters: readonly number[];
  /** Of the step just taken: codes, -1 for none. */
  readonly action: number;
  readonly event: number;
  readonly reward: number;
  /** [5]: by how much each meter changed, and what of it an average person would not have had. */
  readonly deltas: readonly number[];
  readonly anomalies: readonly number[];
}

/** @param observations f32 [n, 22], row-major. */
export function momentsOf(observations: Float32Array): Moment[] {
  return Array.from({ length: observations.length / OBSERVATION_SIZE }, (_, i) => {
    const row = observations.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE);
    const five = (at: number): number[] => Array.from(row.subarray(at, at + NUM_METERS));
    return {
      step: row[OBSERVATION.step],
      action: row[OBSERVATION.lastAction],
      event: row[OBSERVATION.event],
      reward: row[OBSERVATION.reward],
      meters: five(OBSERVATION.meters),
      deltas: five(OBSERVATION.deltas),
      anomalies: five(OBSERVATION.anomalies),
    };
  });
}

/** "evening": the slot in which step `step` is taken. */
export const slotOf = (step: number): string => RHYTHM.slots[step % NUM_SLOTS];

/** "day 2 evening": when it is taken. */
export const timeOf = (step: number): string => `day ${1 + Math.floor(step / NUM_SLOTS)} ${slotOf(step)}`;

/** What an action did when it was last taken in this week; null if it was not. */
export const lastTimeOf = (moments: readonly Moment[], action: number): Moment | null =>
  moments.filter((moment) => moment.action === action).at(-1) ?? null;
