/** Converts a stored episode to a timeline. */

import { Episode } from '../engine/reference/episode.js';
import type { TimelineEpisode } from '../figures/timeline-episode.js';
import { ACTION_NAMES, NUM_BELIEFS, NUM_METERS, OBSERVATION } from '../world/fields.js';
import type { KeptEpisode } from './kept-episodes.js';
import { hiddenProfile } from './profile-group.js';

/** Returns the timeline. The state after the last step, which the file lacks, comes from a replay. */
export function timelineOf({ mode, seed, steps }: KeptEpisode): TimelineEpisode {
  const actions = steps.map(({ action }) => ACTION_NAMES.indexOf(action));
  const end = new Episode();
  end.reset(seed, { profile: mode });
  for (const action of actions) end.step(action);
  const meters = steps.flatMap(({ observation }) =>
    observation.slice(OBSERVATION.meters, OBSERVATION.meters + NUM_METERS),
  );
  const events = steps.slice(1).map(({ observation }) => observation[OBSERVATION.event]);
  const given = steps.some(({ belief }) => belief !== null);
  const noBelief = new Array<number>(NUM_BELIEFS).fill(Number.NaN);
  return {
    actions,
    meters: [...meters, ...end.meters],
    events: [...events, end.event],
    rewards: steps.map(({ reward }) => reward),
    beliefs: given ? steps.flatMap(({ belief }) => belief ?? noBelief) : undefined,
    target: hiddenProfile(mode, seed).target,
  };
}
