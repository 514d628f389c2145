/** Sections: the results in a few sentences, final scores beside published ones, and what graders reward. */

import { drawAuditComponents, drawAuditGains } from '../../evaluation/audit/audit-page.js';
import type { GraderAnchors } from '../../evaluation/audit/read-anchors.js';
import { bracketNotes, SHARE_MEANING } from '../../evaluation/bracket.js';
import { decimals, grouped, plainInterval } from '../../evaluation/format-results.js';
import { PUBLISHED_SOURCE, TEACHER_BELIEF_MAE } from '../../evaluation/published-scores.js';
import { isMain, mayInfer, verdictNote, verdictTexts } from '../../evaluation/verdict.js';
import { yardstickNotes } from '../../evaluation/yardstick.js';
import { drawActionSequences } from '../../figures/action-sequences.js';
import { drawScores } from '../../figures/scores.js';
import { ORACLE_MARK } from '../../rollouts/trajectories/trajectory-episode.js';
import { ACTION_NAMES } from '../../world/fields.js';
import type { AuditResult } from '../parse-results.js';
import { disambiguated, uniqueNames } from '../player-names.js';
import type { ReportData, ReportedAudit } from '../result-gatherer.js';
import type { ScoreRow } from '../result-rows.js';
import { type Column, type Html, html, type Part, paragraph, type Section, table } from '../section.js';

/** Rows of one condition and kind of profiles, whose scores can be compared. */
export interface ScoreGroup {
  /** The condition, its profiles unless they are the default, and the seeds. */
  readonly name: string;
  readonly rows: readonly ScoreRow[];
}

/** Returns the section; null if no file has scores. */
export function scoresSection({ scores, brackets, yardsticks }: ReportData): Section | null {
  if (scores.length === 0) return null;
  const graders = [...new Set(scores.map(({ grader }) => grader))];
  return {
    id: 'scores',
    title: 'Final scores',
    parts: [
      paragraph(EXPLANATION),
      ...graders.flatMap((grader, k) =>
        partsOf(grader, scores, graders.length === 1 ? 'scores' : `scores-${k + 1}`),
      ),
      ...(yardsticks.length === 0 ? [] : yardstickNotes(yardsticks).map(paragraph)),
      ...bracketParts(scores, brackets),
      ...(scores.some(({ published }) => published) ? [paragraph(PUBLISHED)] : []),
    ],
  };
}

/**
 * Explains the shares (see bracket.ts) if there are any. Gives each grader's anchors, or says why scores have no shares.
 */
function bracketParts(scores: readonly ScoreRow[], brackets: readonly GraderAnchors[]): Part[] {
  const meaning = scores.some(({ share }) => share) ? [SHARE_MEANING] : [];
  return [...meaning, ...bracketNotes(scores, brackets)].map(paragraph);
}

const EXPLANATION =
  'The final score of an episode is between 0 and 1. [oracle]: uses hidden state; not a valid agent.';

const PUBLISHED =
  `Published: ${PUBLISHED_SOURCE}. This world rebuilds RhythmEnv with constants of its own, so scores are ` +
  'similar, not equal. Teachers in re-evaluated files are compared with the published frontier-model teacher, whose belief ' +
  `MAE was ${TEACHER_BELIEF_MAE}.`;

function partsOf(grader: string, scores: readonly ScoreRow[], name: string): Part[] {
  const groups = scoreGroups(scores.filter((row) => row.grader === grader));
  const title = `Final scores under grader ${grader}`;
  const drawing = drawScores({
    title,
    groups: groups.map((group) => ({
      name: group.name,
      rows: group.rows.map(({ name, finalScore, published }) => ({
        name,
        score: finalScore,
        published: published?.finalScore,
      })),
    })),
  });
  return [
    html`<h3>Grader <bdi>${grader}</bdi></h3>\n`,
    { name, drawing },
    ...groups.map((group) => table(`${title}, ${group.name}`, columnsOf(group.rows), group.rows)),
  ];
}

/** Groups rows by condition and profiles. Names are unique within a group. */
export function scoreGroups(rows: readonly ScoreRow[]): ScoreGroup[] {
  const groups = new Map<string, ScoreRow[]>();
  for (const row of rows) {
    const { condition, profiles } = row;
    // A condition's default profiles are not named.
    const suffix = profiles === 'sampled' || condition.startsWith('discrete') ? '' : ` (${profiles})`;
    const name = `${condition}${suffix}`;
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return Array.from(groups, ([name, groupRows]) => {
    const seeds = [...new Set(groupRows.map((row) => row.seeds))].join(', ');
    return { name: `${name}, seeds ${seeds}`, rows: disambiguated(groupRows) };
  });
}

const orDash = (value: number | null | undefined): string => (value == null ? '–' : decimals(value));

const SHARE: Column<ScoreRow> = {
  head: 'share of the value of knowing the profile (95 %)',
  cell: ({ share }) => (share == null ? '–' : plainInterval(share)),
};

/** Returns the columns of a table. The column of shares is included if any row has a share. */
const columnsOf = (rows: readonly ScoreRow[]): Column<ScoreRow>[] =>
  SCORE_COLUMNS.flatMap((column) =>
    column.head === 'published' && rows.some(({ share }) => share) ? [SHARE, column] : [column],
  );

const SCORE_COLUMNS: readonly Column<ScoreRow>[] = [
  { head: 'policy', cell: ({ name }) => name },
  { head: 'episodes', cell: ({ episodes }) => grouped(episodes) },
  { head: 'final score (95 %)', cell: ({ finalScore }) => plainInterval(finalScore) },
  {
    head: 'published',
    cell: ({ published }) =>
      published?.approximate ? `about ${published.finalScore}` : orDash(published?.finalScore),
  },
  { head: 'belief MAE', cell: ({ beliefMae }) => decimals(beliefMae) },
  { head: 'first-half mean reward', cell: ({ firstHalfMean }) => decimals(firstHalfMean) },
  { head: 'second-half mean reward', cell: ({ secondHalfMean }) => decimals(secondHalfMean) },
];

/** Returns the section, the verdicts first; null if there are neither scores nor audits. */
export function summarySection({ scores, audits }: ReportData): Section | null {
  const graders = [...new Set(scores.map(({ grader }) => grader))];
  const verdicts = verdictsOn(scores);
  const sentences = [
    ...graders.flatMap((grader) =>
      scoreGroups(scores.filter((row) => row.grader === grader && isMain(row, scores))).map((group) =>
        bestOf(grader, group),
      ),
    ),
    ...audits.map(
      ({ source, audit: { grader, verdict } }) =>
        html`<li>Audit of grader <bdi>${grader}</bdi> (<bdi>${source}</bdi>): ${verdict}</li>\n`,
    ),
  ];
  if (sentences.length === 0) return null;
  const summary = html`<ul class="summary">${sentences}</ul>\n`;
  return {
    id: 'summary',
    title: verdicts.length === 0 ? 'Summary' : 'Verdict',
    parts: [...verdicts, summary],
  };
}

/** Returns the verdicts on the policies of evaluations that may infer, and a note; [] if no file has verdicts. */
function verdictsOn(scores: readonly ScoreRow[]): Html[] {
  const judged = scores
    .filter((row) => row.verdict != null && isMain(row, scores))
    .map((row) => ({ ...row, oracle: row.name.includes(ORACLE_MARK), verdict: row.verdict! }));
  const graders = [...new Set(judged.map(({ grader }) => grader))];
  const items = graders.flatMap((grader) => {
    const own = judged.filter((row) => row.grader === grader && mayInfer(row));
    const prefix = graders.length > 1 ? `Grader ${grader}, ` : '';
    return scoreGroups(own).flatMap(({ rows }) =>
      verdictTexts(rows as typeof own).map(
        ({ about, text }) => html`<li><strong><bdi>${prefix}${about}</bdi></strong>: ${text}</li>\n`,
      ),
    );
  });
  const note = judged.length === 0 ? '' : verdictNote(judged);
  return [
    ...(items.length === 0 ? [] : [html`<ul class="verdict">${items}</ul>\n`]),
    ...(note === '' ? [] : [paragraph(note)]),
  ];
}

/** Returns a list item: the policies with the highest and the next mean score, and the one with the smallest belief error. */
function bestOf(grader: string, { name, rows }: ScoreGroup): Html {
  // Oracles use hidden state, so they are left out, unless there are only oracles.
  const agents = rows.filter((row) => !row.name.includes(ORACLE_MARK));
  const compared = agents.length > 0 ? agents : rows;
  const [best, next] = [...compared].sort((a, b) => b.finalScore.mean - a.finalScore.mean);
  const [closest] = [...compared].sort((a, b) => a.beliefMae - b.beliefMae);
  const where = html`Grader <bdi>${grader}</bdi>, <bdi>${name}</bdi>`;
  const score = html`<strong><bdi>${best.name}</bdi> scores ${plainInterval(best.finalScore)}</strong>`;
  if (next === undefined)
    return html`<li>${where}: ${score}; its belief error is ${decimals(best.beliefMae)}.</li>\n`;
  const lead = html`the highest mean of ${grouped(compared.length)} policies; next is <bdi>${next.name}</bdi> with ${decimals(next.finalScore.mean)}`;
  const belief = html`<bdi>${closest.name}</bdi> has the smallest belief error, ${decimals(closest.beliefMae)}.`;
  return html`<li>${where}: ${score}, ${lead}. ${belief}</li>\n`;
}

type Row = AuditResult['rows'][number] & { readonly name: string };

/** Returns the section; null if no file is an audit. */
export function gainsSection({ audits }: ReportData): Section | null {
  if (audits.length === 0) return null;
  return {
    id: 'gains',
    title: 'What the grader pays for',
    parts: audits.flatMap((audit, k) => auditPartsOf(audit, k === 0 ? '' : `-${k + 1}`)),
  };
}

function auditPartsOf({ source, audit }: ReportedAudit, suffix: string): Part[] {
  const { grader, grader_weights: weights, seeds, verdict } = audit;
  const rows: Row[] = uniqueNames(audit.rows.map((row) => ({ ...row, name: row.policy })));
  const audited = { grader, weights, seeds, rows };
  return [
    html`<h3>Grader <bdi>${grader}</bdi>, from <bdi>${source}</bdi></h3>\n`,
    paragraph(verdict),
    { name: `gains${suffix}`, drawing: drawAuditGains(audited) },
    table(`Scores under grader ${grader}, and gains over the heuristic`, GAIN_COLUMNS, rows),
    { name: `components${suffix}`, drawing: drawAuditComponents(audited) },
    ...sequencesOf(audit, suffix),
  ];
}

function sequencesOf({ grader, sequences }: AuditResult, suffix: string): Part[] {
  if (sequences.length === 0) return [];
  const rows = uniqueNames(
    sequences.map(({ policy, actions }) => ({
      name: policy,
      actions: actions.map((action) => ACTION_NAMES.indexOf(action)),
    })),
  );
  const title = `Best action sequences under grader ${grader}`;
  return [{ name: `action-sequences${suffix}`, drawing: drawActionSequences({ title, rows }) }];
}

const GAIN_COLUMNS: readonly Column<Row>[] = [
  { head: 'policy', cell: ({ name }) => name },
  { head: 'episodes', cell: ({ episodes }) => grouped(episodes) },
  { head: 'final score (95 %)', cell: (row) => plainInterval(row.final_score) },
  { head: 'over the heuristic (95 %)', cell: ({ gain }) => plainInterval(gain) },
  { head: 'belief MAE', cell: (row) => decimals(row.belief_mae) },
  { head: 'first-half mean', cell: (row) => decimals(row.early_mean) },
  { head: 'second-half mean', cell: (row) => decimals(row.late_mean) },
];
