/** Writes an episode as a line of JSON. */
import type { TrajectoryEpisode } from './trajectory-episode.js';

/**
 * Returns an episode as JSON with a line end. JSON prints a float32 as the equal float64, so reading the line restores
 * its bits. No value is -0, which JSON.stringify would write as 0.
 */
export const episodeLine = (episode: TrajectoryEpisode): string => `${JSON.stringify(episode)}\n`;

const PLAYER_FIELDS = ['teacher', 'model', 'objective', 'oracle', 'condition', 'profile_mode'] as const;
type PlayerFields = Pick<TrajectoryEpisode, (typeof PLAYER_FIELDS)[number]>;

/** Returns a key of an episode's player, condition and profile mode. With a seed it identifies one episode. */
export const playerKey = (episode: PlayerFields): string =>
  JSON.stringify(PLAYER_FIELDS.map((name) => episode[name]));

/** Returns a key that identifies an episode. A file has each key once, and a resumed run skips those already written. */
export const episodeKey = (episode: PlayerFields & Pick<TrajectoryEpisode, 'seed'>): string =>
  `${playerKey(episode)} ${episode.seed}`;
