/** Weeks of a language model that teaches. */
import { CUSTOM, type SeedRange } from '../conditions.js';
import { modelPlayer } from '../llm/player.js';
import { type AskOptions, askWeeks } from '../llm/weeks.js';
import type { TrajectoryEpisode } from '../trajectory/episode.js';
import { episodeKey } from '../trajectory/line.js';

export interface TeachByModelOptions extends Omit<AskOptions, 'player'> {
  readonly seeds: SeedRange;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profiles: string;
}

/** What tells the episodes of a range of seeds apart, in its order. */
export function keysOf({ first, last }: SeedRange, profiles: string, model: string): string[] {
  const common = { ...modelPlayer(model), condition: CUSTOM, profile_mode: profiles };
  return Array.from({ length: last - first + 1 }, (_, i) => episodeKey({ ...common, seed: first + i }));
}

/**
 * Plays the weeks of a range of seeds that are not there yet, and yields each when it ends.
 * @param isThere by what `keysOf` gives. @throws as `askWeeks`.
 */
export function teachByModel(
  { seeds, profiles, ...options }: TeachByModelOptions,
  isThere: (key: string) => boolean,
): AsyncGenerator<TrajectoryEpisode> {
  const weeks = keysOf(seeds, profiles, options.model.name)
    .map((key, i) => ({ key, seed: seeds.first + i, profileMode: profiles, condition: CUSTOM }))
    .filter(({ key }) => !isThere(key));
  return askWeeks(weeks, { ...options, player: modelPlayer(options.model.name) });
}
