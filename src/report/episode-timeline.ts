/** Converts a stored episode to a timeline. */

import { Episode } from '../engine/reference/episode.js';
import type { TimelineEpisode } from '../figures/timeline-episode.js';
import { ACTION_NAMES, NUM_BELIEFS, NUM_METERS, OBSERVATION } from '../world/fields.js';
import type { TimelineData } from './episode-choice.js';
import { hiddenProfile } from './profile-group.js';

/** Returns the timeline of an episode. A replay computes the state after the last step, which files do not contain. */
export function timelineOf({ mode, seed, steps }: TimelineData): TimelineEpisode {
  const actions = steps.map(({ action }) => ACTION_NAMES.indexOf(action));
  const replayed = new Episode();
  replayed.reset(seed, { profile: mode });
  for (const action of actions) replayed.step(action);
  const meters = steps.flatMap(({ observation }) =>
    observation.slice(OBSERVATION.meters, OBSERVATION.meters + NUM_METERS),
  );
  // An observation has the event of the step before it.
  const events = steps.slice(1).map(({ observation }) => observation[OBSERVATION.event]);
  const hasBeliefs = steps.some(({ belief }) => belief !== null);
  const noBelief = new Array<number>(NUM_BELIEFS).fill(Number.NaN);
  return {
    actions,
    meters: [...meters, ...replayed.meters],
    events: [...events, replayed.event],
    rewards: steps.map(({ reward }) => reward),
    beliefs: hasBeliefs ? steps.flatMap(({ belief }) => belief ?? noBelief) : undefined,
    target: hiddenProfile(mode, seed).target,
  };
}
