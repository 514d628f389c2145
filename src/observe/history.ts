/** The last seven steps of every slot, for environments that show them. */
import type { Trajectory } from '../backends/backend.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION_SIZE } from '../world/fields.js';
import { HISTORY_STEPS, type HistoryStep, RECORD, RECORD_SIZE, RECORD_START } from './record.js';

/** Floats of one slot's history. */
export const HISTORY_SIZE = HISTORY_STEPS * RECORD_SIZE;

/** A step that was not taken: action -1 and zeros. */
const MISSING = new Float32Array(HISTORY_SIZE);
for (let at = 0; at < HISTORY_SIZE; at += RECORD_SIZE) MISSING[at + RECORD.action] = -1;

/**
 * A ring of seven steps a slot, 337 bytes each. A slot's place in its ring is its own, so slots may step, stay and
 * begin anew independently. Nothing is allocated but by a gather from itself.
 */
export class HistoryRows {
  readonly numEnvs: number;
  /** f32 [numEnvs, 7, 12]: the rings. @internal */
  readonly rings: Float32Array;
  /** u8 [numEnvs]: which entry of a ring is the oldest, and the next to be overwritten. @internal */
  readonly oldest: Uint8Array;

  /** No step taken in any slot. */
  constructor(numEnvs: number) {
    this.numEnvs = numEnvs;
    this.rings = new Float32Array(numEnvs * HISTORY_SIZE);
    this.oldest = new Uint8Array(numEnvs);
    this.clear(null);
  }

  /** Forgets the steps of slots that begin anew. @param mask u8 [numEnvs]; null for all. */
  clear(mask: Uint8Array | null): void {
    for (let i = 0; i < this.numEnvs; i++) {
      if (mask === null || mask[i] !== 0) this.#forget(i);
    }
  }

  /**
   * Adds the step just taken.
   * @param observations f32 [numEnvs, 22], row-major, as the step showed them; of slots that have begun anew, as it showed
   *   their end.
   * @param mask u8 [numEnvs], the slots that took it, null for all.
   * @param columnStride of `observations`: 0 for rows; else number k of slot i is at `k * columnStride + i`.
   */
  push(observations: Float32Array, mask: Uint8Array | null, columnStride = 0): void {
    const { numEnvs, rings } = this;
    const slotStep = columnStride === 0 ? OBSERVATION_SIZE : 1;
    const wordStep = columnStride === 0 ? 1 : columnStride;
    for (let i = 0; i < numEnvs; i++) {
      if (mask !== null && mask[i] === 0) continue;
      const from = i * slotStep + RECORD_START * wordStep;
      const to = this.#next(i);
      for (let k = 0; k < RECORD_SIZE; k++) rings[to + k] = observations[from + k * wordStep];
    }
  }

  /** Adds the steps that a run recorded, after those that are there. Slots that it did not move stay. */
  append(trajectory: Trajectory): void {
    const { actions } = trajectory;
    for (let i = 0; i < this.numEnvs; i++) {
      const first = i * NUM_STEPS;
      let end = first + NUM_STEPS;
      while (end > first && actions[end - 1] < 0) end--;
      for (let at = Math.max(first, end - HISTORY_STEPS); at < end; at++) {
        if (actions[at] >= 0) this.#append(this.#next(i), trajectory, at);
      }
    }
  }

  #append(to: number, { actions, rewards, deltas, anomalies }: Trajectory, at: number): void {
    const { rings } = this;
    rings[to + RECORD.action] = actions[at];
    rings[to + RECORD.reward] = rewards[at];
    for (let k = 0; k < NUM_METERS; k++) {
      rings[to + RECORD.deltas + k] = deltas[at * NUM_METERS + k];
      rings[to + RECORD.anomalies + k] = anomalies[at * NUM_METERS + k];
    }
  }

  /** Slot `slot` has taken these steps, the last of them last; what it held is forgotten. For states that are loaded. */
  replace(slot: number, steps: readonly HistoryStep[]): void {
    this.#forget(slot);
    for (const { action, reward, deltas, anomalies } of steps) {
      const to = this.#next(slot);
      this.rings[to + RECORD.action] = action;
      this.rings[to + RECORD.reward] = reward;
      this.rings.set(deltas, to + RECORD.deltas);
      this.rings.set(anomalies, to + RECORD.anomalies);
    }
  }

  /** Copies `source`'s slot `indices[i]` to slot i. `source` may be this one. @param indices of the first slots, or all. */
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

  #forget(slot: number): void {
    this.rings.set(MISSING, slot * HISTORY_SIZE);
  }

  /** Moves a slot's ring on. @returns where the new entry is written. */
  #next(slot: number): number {
    const entry = this.oldest[slot];
    this.oldest[slot] = entry + 1 === HISTORY_STEPS ? 0 : entry + 1;
    return slot * HISTORY_SIZE + entry * RECORD_SIZE;
  }
}
