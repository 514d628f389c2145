/** Replays rows on the reference. */

import { NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import type { Episode } from '../reference/episode.js';
import { beliefMae, clampSkill } from '../reference/grade.js';
import { NO_ACTION } from '../validate/actions.js';
import type { Refusal, ReplayRequest } from './backend.js';
import { rowAt } from './reference-run.js';
import { findHistoryRefusal } from './refusals.js';

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
