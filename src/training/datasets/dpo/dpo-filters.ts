/** Filters of a dataset for DPO. */
import type { TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { episodeFilters, failedFilter } from '../episode-filters.js';
import type { DpoPlan } from './dpo-options.js';

const FILTERS = episodeFilters('player');

/** Returns the reason why an episode is left out; null if it is accepted. */
export const dpoExclusion = (plan: DpoPlan, episode: TrajectoryEpisode): string | null =>
  failedFilter(FILTERS, plan, episode);

/** Describes the filters of a plan, as cards list them. */
export const dpoFilterTexts = (plan: DpoPlan): string[] => [
  ...FILTERS.flatMap(({ describe }) => describe(plan) ?? []),
  ...(plan.minMargin === 0 ? [] : [`a difference of at least ${plan.minMargin}`]),
  ...(plan.allPairs ? ['every pair of a state'] : ['the best completion of a state with the worst']),
];
