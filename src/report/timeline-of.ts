/** A stored week as a timeline. */
import type { TimelineWeek } from '../pictures/timeline-week.js';
import { Episode } from '../reference/episode.js';
import { ACTION_NAMES, NUM_BELIEFS, NUM_METERS, OBSERVATION } from '../world/fields.js';
import type { KeptWeek } from './kept-weeks.js';
import { whoIs } from './person.js';

/** What the file says, and of the last step, after which nothing is seen, what a replay says. */
export function timelineOf({ mode, seed, steps }: KeptWeek): TimelineWeek {
  const actions = steps.map(({ action }) => ACTION_NAMES.indexOf(action));
  const end = new Episode();
  end.reset(seed, { profile: mode });
  for (const action of actions) end.step(action);
  const meters = steps.flatMap(({ observation }) =>
    observation.slice(OBSERVATION.meters, OBSERVATION.meters + NUM_METERS),
  );
  const events = steps.slice(1).map(({ observation }) => observation[OBSERVATION.event]);
  const given = steps.some(({ belief }) => belief !== null);
  const nothing = new Array<number>(NUM_BELIEFS).fill(Number.NaN);
  return {
    actions,
    meters: [...meters, ...end.meters],
    events: [...events, end.event],
    rewards: steps.map(({ reward }) => reward),
    beliefs: given ? steps.flatMap(({ belief }) => belief ?? nothing) : undefined,
    target: whoIs(mode, seed).target,
  };
}
