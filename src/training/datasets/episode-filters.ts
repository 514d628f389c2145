/** Filters of recorded episodes, and the provenance of a selection of episodes. Several kinds of datasets share both. */
import type { GraderWeights } from '../../engine/graders/grader.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { evalSeedsIn, rangeText } from './dataset-seeds.js';
import type { EpisodeSelection } from './selection-options.js';

/** Accepts or leaves out a subject, such as an episode, by the options of a plan. */
export interface Filter<Plan, Subject> {
  /** The reason for leaving subjects out. The card counts them by reason. */
  readonly reason: string;
  /** Describes the filter for the card; null if the plan does not use it. */
  readonly describe: (plan: Plan) => string | null;
  readonly accepts: (plan: Plan, subject: Subject) => boolean;
}

/** Returns whether a filter's names include a name. Null in place of names stands for all. */
const among = (names: readonly string[] | null, name: string | null): boolean =>
  names === null || (name !== null && names.includes(name));
/** Describes a filter by names; null for a filter that is not used. */
const listed = (what: string, names: readonly string[] | null): string | null =>
  names && `${what} ${names.join(', ')}`;

/** Returns the filters of a selection. @param who the word for a policy that played, such as "teacher". */
export const episodeFilters = (who: string): readonly Filter<EpisodeSelection, TrajectoryEpisode>[] => [
  {
    reason: 'used hidden state',
    describe: ({ allowOracle }) =>
      allowOracle
        ? `${who.toUpperCase()}S THAT USED HIDDEN STATE ARE INCLUDED`
        : `no ${who} that used hidden state`,
    accepts: ({ allowOracle }, { oracle }) => allowOracle || !oracle,
  },
  {
    reason: 'another seed',
    describe: ({ seeds }) => `seeds ${rangeText(seeds)}`,
    accepts: ({ seeds }, { seed }) => seed >= seeds.first && seed <= seeds.last,
  },
  {
    reason: 'another teacher',
    describe: ({ teacher }) => listed('teacher', teacher),
    accepts: (plan, { teacher }) => among(plan.teacher, teacher),
  },
  {
    reason: 'another model',
    describe: ({ model }) => listed('model', model),
    accepts: (plan, { model }) => among(plan.model, model),
  },
  {
    reason: 'another condition',
    describe: ({ conditions }) => listed('condition', conditions),
    accepts: ({ conditions }, { condition }) => among(conditions, condition),
  },
];

/** Returns the reason of the first filter that does not accept the subject; null if all do. */
export const failedFilter = <Plan, Subject>(
  filters: readonly Filter<Plan, Subject>[],
  plan: Plan,
  subject: Subject,
): string | null => filters.find(({ accepts }) => !accepts(plan, subject))?.reason ?? null;

/** The provenance of a selection, in the order in which it is written, snake_case. */
export interface SelectionProvenance {
  readonly grader: { readonly name: string; readonly weights: GraderWeights };
  readonly seeds: string;
  readonly steps: string;
  readonly filters: readonly string[];
  readonly validation_share: number;
  readonly split_seed: number;
  readonly oracle_allowed: boolean;
  /** Whether --allow-eval-seeds was given. */
  readonly eval_seeds_allowed: boolean;
  /** The evaluation seeds in `seeds`, as ranges. */
  readonly eval_seeds: readonly string[];
}

/** Returns the provenance of a selection. @param filters the descriptions of all filters of the dataset. */
export const selectionProvenance = (
  plan: EpisodeSelection,
  filters: readonly string[],
): SelectionProvenance => ({
  grader: { name: plan.grader.name, weights: plan.grader.weights },
  seeds: rangeText(plan.seeds),
  steps: rangeText(plan.steps),
  filters,
  validation_share: plan.validation,
  split_seed: plan.splitSeed,
  oracle_allowed: plan.allowOracle,
  eval_seeds_allowed: plan.allowEvalSeeds,
  eval_seeds: evalSeedsIn(plan.seeds).map(rangeText),
});
