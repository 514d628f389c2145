/** Formats an episode as a line of JSON, and builds its key. */
import { float32Decimal, float32Decimals } from '../../shared/float32-decimal.js';
import type { Hidden, TrajectoryEpisode, TrajectoryStep } from './trajectory-episode.js';

/**
 * Returns an episode as JSON with a line end. A float32 is written as the shortest decimal that reads back to it. No value
 * may be -0: JSON.stringify would write it as 0.
 */
export function episodeLine(episode: TrajectoryEpisode): string {
  const { steps, final, hidden } = episode;
  const decimals = {
    steps: steps.map(withDecimals),
    final: decimalsByName(final),
    ...(hidden && { hidden: withHiddenDecimals(hidden) }),
  };
  return `${JSON.stringify({ ...episode, ...decimals })}\n`;
}

const withDecimals = (step: TrajectoryStep) => ({
  ...step,
  observation: float32Decimals(step.observation),
  belief: step.belief && float32Decimals(step.belief),
  reward: float32Decimal(step.reward),
  reward_components: decimalsByName(step.reward_components),
});

const withHiddenDecimals = ({ profile, belief_target }: Hidden) => ({
  profile: float32Decimals(profile),
  belief_target: float32Decimals(belief_target),
});

/** Returns a copy of an object of float32 numbers, each as its shortest decimal. */
export function decimalsByName(numbers: object): object {
  // V8 changes the values of a copy several times as fast as Object.fromEntries builds an object.
  const decimals: Record<string, number> = { ...numbers };
  for (const name of Object.keys(decimals)) decimals[name] = float32Decimal(decimals[name]);
  return decimals;
}

const PLAYER_FIELDS = ['teacher', 'model', 'objective', 'oracle', 'condition', 'profile_mode'] as const;
type PlayerFields = Pick<TrajectoryEpisode, (typeof PLAYER_FIELDS)[number]>;

/** Returns a key of an episode's player, condition and profile mode. With a seed it identifies one episode. */
export const playerKey = (episode: PlayerFields): string =>
  JSON.stringify(PLAYER_FIELDS.map((name) => episode[name]));

/** Returns a key that identifies an episode. A file has each key once. */
export const episodeKey = (episode: PlayerFields & Pick<TrajectoryEpisode, 'seed'>): string =>
  `${playerKey(episode)} ${episode.seed}`;
