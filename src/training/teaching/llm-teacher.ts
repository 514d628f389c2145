/** Plays episodes with a language model as the teacher. */

import { modelPlayer } from '../../agents/llm/language-model.js';
import { type PlayOptions, playEpisodes } from '../../agents/llm/play-episodes.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { episodeKey } from '../../rollouts/trajectories/write-line.js';
import { CUSTOM, type SeedRange } from '../../world/conditions.js';

export interface TeachByModelOptions extends Omit<PlayOptions, 'player'> {
  readonly seeds: SeedRange;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profiles: string;
}

/** Returns the keys of the episodes of a range of seeds, in the order of the seeds. */
export function keysOf({ first, last }: SeedRange, profiles: string, model: string): string[] {
  const common = { ...modelPlayer(model), condition: CUSTOM, profile_mode: profiles };
  return Array.from({ length: last - first + 1 }, (_, i) => episodeKey({ ...common, seed: first + i }));
}

/**
 * Plays the missing episodes of a range of seeds, and yields each when it ends.
 * @param exists whether the episode with a key exists (see `keysOf`). @throws as `playEpisodes`.
 */
export function teachByModel(
  { seeds, profiles, ...options }: TeachByModelOptions,
  exists: (key: string) => boolean,
): AsyncGenerator<TrajectoryEpisode> {
  const missing = keysOf(seeds, profiles, options.model.name)
    .map((key, i) => ({ key, seed: seeds.first + i, profileMode: profiles, condition: CUSTOM }))
    .filter(({ key }) => !exists(key));
  return playEpisodes(missing, { ...options, player: modelPlayer(options.model.name) });
}
