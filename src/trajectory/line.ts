/** An episode as a line. */
import type { TrajectoryEpisode } from './episode.js';

/**
 * The line of an episode, with its end. A float32 is printed as the float64 that equals it, in the fewest digits that
 * say which, so that reading it gives its bits back; no number of an episode is a negative zero, which JSON.stringify
 * would lose.
 */
export const episodeLine = (episode: TrajectoryEpisode): string => `${JSON.stringify(episode)}\n`;

const PLAYER_KEY = ['teacher', 'model', 'objective', 'oracle', 'condition', 'profile_mode'] as const;
type OfPlayer = Pick<TrajectoryEpisode, (typeof PLAYER_KEY)[number]>;

/** Who has played, under which condition, and whose weeks: a seed of it is one episode. */
export const playerKey = (episode: OfPlayer): string =>
  JSON.stringify(PLAYER_KEY.map((name) => episode[name]));

/**
 * What an episode is told apart by: a file holds each once, and who resumes one need not play those that are there.
 */
export const episodeKey = (episode: OfPlayer & Pick<TrajectoryEpisode, 'seed'>): string =>
  `${playerKey(episode)} ${episode.seed}`;
