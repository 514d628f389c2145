/** Filters of recorded episodes, and the provenance of a selection of episodes. Several kinds of datasets share both. */
import { type Grader, type GraderWeights, toGrader } from '../../engine/graders/grader.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { InputError } from '../../shared/errors.js';
import { checkBoolean, checkFinite, checkInteger } from '../../shared/values.js';
import { TRAINING_SEEDS } from '../../world/conditions.js';
import { MAX_U32, NUM_STEPS } from '../../world/fields.js';
import { checkRange, evalSeedsIn, type Range, rangeText, refuseEvalSeeds } from './state-sampler.js';

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

export interface SelectionOptions {
  /** Names of the teachers, models and conditions whose episodes are taken. Default: all. */
  readonly teacher?: readonly string[];
  readonly model?: readonly string[];
  readonly conditions?: readonly string[];
  /** Seeds of the episodes. Default 100-9999, the training seeds. */
  readonly seeds?: Range;
  /** Whether `seeds` may include evaluation seeds. Default false. */
  readonly allowEvalSeeds?: boolean;
  /** Whether to take episodes of policies that used hidden state. Default false. */
  readonly allowOracle?: boolean;
  /** The range of steps that become rows. Default 0-27. */
  readonly steps?: Range;
  /** The grader of final scores. Default v2. */
  readonly grader?: Grader;
  /** The share of seeds for validation, in [0, 0.9]. Default 0.1. */
  readonly validation?: number;
  /** u32, the seed of the split. Default 0. */
  readonly splitSeed?: number;
}

/** The validated selection of episodes. Unused filters are null. */
export interface EpisodeSelection
  extends Required<Omit<SelectionOptions, 'teacher' | 'model' | 'conditions'>> {
  readonly teacher: readonly string[] | null;
  readonly model: readonly string[] | null;
  readonly conditions: readonly string[] | null;
}

const ALL_STEPS: Range = { first: 0, last: NUM_STEPS - 1 };
/** Chosen by hand: at least about a tenth of the seeds is for training. */
const MAX_VALIDATION = 0.9;

/** Validates options. @throws InputError `out_of_range`, `wrong_type`, or `bad_seed` for refused evaluation seeds. */
export function toSelection(options: SelectionOptions): EpisodeSelection {
  const { teacher = null, model = null, conditions = null, grader = toGrader('v2') } = options;
  const allowEvalSeeds = checkBoolean('allowEvalSeeds', options.allowEvalSeeds ?? false);
  const seeds = checkRange('seeds', options.seeds ?? TRAINING_SEEDS, MAX_U32);
  if (!allowEvalSeeds) refuseEvalSeeds(seeds);
  return {
    teacher,
    model,
    conditions,
    seeds,
    allowEvalSeeds,
    grader,
    allowOracle: checkBoolean('allowOracle', options.allowOracle ?? false),
    steps: checkRange('steps', options.steps ?? ALL_STEPS, ALL_STEPS.last),
    validation: checkBetween('--validation', options.validation ?? 0.1, 0, MAX_VALIDATION),
    splitSeed: checkInteger('--split-seed', options.splitSeed ?? 0, 0, MAX_U32),
  };
}

/** Validates a number in [low, high]. @throws InputError `out_of_range` or `wrong_type`. */
export function checkBetween(what: string, value: number, low: number, high: number): number {
  if (checkFinite(what, value) >= low && value <= high) return value;
  const range = high === Number.MAX_VALUE ? `at least ${low}` : `from ${low} to ${high}`;
  throw new InputError(
    'out_of_range',
    `Expected ${what} to be ${range}, got ${value}. Pass a number in that range.`,
  );
}
