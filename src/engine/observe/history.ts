/** The last seven steps of every environment, for observations with histories. */

import { NUM_METERS, NUM_STEPS, OBSERVATION_SIZE } from '../../world/fields.js';
import type { TrajectoryOf } from '../backends/backend.js';
import { entryOf } from '../backends/outputs.js';
import { HISTORY_STEPS, type HistoryStep, RECORD, RECORD_SIZE, RECORD_START } from './past-step.js';

/** The number of floats of one environment's history. */
export const HISTORY_SIZE = HISTORY_STEPS * RECORD_SIZE;

/** The fields of a trajectory that histories need. */
export const HISTORY_FIELDS = ['actions', 'rewards', 'deltas', 'anomalies'] as const;
/** The part of a trajectory from which histories are computed. */
export type HistoryTrajectory = TrajectoryOf<(typeof HISTORY_FIELDS)[number]>;

/** The history of an environment without steps: seven entries, each with action -1 and zeros. */
const MISSING = new Float32Array(HISTORY_SIZE);
for (let at = 0; at < HISTORY_SIZE; at += RECORD_SIZE) MISSING[at + RECORD.action] = -1;

/**
 * A ring buffer of seven steps for each environment, 337 bytes each. Each ring has its own position, because a mask may
 * step or reset some environments only. `push` and `clear` allocate no memory.
 */
export class HistoryRows {
  readonly numEnvs: number;
  /** f32 [numEnvs, 7, 12]: the rings. @internal */
  readonly rings: Float32Array;
  /** u8 [numEnvs]: the index of each ring's oldest entry, which is overwritten next. @internal */
  readonly oldest: Uint8Array;

  /** Creates empty histories. */
  constructor(numEnvs: number) {
    this.numEnvs = numEnvs;
    this.rings = new Float32Array(numEnvs * HISTORY_SIZE);
    this.oldest = new Uint8Array(numEnvs);
    this.clear(null);
  }

  /** Clears the histories of environments that are reset. @param mask u8 [numEnvs]; null for all. */
  clear(mask: Uint8Array | null): void {
    for (let i = 0; i < this.numEnvs; i++) {
      if (mask === null || mask[i] !== 0) this.#clear(i);
    }
  }

  /**
   * Adds the step just taken.
   * @param observations f32 [numEnvs, 22]: the observations after the step and before autoreset.
   * @param mask u8 [numEnvs], the environments that took the step; null for all.
   * @param columnStride of `observations`: 0 for rows; else number k of environment i is at `k * columnStride + i`.
   */
  push(observations: Float32Array, mask: Uint8Array | null, columnStride = 0): void {
    const { numEnvs, rings } = this;
    const envStep = columnStride === 0 ? OBSERVATION_SIZE : 1;
    const wordStep = columnStride === 0 ? 1 : columnStride;
    for (let i = 0; i < numEnvs; i++) {
      if (mask !== null && mask[i] === 0) continue;
      const from = i * envStep + RECORD_START * wordStep;
      const to = this.#next(i);
      for (let k = 0; k < RECORD_SIZE; k++) rings[to + k] = observations[from + k * wordStep];
    }
  }

  /** Appends the steps that a run recorded. Environments without recorded steps keep their histories. */
  append(trajectory: HistoryTrajectory): void {
    const { actions, columnStride } = trajectory;
    const isTaken = (i: number, t: number): boolean => actions[entryOf(columnStride, 1, i, t).at] >= 0;
    for (let i = 0; i < this.numEnvs; i++) {
      let end = NUM_STEPS;
      while (end > 0 && !isTaken(i, end - 1)) end--;
      for (let t = Math.max(0, end - HISTORY_STEPS); t < end; t++) {
        if (isTaken(i, t)) this.#append(this.#next(i), trajectory, i, t);
      }
    }
  }

  #append(
    to: number,
    { actions, rewards, deltas, anomalies, columnStride }: HistoryTrajectory,
    i: number,
    t: number,
  ): void {
    const { rings } = this;
    const single = entryOf(columnStride, 1, i, t).at;
    rings[to + RECORD.action] = actions[single];
    rings[to + RECORD.reward] = rewards[single];
    const { at, stride } = entryOf(columnStride, NUM_METERS, i, t);
    for (let k = 0; k < NUM_METERS; k++) {
      rings[to + RECORD.deltas + k] = deltas[at + k * stride];
      rings[to + RECORD.anomalies + k] = anomalies[at + k * stride];
    }
  }

  /** Replaces the history of environment `env` after its state was loaded. @param steps at most 7, the oldest first. */
  replace(env: number, steps: readonly HistoryStep[]): void {
    this.#clear(env);
    for (const { action, reward, deltas, anomalies } of steps) {
      const to = this.#next(env);
      this.rings[to + RECORD.action] = action;
      this.rings[to + RECORD.reward] = reward;
      this.rings.set(deltas, to + RECORD.deltas);
      this.rings.set(anomalies, to + RECORD.anomalies);
    }
  }

  /**
   * Copies the history of environment `indices[i]` of `source` to environment i.
   * @param source may be this object. @param indices at most `numEnvs` indices of environments of `source`.
   */
  gather(source: HistoryRows, indices: Uint32Array): void {
    const rings = source === this ? source.rings.slice() : source.rings;
    const oldest = source === this ? source.oldest.slice() : source.oldest;
    for (let i = 0; i < indices.length; i++) {
      const from = indices[i] * HISTORY_SIZE;
      const to = i * HISTORY_SIZE;
      for (let k = 0; k < HISTORY_SIZE; k++) this.rings[to + k] = rings[from + k];
      this.oldest[i] = oldest[indices[i]];
    }
  }

  #clear(env: number): void {
    this.rings.set(MISSING, env * HISTORY_SIZE);
  }

  /** Advances an environment's ring. @returns the offset of the new entry. */
  #next(env: number): number {
    const entry = this.oldest[env];
    this.oldest[env] = entry + 1 === HISTORY_STEPS ? 0 : entry + 1;
    return env * HISTORY_SIZE + entry * RECORD_SIZE;
  }
}
