/** Replays rows on the reference. */

import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import type { Episode } from '../reference/episode.js';
import { beliefMae } from '../reference/grade.js';
import { NO_ACTION } from '../validate/actions.js';
import type { Refusal, ReplayRequest } from './backend.js';

/** Implements `Batch.replay`. @param episode reused for all rows. */
export function replayRows(episode: Episode, request: ReplayRequest): Refusal | null {
  const refusal = refuseHistories(request);
  if (refusal === null) for (const row of request.order) replayRow(episode, request, row);
  return refusal;
}

function replayRow(episode: Episode, request: ReplayRequest, row: number): void {
  const { seeds, modes, profiles, grader, stops, histories, actions, beliefs, given } = request;
  const floats = profiles?.subarray(row * PROFILE_SIZE, (row + 1) * PROFILE_SIZE) ?? null;
  episode.begin(seeds[row], modes[row], floats, grader);
  for (let t = 0; t < stops[row]; t++) episode.applyStep(histories[row * NUM_STEPS + t]);
  request.hashes[row] = episode.stateHash();
  const isGiven = beliefs !== null && given?.[row] === 1;
  const belief = isGiven ? beliefs.subarray(row * NUM_BELIEFS, (row + 1) * NUM_BELIEFS) : null;
  if (actions[row] !== NO_ACTION) request.rewards[row] = episode.advance(actions[row], belief);
  else if (belief !== null) episode.believe(belief);
  request.beliefMae[row] = beliefMae(episode.world.params, episode.belief, episode.target);
}

function refuseHistories({ order, stops, histories }: ReplayRequest): Refusal | null {
  for (const row of order) {
    for (let step = 0; step < stops[row]; step++) {
      const value = histories[row * NUM_STEPS + step];
      if (value >= NUM_ACTIONS) return { code: 'illegal_action', index: row, step, value };
    }
  }
  return null;
}
