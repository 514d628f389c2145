/** Collects the costs of players from rows of an evaluation, and joins them with the costs of recorded episodes. */
import { NUM_STEPS } from '../world/fields.js';
import type { EvaluationResult } from './parse-results.js';
import { type Spending, USAGE_KEYS } from './spending.js';

/** The cost of one player in one file. */
export interface ReportedCost {
  readonly source: string;
  readonly name: string;
  readonly episodes: number;
  readonly spending: Spending;
}

type Row = EvaluationResult['rows'][number];

/**
 * Returns the costs of language models. If an episode is in several conditions, only the row of the first condition has its
 * usage.
 */
export function costsOfEvaluation(source: string, { rows }: EvaluationResult): ReportedCost[] {
  // Only rows of language models have a share of completions without an action.
  const modelRows = rows.filter(({ unparsed }) => unparsed !== null);
  return [...new Set(modelRows.map(({ policy }) => policy))].map((name) => {
    const playerRows = modelRows.filter(({ policy }) => policy === name);
    const episodes = episodesOf(playerRows);
    return { source, name, episodes, spending: spendingOf(playerRows, episodes * NUM_STEPS) };
  });
}

const episodesOf = (rows: readonly Row[]): number => rows.reduce((sum, row) => sum + row.episodes, 0);

/** Sums the usage of a player's rows. @param steps the number of steps of their episodes. */
function spendingOf(rows: readonly Row[], steps: number): Spending {
  const metered = episodesOf(rows.filter(({ usage }) => usage !== null));
  const unparsed = rows.reduce((sum, row) => sum + row.unparsed! * row.episodes * NUM_STEPS, 0);
  const total = {} as Record<(typeof USAGE_KEYS)[number], number | null>;
  const perEpisode = { ...total };
  for (const key of USAGE_KEYS) {
    const rowsWithKey = rows.filter(({ usage }) => usage?.[key] !== undefined);
    const sum = rowsWithKey.reduce((all, { usage }) => all + usage![key]!, 0);
    total[key] = rowsWithKey.length === 0 ? null : sum;
    perEpisode[key] = rowsWithKey.length === 0 ? null : sum / episodesOf(rowsWithKey);
  }
  return { steps, unparsed: Math.round(unparsed), metered, perEpisode, total };
}

/**
 * Joins the costs of evaluations with those of recorded episodes. Omits a player's costs of an evaluation if its recorded
 * episodes have usage, because episodes are more detailed.
 */
export const joinCosts = (
  evaluated: readonly ReportedCost[],
  played: readonly ReportedCost[],
): ReportedCost[] => [
  ...evaluated.filter(
    ({ name }) => !played.some((other) => other.name === name && other.spending.metered > 0),
  ),
  ...played,
];
