/** What players took of services, whoever says it: their weeks, or the rows of an evaluation. */
import { NUM_STEPS } from '../world/fields.js';
import type { EvaluationResult } from './results.js';
import { type Spending, USAGE_KEYS } from './spending.js';

/** One player of one file. */
export interface ReportedCost {
  readonly source: string;
  readonly name: string;
  readonly episodes: number;
  readonly spending: Spending;
}

type Row = EvaluationResult['rows'][number];

/** Of those that were asked in words. What a week took is said by the first condition that holds it. */
export function costsOfEvaluation(source: string, { rows }: EvaluationResult): ReportedCost[] {
  const asked = rows.filter(({ unparsed }) => typeof unparsed === 'number');
  return [...new Set(asked.map(({ policy }) => policy))].map((name) => {
    const own = asked.filter(({ policy }) => policy === name);
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
    const said = rows.filter(({ usage }) => usage?.[key] !== undefined);
    const sum = said.reduce((all, { usage }) => all + usage![key]!, 0);
    total[key] = said.length === 0 ? null : sum;
    perEpisode[key] = said.length === 0 ? null : sum / episodesOf(said);
  }
  return { steps, unparsed: Math.round(unparsed), metered, perEpisode, total };
}

/** Without what an evaluation says of players whose weeks are there: these know it week by week. */
export const withoutKnown = (
  evaluated: readonly ReportedCost[],
  played: readonly ReportedCost[],
): ReportedCost[] => [
  ...evaluated.filter(
    ({ name }) => !played.some((other) => other.name === name && other.spending.metered > 0),
  ),
  ...played,
];
