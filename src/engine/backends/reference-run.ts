/** Runs and replays on the reference: chooses actions and beliefs, and records steps. */

import { NUM_BELIEFS, NUM_SLOTS, NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import { heuristicAction, randomAction } from '../reference/baselines.js';
import type { Episode } from '../reference/episode.js';
import { beliefMae, clampSkill } from '../reference/grade.js';
import { NO_ACTION } from '../validate/steps.js';
import type {
  RecordedTrajectory,
  Refusal,
  ReplayRequest,
  RunBeliefs,
  RunPolicy,
  TrajectoryField,
} from './backend.js';
import { entryOf, TRAJECTORY_ARRAYS, TRAJECTORY_FIELDS } from './outputs.js';
import { findHistoryRefusal } from './refusals.js';

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

/** The belief from which `beliefMae` is computed for a row without a belief. */
const NO_BELIEF = [0.5, 0.5, 0.5];

/** Implements `Batch.replay`. @param episode reused for all rows. */
export function replayRows(episode: Episode, request: ReplayRequest): Refusal | null {
  const refusal = findHistoryRefusal(request);
  if (refusal === null) for (const row of request.order) replayRow(episode, request, row);
  return refusal;
}

function replayRow(episode: Episode, request: ReplayRequest, row: number): void {
  const { seeds, modes, profiles, grader, stops, histories, actions, beliefs, given } = request;
  const { beliefHistories, historyGiven } = request;
  const floats = profiles?.subarray(row * PROFILE_SIZE, (row + 1) * PROFILE_SIZE) ?? null;
  episode.begin(seeds[row], modes[row], floats, grader);
  for (let t = 0; t < stops[row]; t++) {
    const at = row * NUM_STEPS + t;
    episode.applyStep(histories[at], historyGiven?.[at] ? rowAt(beliefHistories!, at) : null);
  }
  request.hashes[row] = episode.stateHash();
  const isGiven = beliefs !== null && given?.[row] === 1;
  const belief = isGiven ? rowAt(beliefs, row) : null;
  request.rewards[row] = actions[row] === NO_ACTION ? Number.NaN : episode.advance(actions[row], belief);
  // `beliefMae` is the error of this belief alone, not of the beliefs in the history.
  episode.believe(belief ?? NO_BELIEF);
  request.beliefMae[row] = beliefMae(episode.world.params, episode.belief, episode.target);
  request.beliefSkill[row] = isGiven ? clampSkill(episode.skillTerm()) : -1;
}
