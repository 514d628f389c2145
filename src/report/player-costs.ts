/** Collects the costs of players, from their episodes or from rows of an evaluation. */
import { NUM_STEPS } from '../world/fields.js';
import type { EvaluationResult } from './results.js';
import { type Spending, USAGE_KEYS } from './spending.js';

/** The cost of one player in one file. */
export interface ReportedCost {
  readonly source: string;
  readonly name: string;
  readonly episodes: number;
  readonly spending: Spending;
}

type Row = EvaluationResult['rows'][number];

/** Returns the costs of language models. An episode's usage is in the row of its first condition. */
export function costsOfEvaluation(source: string, { rows }: EvaluationResult): ReportedCost[] {
  const ofModels = rows.filter(({ unparsed }) => typeof unparsed === 'number');
  return [...new Set(ofModels.map(({ policy }) => policy))].map((name) => {
    const own = ofModels.filter(({ policy }) => policy === name);
    const episodes = episodesOf(own);
    return { source, name, episodes, spending: spendingOf(own, episodes * NUM_STEPS) };
  });
}

const episodesOf = (rows: readonly Row[]): number => rows.reduce((sum, row) => sum + row.episodes, 0);

function spendingOf(rows: readonly Row[], steps: number): Spending {
  const metered = episodesOf(rows.filter(({ usage }) => usage != null));
  const unparsed = rows.reduce((sum, row) => sum + row.unparsed! * row.episodes * NUM_STEPS, 0);
  const total = {} as Record<(typeof USAGE_KEYS)[number], number | null>;
  const perEpisode = { ...total };
  for (const key of USAGE_KEYS) {
    const known = rows.filter(({ usage }) => usage?.[key] !== undefined);
    const sum = known.reduce((all, { usage }) => all + usage![key]!, 0);
    total[key] = known.length === 0 ? null : sum;
    perEpisode[key] = known.length === 0 ? null : sum / episodesOf(known);
  }
  return { steps, unparsed: Math.round(unparsed), metered, perEpisode, total };
}

/** Joins costs. Omits those of evaluations if the player's episodes have usage, because episodes are more detailed. */
export const withoutKnown = (
  evaluated: readonly ReportedCost[],
  played: readonly ReportedCost[],
): ReportedCost[] => [
  ...evaluated.filter(
    ({ name }) => !played.some((other) => other.name === name && other.spending.metered > 0),
  ),
  ...played,
];
