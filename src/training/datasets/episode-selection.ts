/** Selects recorded episodes by the options that the datasets for SFT and DPO share, and sorts their rows into splits. */

import { type Grader, type GraderWeights, toGrader } from '../../engine/graders/grader.js';
import { type Draw, threefry } from '../../engine/reference/threefry.js';
import type { Mismatch } from '../../evaluation/reevaluation/trajectory-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { InputError } from '../../shared/errors.js';
import type { Schema } from '../../shared/schemas.js';
import { checkBoolean, checkFinite, checkInteger } from '../../shared/values.js';
import { packageVersion } from '../../shared/version.js';
import { evalSeedsIn, rangeText, TRAINING_SEEDS } from '../../world/conditions.js';
import { MAX_U32, NUM_STEPS } from '../../world/fields.js';
import { createWorld } from '../../world/world.js';
import type { EpisodeResult, ResultSource } from './replay-results.js';
import { checkRange, type Range, refuseEvalSeeds } from './state-sampler.js';

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
  readonly schema: Schema;
  /** The version of the package. */
  readonly version: string;
  readonly world_digest: string;
  /** For SFT: the teachers' objective; null for teachers without one. */
  readonly objective?: string | null;
  /** For DPO: what decides which answer is better, "score" or "return". */
  readonly by?: string;
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
  schema: Schema,
  own: Pick<SelectionProvenance, 'objective' | 'by'>,
  plan: EpisodeSelection,
  filters: readonly string[],
): SelectionProvenance => ({
  schema,
  version: packageVersion(),
  world_digest: createWorld().digest,
  ...own,
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
  throw new InputError('out_of_range', {
    expected: `${what} to be ${range}`,
    got: String(value),
    remedy: 'Pass a number in that range.',
  });
}

export const SPLITS = ['train', 'validation'] as const;
export type Split = (typeof SPLITS)[number];
export type BySplit<T> = Readonly<Record<Split, T>>;

/** The second word of the Threefry key of its draws: "SPLT" in ASCII. No stream of the published world has this number. */
const STREAM = 0x53504c54;
const draw: Draw = { x0: 0, x1: 0 };

/**
 * Returns the split of all rows of a seed. The split does not depend on the teacher or on other episodes, so a row keeps its
 * split when the dataset grows.
 */
export const splitOf = (
  { validation, splitSeed }: Pick<EpisodeSelection, 'validation' | 'splitSeed'>,
  seed: number,
): Split => (threefry(splitSeed, STREAM, seed, 0, draw).x0 < validation * 2 ** 32 ? 'validation' : 'train');

/** The rows, selected episodes and seeds of one split. */
interface SplitCounts {
  rows: number;
  episodes: number;
  readonly seeds: Set<number>;
}

/** The rows of added episodes, and the episodes that differ from their replay, with their index. */
export interface Added<Row> {
  readonly rows: BySplit<readonly Row[]>;
  readonly mismatched: readonly { readonly index: number; readonly mismatches: readonly Mismatch[] }[];
}

/**
 * Selects episodes that equal their replay and pass the filters, makes their rows, and counts rows and episodes for the
 * dataset's card.
 */
export abstract class Selection<Plan extends EpisodeSelection, Row extends { readonly seed: number }>
  implements AsyncDisposable
{
  readonly plan: Plan;
  readonly #source: ResultSource;
  readonly #filters: readonly Filter<Plan, TrajectoryEpisode>[];
  /** The number of episodes that were left out, by reason. */
  readonly leftOut = new Map<string, number>();
  readonly counts: BySplit<SplitCounts> = {
    train: { rows: 0, episodes: 0, seeds: new Set() },
    validation: { rows: 0, episodes: 0, seeds: new Set() },
  };

  /** @param source replays episodes; the selection closes it. @param filters those that need no replay. */
  constructor(plan: Plan, source: ResultSource, filters: readonly Filter<Plan, TrajectoryEpisode>[]) {
    this.plan = plan;
    this.#source = source;
    this.#filters = filters;
  }

  /** Takes an episode that equals its replay. @returns its rows, or the reason for leaving it out. */
  protected abstract take(episode: TrajectoryEpisode, result: EpisodeResult): readonly Row[] | string;

  /** Returns the rows that only all episodes together make. Call it once, after the last episode. */
  end(): BySplit<readonly Row[]> {
    return this.sorted([]);
  }

  /** The numbers of rows and selected episodes in both splits. */
  total(what: 'rows' | 'episodes'): number {
    return SPLITS.reduce((sum, split) => sum + this.counts[split][what], 0);
  }

  /** Replays the episodes that pass the filters, and takes those that equal their replay. */
  async add(episodes: readonly TrajectoryEpisode[]): Promise<Added<Row>> {
    const accepted = [...episodes.entries()].filter(([, episode]) => {
      const reason = failedFilter(this.#filters, this.plan, episode);
      if (reason !== null) this.#leaveOut(reason);
      return reason === null;
    });
    const results = await this.#source.resultsOf(accepted.map(([, episode]) => episode));
    const rows: Row[] = [];
    const mismatched: Added<Row>['mismatched'][number][] = [];
    for (const [i, [index, episode]] of accepted.entries()) {
      const { mismatches } = results[i];
      if (mismatches.length > 0) mismatched.push({ index, mismatches });
      const taken = mismatches.length > 0 ? 'not as recorded' : this.take(episode, results[i]);
      if (typeof taken === 'string') this.#leaveOut(taken);
      else {
        this.counts[splitOf(this.plan, episode.seed)].episodes++;
        rows.push(...taken);
      }
    }
    return { rows: this.sorted(rows), mismatched };
  }

  /** Sorts rows into splits, and counts them. */
  protected sorted(rows: Iterable<Row>): BySplit<readonly Row[]> {
    const bySplit: BySplit<Row[]> = { train: [], validation: [] };
    for (const row of rows) {
      const split = splitOf(this.plan, row.seed);
      bySplit[split].push(row);
      this.counts[split].rows++;
      this.counts[split].seeds.add(row.seed);
    }
    return bySplit;
  }

  #leaveOut(reason: string): void {
    this.leftOut.set(reason, (this.leftOut.get(reason) ?? 0) + 1);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#source[Symbol.asyncDispose]();
  }
}
