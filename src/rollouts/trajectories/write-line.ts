/** Writes an episode as a line of JSON. */
import type { TrajectoryEpisode } from './trajectory-episode.js';

/**
 * Returns the line of an episode, with its line end. A float32 is printed as the equal float64 in the fewest digits, so
 * reading it restores its bits. Negative zeros, which JSON.stringify would lose, do not occur.
 */
export const episodeLine = (episode: TrajectoryEpisode): string => `${JSON.stringify(episode)}\n`;

const PLAYER_KEY = ['teacher', 'model', 'objective', 'oracle', 'condition', 'profile_mode'] as const;
type OfPlayer = Pick<TrajectoryEpisode, (typeof PLAYER_KEY)[number]>;

/** The player and condition of an episode. Within it, a seed identifies one episode. */
export const playerKey = (episode: OfPlayer): string =>
  JSON.stringify(PLAYER_KEY.map((name) => episode[name]));

/** The identity of an episode. A file holds each once, and a resumed run skips those that are there. */
export const episodeKey = (episode: OfPlayer & Pick<TrajectoryEpisode, 'seed'>): string =>
  `${playerKey(episode)} ${episode.seed}`;
