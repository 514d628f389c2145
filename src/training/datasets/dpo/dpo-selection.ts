/** Selects stored episodes for DPO, and makes their pairs. */
import { isUsableAnswer } from '../../../rollouts/trajectories/move.js';
import type { TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { SCHEMAS } from '../../../shared/schemas.js';
import { NUM_STEPS } from '../../../world/fields.js';
import {
  type BySplit,
  episodeFilters,
  Selection,
  type SelectionProvenance,
  selectionProvenance,
} from '../episode-selection.js';
import type { EpisodeResult, ResultSource } from '../replay-results.js';
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

export const DPO_FILTERS = episodeFilters('player');

/** Holds the selected episodes in memory, without their observations: about 40 kB each. `end` returns all rows. */
export class DpoSelection extends Selection<DpoPlan, DpoRow> {
  readonly #candidates: Candidate[] = [];

  /** @param source replays episodes; the selection closes it. */
  constructor(plan: DpoPlan, source: ResultSource) {
    super(plan, source, DPO_FILTERS);
  }

  protected override take(episode: TrajectoryEpisode, { graded }: EpisodeResult): [] | string {
    const candidate = toCandidate(episode, this.plan.by, graded.finalScores[0]);
    if (candidate === null) return 'no text';
    this.#candidates.push(candidate);
    return [];
  }

  override end(): BySplit<readonly DpoRow[]> {
    return this.sorted(pairsOf(this.#candidates, this.plan));
  }
}

/** Returns the provenance of a plan. */
export const dpoProvenanceOf = (plan: DpoPlan): SelectionProvenance =>
  selectionProvenance(SCHEMAS.dpoDataset, { by: plan.by }, plan, [
    ...DPO_FILTERS.flatMap(({ describe }) => describe(plan) ?? []),
    ...(plan.minMargin === 0 ? [] : [`a difference of at least ${plan.minMargin}`]),
    ...(plan.allPairs ? ['every pair of a state'] : ['the best completion of a state with the worst']),
  ]);
