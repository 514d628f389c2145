/** Selects stored episodes that equal their replay and pass the filters, and makes their pairs. */
import type { ReplayEngine } from '../../../rollouts/trajectories/episode-replayer.js';
import { isUsableAnswer } from '../../../rollouts/trajectories/move.js';
import type { TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { SCHEMAS, type Schema } from '../../../shared/schemas.js';
import { packageVersion } from '../../../shared/version.js';
import { NUM_STEPS } from '../../../world/fields.js';
import { createWorld } from '../../../world/world.js';
import {
  episodeFilters,
  failedFilter,
  type SelectionProvenance,
  selectionProvenance,
} from '../episode-filters.js';
import { PlayedResults, type ResultSource } from '../replay-results.js';
import { type MismatchedEpisode, SPLITS, type Split, splitOf } from '../sft/sft-selection.js';
import { type Candidate, type Criterion, type DpoPlan, type DpoRow, dpoRowOf } from './dpo-rows.js';

/** Returns the candidate of an episode; null for an episode without prompts. @param score the final score of its replay. */
function toCandidate(episode: TrajectoryEpisode, by: Criterion, score: number): Candidate | null {
  const { seed, profile_mode: profileMode, teacher, model, system, grader, steps } = episode;
  if (system === null) return null;
  return {
    seed,
    profileMode,
    teacher,
    model,
    system,
    start: JSON.stringify([seed, profileMode, grader, system]),
    actions: steps.map(({ action }) => action),
    answers: steps.map((step) => {
      const { prompt, completion } = step;
      return isUsableAnswer(step) ? { prompt: prompt!, completion: completion! } : null;
    }),
    values: by === 'score' ? new Float64Array(steps.length).fill(score) : returnsToGo(episode),
  };
}

/** Returns the sum of the rewards from each step on, f64 [28]. */
function returnsToGo({ steps }: TrajectoryEpisode): Float64Array {
  const sums = new Float64Array(steps.length);
  let sum = 0;
  for (let t = steps.length - 1; t >= 0; t--) {
    sum += steps[t].reward;
    sums[t] = sum;
  }
  return sums;
}

/** The options of a plan that decide which answers become pairs. */
type PairRules = Pick<DpoPlan, 'by' | 'steps' | 'minMargin' | 'allPairs'>;

/**
 * Yields the rows of all candidates with one `start` (seed, profile, grader and system message), then those with the next, in
 * the order of the candidates. The rows of a state come before those of the states that follow it.
 */
export function* pairsOf(candidates: readonly Candidate[], options: PairRules): Generator<DpoRow> {
  for (const group of groupBy(candidates, ({ start }) => start)) yield* pairsFrom(group, 0, options);
}

/** Yields the rows of candidates that share the state of a step, then the rows of those that share later states. */
function* pairsFrom(group: readonly Candidate[], step: number, options: PairRules): Generator<DpoRow> {
  if (group.length < 2 || step === NUM_STEPS) return;
  const { first, last } = options.steps;
  if (step >= first && step <= last) yield* pairsAt(group, step, options);
  for (const same of groupBy(group, ({ actions }) => actions[step]))
    yield* pairsFrom(same, step + 1, options);
}

/**
 * Yields the rows of one state: the best answer with the worst one, or with `allPairs` each answer with each worse one.
 * Answers with the same action make no pair, because their episodes differ only later.
 */
function* pairsAt(
  group: readonly Candidate[],
  step: number,
  { by, minMargin, allPairs }: PairRules,
): Generator<DpoRow> {
  const usable = group.filter(({ answers }) => answers[step] !== null);
  // The sort is stable: candidates with equal values keep the order of the files.
  const sorted = usable.sort((a, b) => b.values[step] - a.values[step]);
  for (const chosen of allPairs ? sorted : sorted.slice(0, 1)) {
    const worse = sorted.filter(({ actions, values }) => {
      const margin = chosen.values[step] - values[step];
      return actions[step] !== chosen.actions[step] && margin > 0 && margin >= minMargin;
    });
    for (const rejected of allPairs ? worse : worse.slice(-1)) yield dpoRowOf(step, chosen, rejected, by);
  }
}

/** Groups items by key, in the order of each key's first item. */
function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

const FILTERS = episodeFilters('player');

/** Returns the reason why an episode is left out; null if it is accepted. */
export const dpoExclusion = (plan: DpoPlan, episode: TrajectoryEpisode): string | null =>
  failedFilter(FILTERS, plan, episode);

/** Describes the filters of a plan, as cards list them. */
const dpoFilterTexts = (plan: DpoPlan): string[] => [
  ...FILTERS.flatMap(({ describe }) => describe(plan) ?? []),
  ...(plan.minMargin === 0 ? [] : [`a difference of at least ${plan.minMargin}`]),
  ...(plan.allPairs ? ['every pair of a state'] : ['the best completion of a state with the worst']),
];

/** Holds the selected episodes in memory, without their observations: about 40 kB each. */
export class DpoSelection implements AsyncDisposable {
  readonly #plan: DpoPlan;
  readonly #source: ResultSource;
  readonly #candidates: Candidate[] = [];
  /** The number of episodes that were left out, by reason. */
  readonly leftOut = new Map<string, number>();

  /** @param source replays episodes; `DpoSelection` closes it. */
  constructor(plan: DpoPlan, source: ResultSource) {
    this.#plan = plan;
    this.#source = source;
  }

  /** Opens a selection that replays the episodes. @param engine the options of the replay. @throws as `createVecEnv`. */
  static async open(plan: DpoPlan, engine: ReplayEngine): Promise<DpoSelection> {
    return new DpoSelection(plan, await PlayedResults.open(plan.grader, engine, { baselines: false }));
  }

  /** The number of selected episodes. */
  get episodes(): number {
    return this.#candidates.length;
  }

  /**
   * Replays the episodes that pass the filters, and keeps those that equal their replay and have prompts.
   * @returns the episodes that differ from their replay.
   */
  async add(episodes: readonly TrajectoryEpisode[]): Promise<MismatchedEpisode[]> {
    const accepted = episodes
      .map((episode, index) => ({ episode, index }))
      .filter(({ episode }) => this.#accepts(episode));
    if (accepted.length === 0) return [];
    const { mismatches, graded } = await this.#source.resultsOf(accepted.map(({ episode }) => episode));
    const mismatched: MismatchedEpisode[] = [];
    for (const [i, { episode, index }] of accepted.entries()) {
      if (mismatches[i].length === 0) this.#keep(episode, graded.finalScores[i]);
      else {
        this.#leaveOut('not as recorded');
        mismatched.push({ index, mismatches: mismatches[i] });
      }
    }
    return mismatched;
  }

  /** Returns the rows of all selected episodes, by split. */
  rows(): Record<Split, DpoRow[]> {
    const rows = Object.fromEntries(SPLITS.map((split) => [split, []])) as unknown as Record<Split, DpoRow[]>;
    for (const row of pairsOf(this.#candidates, this.#plan)) rows[splitOf(this.#plan, row.seed)].push(row);
    return rows;
  }

  #accepts(episode: TrajectoryEpisode): boolean {
    const reason = dpoExclusion(this.#plan, episode);
    if (reason !== null) this.#leaveOut(reason);
    return reason === null;
  }

  #keep(episode: TrajectoryEpisode, score: number): void {
    const candidate = toCandidate(episode, this.#plan.by, score);
    if (candidate === null) this.#leaveOut('no text');
    else this.#candidates.push(candidate);
  }

  #leaveOut(reason: string): void {
    this.leftOut.set(reason, (this.leftOut.get(reason) ?? 0) + 1);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#source[Symbol.asyncDispose]();
  }
}

/** The provenance, in the order in which it is written, snake_case. */
export interface DpoProvenance extends SelectionProvenance {
  readonly schema: Schema;
  /** The version of the package. */
  readonly version: string;
  readonly world_digest: string;
  /** What decides which answer is better: "score" or "return". */
  readonly by: string;
}

/** Returns the provenance of a plan. */
export const dpoProvenanceOf = (plan: DpoPlan): DpoProvenance => ({
  schema: SCHEMAS.dpoDataset,
  version: packageVersion(),
  world_digest: createWorld().digest,
  by: plan.by,
  ...selectionProvenance(plan, dpoFilterTexts(plan)),
});
