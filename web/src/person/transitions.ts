/** Reads observations into named fields. */
import {
  NUM_ACTIONS,
  NUM_METERS,
  NUM_SLOTS,
  OBSERVATION,
  OBSERVATION_SIZE,
} from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import type { EpisodeReplay } from './episode-types.js';

/** The state after a step and the changes of the step. The first transition of an episode is the state after reset. */
export interface Transition {
  /** Steps taken, 0 to 28. */
  readonly step: number;
  /** [5] in [0, 1]. */
  readonly meters: readonly number[];
  /** Codes of the last action and event; -1 for none. */
  readonly action: number;
  readonly event: number;
  readonly reward: number;
  /** [5]: the change of each meter. */
  readonly deltas: readonly number[];
  /** [5]: the difference of each meter's response, with noise, from a neutral profile's response. */
  readonly anomalies: readonly number[];
  /** [5]: the effect of the action on an average person, without the event, the decay and the bounds of the meters. */
  readonly typical: readonly number[];
  /** [5]: the effect of the action on this person, with noise: `typical` plus the anomalies. */
  readonly effect: readonly number[];
}

/** Returns one transition per observation. */
export function transitionsOf({
  observations,
  typical,
}: Pick<EpisodeReplay, 'observations' | 'typical'>): Transition[] {
  return Array.from({ length: observations.length / OBSERVATION_SIZE }, (_, i) => {
    const row = observations.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE);
    const five = (at: number): number[] => Array.from(row.subarray(at, at + NUM_METERS));
    const action = row[OBSERVATION.lastAction];
    const anomalies = five(OBSERVATION.anomalies);
    const most = i === 0 ? anomalies : typicalOf(typical, i - 1, action);
    return {
      step: row[OBSERVATION.step],
      action,
      event: row[OBSERVATION.event],
      reward: row[OBSERVATION.reward],
      meters: five(OBSERVATION.meters),
      deltas: five(OBSERVATION.deltas),
      anomalies,
      typical: most,
      effect: most.map((effect, k) => effect + anomalies[k]),
    };
  });
}

/** Returns the effect of an action on an average person at a step, [5]. @param typical as in EpisodeReplay. */
export function typicalOf(typical: Float32Array, step: number, action: number): number[] {
  const at = (step * NUM_ACTIONS + action) * NUM_METERS;
  return Array.from(typical.subarray(at, at + NUM_METERS));
}

/** Returns the slot (time of day) of a step, such as "evening". */
export const slotOf = (step: number): string => RHYTHM.slots[step % NUM_SLOTS];

/** Returns the day and slot of a step, such as "day 2 evening". */
export const timeOf = (step: number): string => `day ${1 + Math.floor(step / NUM_SLOTS)} ${slotOf(step)}`;

/** Returns the last transition with this action; null if there is none. */
export const lastTransitionOf = (transitions: readonly Transition[], action: number): Transition | null =>
  transitions.filter((transition) => transition.action === action).at(-1) ?? null;
