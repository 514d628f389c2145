/** Collects the final scores and the costs of all files as rows of one table each. */
import { policyName } from '../agents/policies/fixed-policies.js';
import type { Share } from '../evaluation/bracket.js';
import { type Published, published, publishedTeacher } from '../evaluation/published-scores.js';
import type { Verdict } from '../evaluation/verdict.js';
import { ORACLE_MARK } from '../rollouts/trajectories/trajectory-episode.js';
import type { Interval } from '../shared/statistics.js';
import { NUM_STEPS } from '../world/fields.js';
import type { EvaluationResult, ReevaluationResult } from './parse-results.js';
import { shortened, shortPlayerName } from './player-names.js';
import type { PlayedScore } from './player-tally.js';
import { type Spending, USAGE_KEYS } from './tallies.js';

/** A final score, with the file that it is from. */
export interface ScoreRow {
  /** The file's label. */
  readonly source: string;
  /** Whether the score was computed from a file of trajectories. Files of other kinds contain the scores. */
  readonly fromEpisodes: boolean;
  readonly condition: string;
  readonly grader: string;
  /** 'sampled', 'discrete', a profile's name, 'named' for several named profiles, or 'mixed' for sampled and named ones. */
  readonly profiles: string;
  readonly seeds: string;
  readonly name: string;
  /** Whether the policy is known to have played for `grader`. */
  readonly isOwnGrader: boolean;
  readonly episodes: number;
  readonly finalScore: Interval;
  /** The place of the score between the grader's two anchors (evaluation/bracket.ts); absent until it is computed. */
  readonly share?: Share;
  readonly published: Published | undefined;
  readonly beliefMae: number;
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
  /** The comparison with the best policy that infers nothing; absent if the file has none. */
  readonly verdict?: Verdict | null;
}

interface ScoredProfiles {
  readonly condition: string;
  readonly profiles: string;
}

/** Returns whether scores have the condition's default profiles. No scores of other profiles were published. */
const hasDefaultProfiles = ({ condition, profiles }: ScoredProfiles): boolean =>
  profiles === 'sampled' || condition.startsWith('discrete');

/** Returns the rows of an evaluation, with published scores. */
export const scoresOfEvaluation = (source: string, { grader, rows }: EvaluationResult): ScoreRow[] =>
  rows.map((row) => {
    const policy = policyName(row);
    return {
      source,
      fromEpisodes: false,
      grader,
      condition: row.condition,
      profiles: row.profiles,
      seeds: row.seeds,
      name: `${shortened(policy)}${row.oracle ? ORACLE_MARK : ''}`,
      isOwnGrader: true,
      episodes: row.episodes,
      finalScore: row.final_score,
      published: hasDefaultProfiles(row) ? published(row.condition, policy, grader) : undefined,
      beliefMae: row.belief_mae,
      firstHalfMean: row.early_mean,
      secondHalfMean: row.late_mean,
      verdict: row.verdict,
    };
  });

/**
 * Returns the rows of a re-evaluation, with published scores: a baseline has those of the same policy, an oracle none, and any
 * other player those of RhythmEnv's teacher, a frontier model.
 */
export const scoresOfReevaluation = (source: string, { rows }: ReevaluationResult): ScoreRow[] =>
  rows.map((row) => {
    const { condition, grader, profiles, seeds, baseline, teacher, model, objective, oracle } = row;
    const publishedScore =
      baseline !== null
        ? published(condition, baseline, grader)
        : oracle
          ? undefined
          : publishedTeacher(condition, grader);
    return {
      source,
      fromEpisodes: false,
      grader,
      condition,
      profiles,
      seeds,
      name: baseline ?? shortPlayerName({ teacher: teacher ?? 'unknown', model, objective, oracle }),
      isOwnGrader: baseline !== null,
      episodes: row.episodes,
      finalScore: row.final_score,
      published: hasDefaultProfiles(row) ? publishedScore : undefined,
      beliefMae: row.belief_mae,
      firstHalfMean: row.early_mean,
      secondHalfMean: row.late_mean,
    };
  });

/** Returns rows of a file of trajectories, with published scores of policies of the same name. */
export const scoresOfPlayer = (source: string, name: string, scores: readonly PlayedScore[]): ScoreRow[] =>
  scores.map((score) => ({
    ...score,
    source,
    fromEpisodes: true,
    name,
    isOwnGrader: true,
    published: hasDefaultProfiles(score) ? published(score.condition, name, score.grader) : undefined,
  }));

/** Means that differ by less than this count as equal: they may have been summed in another order. Chosen by hand. */
const TOLERANCE = 1e-6;

/** Removes rows of trajectories that repeat an earlier row of an evaluation or re-evaluation. */
export function withoutRepeats(rows: readonly ScoreRow[]): ScoreRow[] {
  const kept: ScoreRow[] = [];
  for (const row of rows) {
    const repeated = kept.some(
      (other) =>
        row.fromEpisodes &&
        !other.fromEpisodes &&
        other.condition === row.condition &&
        other.grader === row.grader &&
        other.name === row.name &&
        other.episodes === row.episodes &&
        Math.abs(other.finalScore.mean - row.finalScore.mean) < TOLERANCE &&
        Math.abs(other.beliefMae - row.beliefMae) < TOLERANCE,
    );
    if (!repeated) kept.push(row);
  }
  return kept;
}

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
