/** An evaluation as a table for people. */
import type { Evaluation } from '../../evaluate/evaluate.js';
import { counted, decimals, intervalText, winsText } from '../../evaluate/figures.js';
import { PUBLISHED_SOURCE, type Published, published } from '../../evaluate/published.js';
import type { RegradedRow } from '../../evaluate/regraded.js';
import type { RunInfo } from '../../evaluate/run-info.js';
import type { GraderWeights } from '../../graders/grader.js';
import { camelCase } from '../../names.js';
import { policyName } from '../../policies/policies.js';
import { FALLBACK_ACTION } from '../../trajectory/episode.js';
import { ORACLE_MARK } from '../../trajectory/player-name.js';
import { GRADER_NAMES } from '../../world/fields.js';
import { COMPONENT_HEADS, renderColumns, wrap } from '../table.js';
import { renderAnswers } from './answers-table.js';
import { policyNotes } from './policy-notes.js';

interface Column {
  /** Two lines, so that columns stay as narrow as their numbers. */
  readonly head: string;
  readonly text: (row: RegradedRow, grader: string) => string;
}

/** Of the column that is there only where a row has a published figure. */
export const PUBLISHED_HEAD = '\npublished';
/** In place of a figure where there is none. */
const NONE = '-';

const component = ([name, head]: [string, string]): Column => ({
  head,
  text: ({ components }) => decimals(components[camelCase(name)]),
});

const COLUMNS: readonly Column[] = [
  { head: '\npolicy', text: (row) => `${policyName(row)}${row.oracle ? ORACLE_MARK : ''}` },
  { head: 'final score\n(95 %)', text: ({ finalScore }) => intervalText(finalScore) },
  { head: PUBLISHED_HEAD, text: (row, grader) => publishedScore(row, grader) },
  { head: 'belief\nMAE', text: ({ beliefMae }) => decimals(beliefMae) },
  ...Object.entries(COMPONENT_HEADS).map(component),
  { head: 'early\nmean', text: ({ earlyMean }) => meanText(earlyMean) },
  { head: 'late\nmean', text: ({ lateMean }) => meanText(lateMean) },
  {
    head: 'won/lost/\ntied',
    text: ({ wins }) => (wins === null ? NONE : winsText(wins)),
  },
];

/** A file of components does not know the rewards of each half. */
const meanText = (mean: number | null): string => (mean === null ? NONE : decimals(mean));

/** Other persons than the published ones have no published score. */
function publishedScore(row: RegradedRow, grader: string): string {
  if (row.profiles !== 'sampled' && !row.condition.startsWith('discrete')) return NONE;
  return publishedText(published(row.condition, policyName(row), grader));
}

/** A published score; one that was published as "about" says so. */
export function publishedText(figure: Published | undefined): string {
  if (figure === undefined) return NONE;
  return figure.approximate ? `~${figure.finalScore}` : decimals(figure.finalScore);
}

/** Whether a cell of that column holds one. */
export const isFigure = (text: string): boolean => text !== NONE;

/** What runs, in a line; others say what a grader of one's own weighs, and why it is not the fastest backend that runs. */
export const renderHeader = (info: RunInfo): string => renderRun(info, [info]);

/** The same for several graders. */
export function renderRun(
  info: RunInfo,
  graders: readonly Pick<RunInfo, 'grader' | 'graderWeights'>[],
): string {
  const kernel = info.kernel === info.backend ? '' : `, kernel ${info.kernel}`;
  const names = graders.map(({ grader }) => grader).join(' and ');
  const line =
    `rhythm-vec ${info.version}: backend ${info.backend}${kernel}, ${counted(info.threads, 'thread')}; ` +
    `${graders.length === 1 ? 'grader' : 'graders'} ${names}; world ${info.worldDigest.slice(0, 12)}\n`;
  const reason = info.backendReason.includes('tried before it') ? `${wrap(info.backendReason)}\n` : '';
  const weights = graders.map(({ grader, graderWeights }) => weightsLine(grader, graderWeights));
  return `${line}${weights.join('')}${reason}`;
}

/** What a grader weighs, for one that is not published. */
export function weightsLine(grader: string, weights: GraderWeights): string {
  if (GRADER_NAMES.includes(grader)) return '';
  const pairs = Object.entries(weights)
    .filter(([, weight]) => weight !== 0)
    .map(([name, weight]) => `${name} ${Number(weight.toPrecision(6))}`);
  return `${wrap(`${grader} weighs ${pairs.join(', ')}`)}\n`;
}

/** The rows, grouped by condition, and what to make of them. */
export const renderTable = (evaluation: Evaluation): string =>
  `\n${renderRows(evaluation.rows, evaluation.grader)}\n\n${answers(evaluation)}${notes(evaluation)}`;

function answers({ rows }: Evaluation): string {
  const table = renderAnswers(rows);
  return table === '' ? '' : `${table}\n`;
}

/** The rows, grouped by condition, without an end. */
export function renderRows(rows: readonly RegradedRow[], grader: string): string {
  const columns = COLUMNS.filter(({ head }) => head !== PUBLISHED_HEAD || hasPublished(rows, grader));
  const lines = rows.flatMap((row, i) => {
    const cells = columns.map(({ text }) => text(row, grader));
    if (row.condition === rows[i - 1]?.condition) return [cells];
    return [[{ content: `\n${title(row)}`, colSpan: columns.length }], cells];
  });
  return renderColumns(
    columns.map(({ head }) => head),
    columns.map((_, k) => (k === 0 ? 'left' : 'right')),
    lines,
  );
}

const hasPublished = (rows: readonly RegradedRow[], grader: string): boolean =>
  rows.some((row) => isFigure(publishedScore(row, grader)));

type Titled = Pick<RegradedRow, 'condition' | 'seeds' | 'profiles' | 'episodes'>;

/** Above the rows of a condition. */
export function title({ condition, seeds, profiles, episodes }: Titled): string {
  const pool = profiles === 'named' ? ' of each profile' : '';
  const persons = condition.startsWith('discrete') || profiles === 'sampled' ? '' : `, profiles ${profiles}`;
  return `${condition}: seeds ${seeds}${pool}, ${counted(episodes, 'episode')}${persons}`;
}

function notes({ rows, seconds, grader }: Evaluation): string {
  const played = rows.reduce((sum, { episodes }) => sum + episodes, 0);
  return [
    ...rowNotes(rows, grader),
    ...answerNotes(rows),
    `${played} episodes in ${seconds.toFixed(2)} s.`,
    '',
  ].join('\n');
}

const answerNotes = (rows: Evaluation['rows']): string[] =>
  rows.some(({ unparsed }) => unparsed !== null)
    ? [
        `unparsed: the share of answers that named no action; ${FALLBACK_ACTION} was played then.`,
        'A week that several conditions hold is asked for once; what it took stands under the first of them.',
      ]
    : [];

/** Notes of every table of scores. @param withPublished whether it has that column. */
export const sharedNotes = (withPublished: boolean): string[] => [
  'belief MAE: of the last belief; where none is given, of 0.5 each, which earns nothing.',
  ...(withPublished
    ? [`published: ${PUBLISHED_SOURCE}; this world is a rebuild with its own constants.`]
    : []),
];

/** What to know of rows, a line each. */
export const rowNotes = (rows: readonly RegradedRow[], grader: string): string[] => [
  'won/lost/tied: final scores against heuristic on the same seeds.',
  'early, late: mean reward of each half of the week, without luck.',
  ...sharedNotes(hasPublished(rows, grader)),
  ...policyNotes(rows, grader),
  rows.some(({ belief }) => belief === 'constant')
    ? '+constant: the belief [0.5, 0.5, 0.5] at every step. A score that does not beat it shows no inference.'
    : 'Not shown: random+constant, heuristic+constant. A score that does not beat them shows no inference.',
];
