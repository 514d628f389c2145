/** Filters of a dataset for SFT: which episodes become rows, in the order in which they are checked. */
import type { TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { rangeText } from '../dataset-seeds.js';
import type { SftPlan } from './sft-options.js';

/** Results of a replayed episode. */
export interface EpisodeScore {
  readonly score: number;
  /** The score minus that of heuristic+constant, the heuristic with the constant belief, in the same episode. */
  readonly margin: number;
  readonly beliefMae: number;
}

interface Filter<Subject> {
  /** The reason for which episodes are left out, as counts call it. */
  readonly reason: string;
  /** Describes the filter for the card; null if the plan does not use it. */
  readonly describe: (plan: SftPlan) => string | null;
  readonly accepts: (plan: SftPlan, subject: Subject) => boolean;
}

const among = (names: readonly string[] | null, name: string | null): boolean =>
  names === null || (name !== null && names.includes(name));
const listed = (what: string, names: readonly string[] | null): string | null =>
  names && `${what} ${names.join(', ')}`;

/** Filters of the recorded line. */
const LINE_FILTERS: readonly Filter<TrajectoryEpisode>[] = [
  {
    reason: 'another objective',
    describe: ({ objective }) => `objective ${objective}`,
    accepts: (plan, { objective }) => (objective ?? 'none') === plan.objective,
  },
  {
    reason: 'used hidden state',
    describe: ({ allowOracle }) =>
      allowOracle ? 'TEACHERS THAT USED HIDDEN STATE ARE INCLUDED' : 'no teacher that used hidden state',
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
  {
    reason: 'answers without an action',
    describe: ({ onlyParsed }) => (onlyParsed ? 'every completion of the episode names an action' : null),
    accepts: ({ onlyParsed }, { steps }) => !onlyParsed || steps.every(({ parsed }) => parsed),
  },
];

/** Filters of the replay's results. */
const SCORE_FILTERS: readonly Filter<EpisodeScore>[] = [
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

const failedFilter = <Subject>(
  filters: readonly Filter<Subject>[],
  plan: SftPlan,
  subject: Subject,
): string | null => filters.find(({ accepts }) => !accepts(plan, subject))?.reason ?? null;

/** Returns the reason why a line is left out; null if it is accepted. */
export const lineRefusal = (plan: SftPlan, episode: TrajectoryEpisode): string | null =>
  failedFilter(LINE_FILTERS, plan, episode);

/** Returns the reason why a replayed episode is left out; null if it is accepted. */
export const scoreRefusal = (plan: SftPlan, scored: EpisodeScore): string | null =>
  failedFilter(SCORE_FILTERS, plan, scored);

/** Describes the filters of a plan, as cards list them. */
export const filterTexts = (plan: SftPlan): string[] =>
  [...LINE_FILTERS, ...SCORE_FILTERS].flatMap(({ describe }) => describe(plan) ?? []);
