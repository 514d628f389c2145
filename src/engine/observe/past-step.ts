/** The record of a past step in observations with histories. */
import { type Field, OBSERVATION, OBSERVATION_FIELDS, sizeOf } from '../../world/fields.js';

/** The number of past steps in a history (docs/world.md, What an agent sees). */
export const HISTORY_STEPS = 7;

const RECORD_NAMES = ['last_action', 'reward', 'deltas', 'anomalies'];
/** The fields of an observation that a record contains. They are adjacent in the observation. */
export const RECORD_FIELDS: readonly Field[] = Object.freeze(
  OBSERVATION_FIELDS.filter((field) => RECORD_NAMES.includes(field.name)),
);
/** The number of floats per step: action, reward, 5 deltas, 5 anomalies. */
export const RECORD_SIZE = sizeOf(RECORD_FIELDS);
/** The offset of RECORD_FIELDS in an observation. */
export const RECORD_START = RECORD_FIELDS[0].offset;
/** The offsets of the fields in a record. */
export const RECORD = Object.freeze({
  action: OBSERVATION.lastAction - RECORD_START,
  reward: OBSERVATION.reward - RECORD_START,
  deltas: OBSERVATION.deltas - RECORD_START,
  anomalies: OBSERVATION.anomalies - RECORD_START,
});

/** A past step as agents observe it. */
export interface HistoryStep {
  /** The step's index in the episode, 0 to 27. */
  readonly step: number;
  /** Code, 0 to 9. */
  readonly action: number;
  /** Code, -1 for none. */
  readonly event: number;
  /** The reward, including its noise. In the 28th step it includes the terminal term, which depends on the grade. */
  readonly reward: number;
  /** f32 [5] in [0, 1], after the step. */
  readonly meters: Float32Array;
  /** f32 [5] in [-1, 1]. */
  readonly deltas: Float32Array;
  /** f32 [5]. */
  readonly anomalies: Float32Array;
}
