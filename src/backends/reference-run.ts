/** Steps of a run by the reference: what is played in each, and what is recorded of it. */
import { heuristicAction, randomAction } from '../reference/baselines.js';
import type { Episode } from '../reference/episode.js';
import { NUM_BELIEFS, NUM_METERS, NUM_SLOTS, NUM_STEPS } from '../world/fields.js';
import type { RunBeliefs, RunPolicy, Trajectory } from './backend.js';

/** The code of slot i's next action. */
export function chooseAction(policy: RunPolicy, episode: Episode, i: number): number {
  const { stepCount: t, seed, meters, world } = episode;
  if (policy.kind === 'tape') return policy.actions[i * NUM_STEPS + t];
  if (policy.kind === 'heuristic') return heuristicAction(world.params, t % NUM_SLOTS, meters);
  return randomAction(world.params, seed, t, policy.policySeeds?.[i] ?? 0);
}

/** The belief at a place of [numEnvs, 28]; null where none is given. */
export function beliefAt(beliefs: RunBeliefs | null, at: number): ArrayLike<number> | null {
  if (beliefs === null) return null;
  if (beliefs.kind === 'constant') return beliefs.belief;
  return beliefs.given[at] ? rowAt(beliefs.beliefs, at) : null;
}

/** By entries alone: a caller's array may have a `subarray` of its own. */
export const rowAt = (beliefs: Float32Array, row: number): number[] =>
  Array.from({ length: NUM_BELIEFS }, (_, k) => beliefs[row * NUM_BELIEFS + k]);

/** Notes the step just taken at a place of [numEnvs, 28]. */
export function record(trajectory: Trajectory, at: number, episode: Episode): void {
  trajectory.actions[at] = episode.lastAction;
  trajectory.events[at] = episode.event;
  trajectory.rewards[at] = episode.reward;
  trajectory.meters.set(episode.meters, at * NUM_METERS);
  trajectory.deltas.set(episode.deltas, at * NUM_METERS);
  trajectory.anomalies.set(episode.anomalies, at * NUM_METERS);
}
