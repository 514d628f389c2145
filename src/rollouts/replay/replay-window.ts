/** The validated rows of a replay, and their results. */
import type { EnvProfiles } from '../../engine/validate/profiles.js';
import type { ReplayColumns } from './row-columns.js';

/** Rows in their original order. */
export interface ReplayRows {
  readonly columns: ReplayColumns;
  readonly people: EnvProfiles;
  /** u8 [n]: 1 where a belief is given; set once a row is checked. */
  readonly given: Uint8Array;
}

/** The results of every row. */
export interface Replayed {
  /** f32 [n]: the reward of the step; unchanged for rows without an action. */
  readonly stepRewards: Float32Array;
  /** f32 [n]. */
  readonly beliefMae: Float32Array;
  /** u64 [n]: the hash of the state before the action. */
  readonly stateHashes: BigUint64Array;
}
