/** The filters that select the episodes of a dataset for SFT, in the order in which they are checked. */
import type { TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { episodeFilters, type Filter, failedFilter } from '../episode-filters.js';
import type { SftPlan } from './sft-options.js';

/** Results of a replayed episode. */
export interface EpisodeScore {
  readonly score: number;
  /** The score minus that of heuristic+constant, the heuristic with the constant belief, in the same episode. */
  readonly margin: number;
  readonly beliefMae: number;
}

/** Filters of stored episodes, which need no replay. */
const STORED_FILTERS: readonly Filter<SftPlan, TrajectoryEpisode>[] = [
  {
    reason: 'another objective',
    describe: ({ objective }) => `objective ${objective}`,
    accepts: (plan, { objective }) => (objective ?? 'none') === plan.objective,
  },
  ...episodeFilters('teacher'),
  {
    reason: 'answers without an action',
    describe: ({ onlyParsed }) => (onlyParsed ? 'every completion of the episode names an action' : null),
    accepts: ({ onlyParsed }, { steps }) => !onlyParsed || steps.every(({ parsed }) => parsed),
  },
];

/** Filters of the replay's results. */
const REPLAY_FILTERS: readonly Filter<SftPlan, EpisodeScore>[] = [
  {
    reason: 'a lower score',
    describe: ({ minScore, grader }) =>
      minScore === null ? null : `a final score of at least ${minScore} under ${grader.name}`,
    accepts: ({ minScore }, { score }) => minScore === null || score >= minScore,
  },
  {
    reason: 'a smaller margin over heuristic+constant',
    describe: ({ minMargin, grader }) =>
      minMargin === null
        ? null
        : `a margin of at least ${minMargin} over heuristic+constant in the same episode, under ${grader.name}`,
    accepts: ({ minMargin }, { margin }) => minMargin === null || margin >= minMargin,
  },
  {
    reason: 'a larger belief error',
    describe: ({ maxBeliefError }) =>
      maxBeliefError === null
        ? null
        : `an error of the last belief of at most ${maxBeliefError}: SELECTED BY HIDDEN STATE, which no agent sees`,
    accepts: ({ maxBeliefError }, { beliefMae }) => maxBeliefError === null || beliefMae <= maxBeliefError,
  },
];

/** Returns the reason why a stored episode is left out before the replay; null if it is accepted. */
export const storedExclusion = (plan: SftPlan, episode: TrajectoryEpisode): string | null =>
  failedFilter(STORED_FILTERS, plan, episode);

/** Returns the reason why a replayed episode is left out; null if it is accepted. */
export const replayExclusion = (plan: SftPlan, scored: EpisodeScore): string | null =>
  failedFilter(REPLAY_FILTERS, plan, scored);

/** Describes the filters of a plan, as cards list them. */
export const filterTexts = (plan: SftPlan): string[] =>
  [...STORED_FILTERS, ...REPLAY_FILTERS].flatMap(({ describe }) => describe(plan) ?? []);
