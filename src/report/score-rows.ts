/** Final scores of all files as rows of one table. */
import { type Published, published, publishedTeacher } from '../evaluate/published.js';
import type { Interval } from '../evaluate/statistics.js';
import { policyName } from '../policies/policies.js';
import { ORACLE_MARK } from '../trajectory/player-name.js';
import { nameOf, shortened } from './names.js';
import type { PlayedScore } from './player-tally.js';
import type { EvaluationResult, ReevaluationResult } from './results.js';

export interface ScoreRow {
  /** The file's label. */
  readonly source: string;
  /** Whether it was found by looking at stored weeks. */
  readonly ofWeeks: boolean;
  readonly condition: string;
  readonly grader: string;
  /** As rows of an evaluation name them. */
  readonly profiles: string;
  readonly seeds: string;
  readonly name: string;
  readonly episodes: number;
  readonly finalScore: Interval;
  readonly published: Published | undefined;
  readonly beliefMae: number;
  readonly earlyMean: number | null;
  readonly lateMean: number | null;
}

interface Place {
  readonly condition: string;
  readonly profiles: string;
}

/** Other persons than the published ones have no published score. */
const isPublished = ({ condition, profiles }: Place): boolean =>
  profiles === 'sampled' || condition.startsWith('discrete');

export const scoresOfEvaluation = (source: string, { grader, rows }: EvaluationResult): ScoreRow[] =>
  rows.map((row) => {
    const policy = policyName(row);
    return {
      ...{
        source,
        ofWeeks: false,
        grader,
        condition: row.condition,
        profiles: row.profiles,
        seeds: row.seeds,
      },
      name: `${shortened(policy)}${row.oracle ? ORACLE_MARK : ''}`,
      episodes: row.episodes,
      finalScore: row.final_score,
      published: isPublished(row) ? published(row.condition, policy, grader) : undefined,
      beliefMae: row.belief_mae,
      earlyMean: row.early_mean,
      lateMean: row.late_mean,
    };
  });

/** A teacher's published figure is that of the published teacher; one that knows the person has none. */
export const scoresOfReevaluation = (source: string, { rows }: ReevaluationResult): ScoreRow[] =>
  rows.map((row) => {
    const { condition, grader, profiles, seeds, baseline, teacher, model, objective, oracle } = row;
    const figure =
      baseline !== null
        ? published(condition, baseline, grader)
        : oracle
          ? undefined
          : publishedTeacher(condition, grader);
    return {
      ...{ source, ofWeeks: false, grader, condition, profiles, seeds },
      name: baseline ?? nameOf({ teacher: teacher ?? 'nobody', model, objective, oracle }),
      episodes: row.episodes,
      finalScore: row.final_score,
      published: isPublished(row) ? figure : undefined,
      beliefMae: row.belief_mae,
      earlyMean: row.early_mean,
      lateMean: row.late_mean,
    };
  });

/** What a file of trajectories says itself; published figures stand where policies of the same name were published. */
export const scoresOfPlayer = (source: string, name: string, scores: readonly PlayedScore[]): ScoreRow[] =>
  scores.map((score) => ({
    ...score,
    source,
    ofWeeks: true,
    name,
    published: isPublished(score) ? published(score.condition, name, score.grader) : undefined,
  }));

/** Further in digits than sums of the same weeks in another order are apart. */
const SAME = 1e-6;

/** Without those of stored weeks that another row says already: those of an evaluation, stored beside it. */
export function withoutRepeats(rows: readonly ScoreRow[]): ScoreRow[] {
  const kept: ScoreRow[] = [];
  for (const row of rows) {
    const repeated = kept.some(
      (other) =>
        row.ofWeeks &&
        !other.ofWeeks &&
        other.condition === row.condition &&
        other.grader === row.grader &&
        other.name === row.name &&
        other.episodes === row.episodes &&
        Math.abs(other.finalScore.mean - row.finalScore.mean) < SAME &&
        Math.abs(other.beliefMae - row.beliefMae) < SAME,
    );
    if (!repeated) kept.push(row);
  }
  return kept;
}
