/** Chooses the actions and beliefs of a run on the reference, and records its steps. */

import { NUM_BELIEFS, NUM_SLOTS, NUM_STEPS } from '../../world/fields.js';
import { heuristicAction, randomAction } from '../reference/baselines.js';
import type { Episode } from '../reference/episode.js';
import type { RecordedTrajectory, RunBeliefs, RunPolicy, TrajectoryField } from './backend.js';
import { entryOf, TRAJECTORY_ARRAYS, TRAJECTORY_FIELDS } from './outputs.js';

/** Returns the code of environment i's next action. */
export function chooseAction(policy: RunPolicy, episode: Episode, i: number): number {
  const { stepCount: t, seed, meters, world } = episode;
  if (policy.kind === 'sequence') return policy.actions[i * NUM_STEPS + t];
  if (policy.kind === 'heuristic') return heuristicAction(world.params, t % NUM_SLOTS, meters);
  return randomAction(world.params, seed, t, policy.policySeeds?.[i] ?? 0);
}

/** Returns the belief at the flat index `at` of [numEnvs, 28]; null for no belief. */
export function beliefAt(beliefs: RunBeliefs | null, at: number): ArrayLike<number> | null {
  if (beliefs === null) return null;
  if (beliefs.kind === 'constant') return beliefs.belief;
  return beliefs.given[at] ? rowAt(beliefs.beliefs, at) : null;
}

/** Returns a row of `beliefs`, f32 [n, 3]. */
export const rowAt = (beliefs: Float32Array, row: number): number[] =>
  Array.from({ length: NUM_BELIEFS }, (_, k) => beliefs[row * NUM_BELIEFS + k]);

/** Records the last step of environment i, step t of the episode. */
export function recordStep(trajectory: RecordedTrajectory, i: number, t: number, episode: Episode): void {
  const step: Record<TrajectoryField, ArrayLike<number>> = {
    actions: [episode.lastAction],
    events: [episode.event],
    rewards: [episode.reward],
    meters: episode.meters,
    deltas: episode.deltas,
    anomalies: episode.anomalies,
  };
  for (const name of TRAJECTORY_FIELDS) {
    const array = trajectory[name];
    if (array === undefined) continue;
    const [, width] = TRAJECTORY_ARRAYS[name];
    const { at, stride } = entryOf(trajectory.columnStride, width, i, t);
    for (let k = 0; k < width; k++) array[at + k * stride] = step[name][k];
  }
}
