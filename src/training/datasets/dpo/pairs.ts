/**
 * Pairs of answers to one state. Episodes share a state if seed, profile, grader, system message and all earlier actions are
 * the same.
 */
import { NUM_STEPS } from '../../../world/fields.js';
import type { Candidate } from './candidates.js';
import type { DpoPlan } from './dpo-options.js';
import { type DpoRow, dpoRowOf } from './dpo-rows.js';

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
