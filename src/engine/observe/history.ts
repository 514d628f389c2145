/** Histories: the record of a past step, and the last seven steps of every environment. */

import { type Field, NUM_STEPS, OBSERVATION_FIELDS, sizeOf } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { arrays } from '../arrays.js';
import type { TrajectoryOf } from '../backends/backend.js';
import { entryOf } from '../backends/outputs.js';

/**
 * Returns the last steps of the episode of a saved state, the oldest first: up to `maxSteps`, by default HISTORY_STEPS.
 * The reference does it (reference/saved-states.ts), in tens of microseconds.
 * @param imagination whether the episode uses the imagination streams. The state does not contain this.
 * @param words u32 [STATE_WORDS], as `Batch.save` writes them.
 */
export type ReplayHistory = (
  world: World,
  imagination: boolean,
  words: Uint32Array,
  maxSteps?: number,
) => HistoryStep[];

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

/** The fields of a trajectory that histories need. */
export const HISTORY_FIELDS = ['actions', 'rewards', 'deltas', 'anomalies'] as const;
/** The part of a trajectory from which histories are computed. */
export type HistoryTrajectory = TrajectoryOf<(typeof HISTORY_FIELDS)[number]>;

/** The fields of a history in the order of HISTORY_FIELDS: the offset, and the number of floats for each step. */
const PARTS = RECORD_FIELDS.map((field) => ({ offset: historyOffset(field), size: field.size }));
/** The history of an environment without steps: seven actions -1, then zeros. */
const MISSING = new Float32Array(HISTORY_SIZE).fill(-1, 0, HISTORY_STEPS);

/** The last steps of each environment, 336 bytes each. */
export class HistoryRows {
  readonly numEnvs: number;
  /** f32 [numEnvs, 84]: actions [7], rewards [7], deltas [7, 5], anomalies [7, 5], each with the oldest step first. @internal */
  readonly rows: Float32Array;

  /** Creates empty histories. */
  constructor(numEnvs: number) {
    this.numEnvs = numEnvs;
    this.rows = new Float32Array(numEnvs * HISTORY_SIZE);
    this.clear(null);
  }

  /** Clears the histories of environments that are reset. @param mask u8 [numEnvs]; null for all. */
  clear(mask: Uint8Array | null): void {
    for (let i = 0; i < this.numEnvs; i++) {
      if (mask === null || mask[i] !== 0) this.rows.set(MISSING, i * HISTORY_SIZE);
    }
  }

  /**
   * Adds the step just taken.
   * @param observations f32 [numEnvs, 22]: the observations after the step and before autoreset.
   * @param mask u8 [numEnvs], the environments that took the step; null for all.
   * @param columnStride of `observations`: 0 for rows; else number k of environment i is at `k * columnStride + i`.
   */
  push(observations: Float32Array, mask: Uint8Array | null, columnStride = 0): void {
    arrays().pushHistory(this.numEnvs, observations, columnStride, this.rows, mask);
  }

  /** Appends the steps that a run recorded. Environments without recorded steps keep their histories. */
  append(trajectory: HistoryTrajectory): void {
    const { actions, columnStride } = trajectory;
    const isTaken = (i: number, t: number): boolean => actions[entryOf(columnStride, 1, i, t).at] >= 0;
    for (let i = 0; i < this.numEnvs; i++) {
      let end = NUM_STEPS;
      while (end > 0 && !isTaken(i, end - 1)) end--;
      for (let t = Math.max(0, end - HISTORY_STEPS); t < end; t++) {
        if (!isTaken(i, t)) continue;
        const numbers = HISTORY_FIELDS.map((name, k) => {
          const { at, stride } = entryOf(columnStride, PARTS[k].size, i, t);
          return Array.from({ length: PARTS[k].size }, (_, m) => trajectory[name][at + m * stride]);
        });
        this.#append(i, numbers);
      }
    }
  }

  /** Replaces the history of environment `env` after its state was loaded. @param steps at most 7, the oldest first. */
  replace(env: number, steps: readonly HistoryStep[]): void {
    this.rows.set(MISSING, env * HISTORY_SIZE);
    for (const { action, reward, deltas, anomalies } of steps)
      this.#append(env, [[action], [reward], deltas, anomalies]);
  }

  /**
   * Copies the history of environment `indices[i]` of `source` to environment i.
   * @param source may be this object. @param indices at most `numEnvs` indices of environments of `source`.
   */
  gather(source: HistoryRows, indices: Uint32Array): void {
    const rows = source === this ? source.rows.slice() : source.rows;
    for (let i = 0; i < indices.length; i++) {
      const [from, to] = [indices[i] * HISTORY_SIZE, i * HISTORY_SIZE];
      for (let k = 0; k < HISTORY_SIZE; k++) this.rows[to + k] = rows[from + k];
    }
  }

  /** Appends a step: the numbers of each field of HISTORY_FIELDS. */
  #append(env: number, numbers: readonly ArrayLike<number>[]): void {
    for (const [k, { offset, size }] of PARTS.entries()) {
      const start = env * HISTORY_SIZE + offset;
      const end = start + HISTORY_STEPS * size;
      this.rows.copyWithin(start, start + size, end);
      this.rows.set(numbers[k], end - size);
    }
  }
}
