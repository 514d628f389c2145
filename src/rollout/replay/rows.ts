/** Rows on their way through a replay, and what is written of them. */
import type { SlotProfiles } from '../../validate/persons.js';
import type { ReplayColumns } from './columns.js';

/** Rows as they were given, each in its place. */
export interface Taken {
  readonly columns: ReplayColumns;
  readonly people: SlotProfiles;
  /** u8 [n]: who gives a belief, of rows that were checked. */
  readonly given: Uint8Array;
}

/** What is written of every row that is replayed. */
export interface Replayed {
  /** f32 [n]: the reward of the step; left as it is where there is no action. */
  readonly stepRewards: Float32Array;
  /** f32 [n]. */
  readonly beliefMae: Float32Array;
  /** u64 [n], of the state in which the action is taken. */
  readonly stateHashes: BigUint64Array;
}
