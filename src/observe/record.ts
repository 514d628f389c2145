/** What is kept of a step that is past. */
import { type Field, OBSERVATION, OBSERVATION_FIELDS, sizeOf } from '../world/fields.js';

/** How many past steps an agent may be shown (world page, What an agent sees). */
export const HISTORY_STEPS = 7;

const KEPT = ['last_action', 'reward', 'deltas', 'anomalies'];
/** The fields of an observation that tell of the step just taken and are kept: they stand together in its row. */
export const RECORD_FIELDS: readonly Field[] = Object.freeze(
  OBSERVATION_FIELDS.filter((field) => KEPT.includes(field.name)),
);
/** Floats that a step takes: action, reward, 5 deltas, 5 anomalies. */
export const RECORD_SIZE = sizeOf(RECORD_FIELDS);
/** Where they begin in an observation. */
export const RECORD_START = RECORD_FIELDS[0].offset;
/** Where the parts of a record begin. */
export const RECORD = Object.freeze({
  action: OBSERVATION.lastAction - RECORD_START,
  reward: OBSERVATION.reward - RECORD_START,
  deltas: OBSERVATION.deltas - RECORD_START,
  anomalies: OBSERVATION.anomalies - RECORD_START,
});

/** A step of an episode, as the agent was shown it. */
export interface HistoryStep {
  /** 0 to 27: how many steps were taken before it. */
  readonly step: number;
  /** Code, 0 to 9. */
  readonly action: number;
  /** Code, -1 for none. */
  readonly event: number;
  /** As given: with luck, and the last step's with the grade's part. */
  readonly reward: number;
  /** f32 [5] in [0, 1], after the step. */
  readonly meters: Float32Array;
  /** f32 [5] in [-1, 1]. */
  readonly deltas: Float32Array;
  /** f32 [5]. */
  readonly anomalies: Float32Array;
}
