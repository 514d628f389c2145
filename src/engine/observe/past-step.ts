/** A past step as agents observe it, and the layout of the last seven steps in observations with histories. */
import { type Field, OBSERVATION_FIELDS, sizeOf } from '../../world/fields.js';

/** The number of past steps in a history (docs/world.md, What an agent sees). */
export const HISTORY_STEPS = 7;

const RECORD_NAMES = ['last_action', 'reward', 'deltas', 'anomalies'];
/** The fields of an observation that a history contains, with one entry for each step. They are adjacent in the observation. */
export const RECORD_FIELDS: readonly Field[] = Object.freeze(
  OBSERVATION_FIELDS.filter((field) => RECORD_NAMES.includes(field.name)),
);
/** The number of floats of a history: actions [7], rewards [7], deltas [7, 5], anomalies [7, 5]. */
export const HISTORY_SIZE = HISTORY_STEPS * sizeOf(RECORD_FIELDS);
/** Returns the offset of a field of RECORD_FIELDS in a history. */
export const historyOffset = ({ offset }: Field): number =>
  HISTORY_STEPS * (offset - RECORD_FIELDS[0].offset);

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
