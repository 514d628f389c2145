/** Renders an evaluation as text tables with notes. */

import { dollars } from '../../agents/llm/ledger.js';
import { policyName } from '../../agents/policies/fixed-policies.js';
import { STUDENT_NAMES } from '../../agents/student/packaged-students.js';
import type { GraderWeights } from '../../engine/graders/grader.js';
import type { Evaluation, EvaluationRow } from '../../evaluation/evaluate.js';
import {
  alignedInterval,
  counted,
  decimals,
  grouped,
  listed,
  winsText,
} from '../../evaluation/format-results.js';
import { PUBLISHED_SOURCE, type Published, published } from '../../evaluation/published-scores.js';
import type { RegradedRow } from '../../evaluation/regrade-stored.js';
import type { RunInfo } from '../../evaluation/run-info.js';
import { MODEL_PREFIX } from '../../evaluation/user-policy.js';
import { isMain, verdictNote, verdictTexts } from '../../evaluation/verdict.js';
import { evaluationYardsticks, yardstickNotes } from '../../evaluation/yardstick.js';
import { FALLBACK_ACTION } from '../../rollouts/trajectories/move.js';
import { ORACLE_MARK } from '../../rollouts/trajectories/trajectory-episode.js';
import { camelCase } from '../../shared/names.js';
import type { Interval } from '../../shared/statistics.js';
import { GRADER_NAMES } from '../../world/fields.js';
import { COMPONENT_HEADS, renderColumns, wrap } from '../text-table.js';

/** A row of a table. Rows of `regrade` have no scores under other graders. */
type Row = RegradedRow & Partial<Pick<EvaluationRow, 'regraded'>>;

interface Column<Shown extends Row = Row> {
  /** Two lines, so that columns stay narrow. */
  readonly head: string;
  readonly text: (row: Shown, grader: string) => string;
}

/** The head of the column of published scores. The column is shown only if a row has one. */
export const PUBLISHED_HEAD = '\npublished';
/** The text of a missing number. */
const NONE = '-';

const componentColumn = ([name, head]: [string, string]): Column => ({
  head,
  text: ({ components }) => decimals(components[camelCase(name)]),
});

/** Returns the name of a row's policy, with a mark if it is an oracle. */
export const markedName = (row: Row): string => `${policyName(row)}${row.oracle ? ORACLE_MARK : ''}`;

/** The columns of scores. The columns of other graders come between FINAL_SCORES and OTHER_SCORES. */
const FINAL_SCORES: readonly Column[] = [
  { head: '\npolicy', text: markedName },
  { head: 'final score\n(95 %)', text: ({ finalScore }) => alignedInterval(finalScore) },
  { head: PUBLISHED_HEAD, text: (row, grader) => publishedScore(row, grader) },
];
const OTHER_SCORES: readonly Column[] = [
  { head: 'belief\nMAE', text: ({ beliefMae }) => decimals(beliefMae) },
  { head: '1st\nhalf', text: ({ firstHalfMean }) => decimals(firstHalfMean) },
  { head: '2nd\nhalf', text: ({ secondHalfMean }) => decimals(secondHalfMean) },
  {
    head: 'won/lost/\ntied',
    text: ({ wins }) => (wins === null ? NONE : winsText(wins)),
  },
];

const COMPONENTS: readonly Column[] = [
  { head: 'components:\npolicy', text: markedName },
  ...Object.entries(COMPONENT_HEADS).map(componentColumn),
];

/** Returns a column for each grader under which the episodes were graded again. */
const regradedColumns = (rows: readonly Row[]): Column[] =>
  (rows[0]?.regraded ?? []).map(({ grader }, k) => ({
    head: `regraded by\n${grader} (95 %)`,
    text: ({ regraded }) => alignedInterval(regraded![k].finalScore),
  }));

/** Returns the published score of a row, or '-'. Scores were published only for sampled profiles and for `discrete`. */
function publishedScore(row: RegradedRow, grader: string): string {
  if (row.profiles !== 'sampled' && !row.condition.startsWith('discrete')) return NONE;
  return publishedText(published(row.condition, policyName(row), grader));
}

/** Formats a published score, with "~" if it was published as approximate. */
export function publishedText(score: Published | undefined): string {
  if (score === undefined) return NONE;
  return score.approximate ? `~${score.finalScore}` : decimals(score.finalScore);
}

/** Returns whether a cell of the published column has a score. */
export const isScore = (text: string): boolean => text !== NONE;

/**
 * Returns a line with version, backend, grader and world; a line for a custom grader; and a line with the reason if the
 * preferred backend was unavailable.
 */
export const renderHeader = (info: RunInfo): string => renderRun(info, [info]);

/** As `renderHeader`, for several graders. */
export function renderRun(
  info: RunInfo,
  graders: readonly Pick<RunInfo, 'grader' | 'graderWeights'>[],
): string {
  const kernel = info.kernel === info.backend ? '' : `, kernel ${info.kernel}`;
  const device = info.device === null ? '' : ` on ${info.device}`;
  const names = listed(graders.map(({ grader }) => grader));
  const line =
    `rhythm-vec ${info.version}: backend ${info.backend}${device}${kernel}, ${counted(info.threads, 'thread')}; ` +
    `${graders.length === 1 ? 'grader' : 'graders'} ${names}; world ${info.worldDigest.slice(0, 12)}\n`;
  const reason = info.backendReason.includes('tried before it') ? `${wrap(info.backendReason)}\n` : '';
  const weights = graders.map(({ grader, graderWeights }) => weightsLine(grader, graderWeights));
  return `${line}${weights.join('')}${reason}`;
}

/** Returns a line with the weights of a custom grader; '' for a built-in grader. */
export function weightsLine(grader: string, weights: GraderWeights): string {
  if (GRADER_NAMES.includes(grader)) return '';
  const pairs = Object.entries(weights)
    .filter(([, weight]) => weight !== 0)
    .map(([name, weight]) => `${name} ${Number(weight.toPrecision(6))}`);
  return `${wrap(`${grader} weighs ${pairs.join(', ')}`)}\n`;
}

interface TableOptions {
  /** Whether to add named profiles, and the tables and notes of `renderDetails`. */
  readonly details?: boolean;
  /** Further text before the verdict, with a line end. */
  readonly text?: string;
}

/** The width of the table and the verdict, in characters. */
const TABLE_WIDTH = 80;

/** The columns of the table. `difference` and `from` are left out if no row has a verdict. */
const TABLE_COLUMNS: readonly Column<EvaluationRow>[] = [
  { head: '\npolicy', text: markedName },
  { head: 'final score\n(95 %)', text: ({ finalScore }) => alignedInterval(finalScore) },
  {
    head: 'difference\n(95 %)',
    text: ({ verdict }) => (verdict === null ? NONE : signedInterval(verdict.difference)),
  },
  { head: '\nfrom', text: ({ verdict }) => verdict?.reference ?? NONE },
  { head: 'belief\nerror', text: ({ beliefMae }) => decimals(beliefMae) },
];

const signedInterval = (interval: Interval): string =>
  `${interval.mean > 0 ? '+' : ''}${alignedInterval(interval)}`;

/** Returns the table, language models' answers, details and other text, and last the verdict. */
export function renderTable(
  evaluation: Evaluation,
  { details = false, text = '' }: TableOptions = {},
): string {
  const { rows, grader } = evaluation;
  const shown = rows.filter((row) => details || isMain(row, rows));
  const columns = TABLE_COLUMNS.filter(
    ({ head }) => !/difference|from/.test(head) || rows.some(({ verdict }) => verdict !== null),
  );
  // Details have notes on oracles among others.
  const more = details
    ? renderDetails(evaluation)
    : oracleNotes(rows)
        .map((note) => `${note}\n`)
        .join('');
  return [
    `\n${renderGroups(shown, grader, columns)}\n\n${answers(evaluation)}${more}`,
    ...[summaryNote(evaluation), text, renderVerdict(shown, grader)],
  ].join('');
}

function summaryNote({ rows, seconds }: Evaluation): string {
  const played = rows.reduce((sum, { episodes }) => sum + episodes, 0);
  return [...answerNotes(rows), `${played} episodes in ${seconds.toFixed(2)} s.`, ''].join('\n');
}

/** Returns the verdicts on the policies that may infer, each in a sentence, and a note. */
function renderVerdict(rows: readonly EvaluationRow[], grader: string): string {
  const judged = rows.map((row) => ({ ...row, grader, name: policyName(row) }));
  const verdicts = verdictTexts(judged).map(({ about, text }) => `${about}: ${text}`);
  const texts = [...verdicts, verdictNote(judged)].filter((text) => text !== '');
  return `\nVerdict under ${grader}\n${texts.map((text) => `${wrap(text, TABLE_WIDTH)}\n`).join('')}`;
}

/** Returns the tables of further scores and of components, and notes on them. */
export const renderDetails = (evaluation: Evaluation): string =>
  `${renderRows(evaluation.rows, evaluation.grader)}\n\n${notes(evaluation)}`;

function answers({ rows }: Evaluation): string {
  const table = renderAnswers(rows);
  return table === '' ? '' : `${table}\n`;
}

/** Returns a table of scores and a table of components, grouped by condition, without a last line end. */
export function renderRows(rows: readonly Row[], grader: string): string {
  const scores = [...FINAL_SCORES, ...regradedColumns(rows), ...OTHER_SCORES].filter(
    ({ head }) => head !== PUBLISHED_HEAD || hasPublished(rows, grader),
  );
  return `${renderGroups(rows, grader, scores)}\n\n${renderGroups(rows, grader, COMPONENTS)}`;
}

function renderGroups<Shown extends Row>(
  rows: readonly Shown[],
  grader: string,
  columns: readonly Column<Shown>[],
): string {
  const lines = rows.flatMap((row, i) => {
    const cells = columns.map(({ text }) => text(row, grader));
    if (row.condition === rows[i - 1]?.condition) return [cells];
    return [[{ content: `\n${title(row)}`, colSpan: columns.length }], cells];
  });
  return renderColumns(
    columns.map(({ head }) => head),
    lines,
  );
}

const hasPublished = (rows: readonly RegradedRow[], grader: string): boolean =>
  rows.some((row) => isScore(publishedScore(row, grader)));

type Titled = Pick<RegradedRow, 'condition' | 'seeds' | 'profiles' | 'episodes'>;

/** Returns the heading of a condition's rows. */
export function title({ condition, seeds, profiles, episodes }: Titled): string {
  const perProfile = profiles === 'named' ? ' of each profile' : '';
  const suffix = condition.startsWith('discrete') || profiles === 'sampled' ? '' : `, profiles ${profiles}`;
  return `${condition}: seeds ${seeds}${perProfile}, ${counted(episodes, 'episode')}${suffix}`;
}

function notes(evaluation: Evaluation): string {
  const { rows, grader } = evaluation;
  const yardsticks = yardstickNotes(evaluationYardsticks(evaluation)).map((text) => wrap(text));
  return [...rowNotes(rows, grader), ...yardsticks, ''].join('\n');
}

const answerNotes = (rows: Evaluation['rows']): string[] =>
  rows.some(({ unparsed }) => unparsed !== null)
    ? [
        `unparsed: the share of answers without an action; ${FALLBACK_ACTION} was played instead.`,
        'An episode of several conditions is played once; its cost counts under the first of them.',
      ]
    : [];

/** Returns the notes that all tables of scores share. @param withPublished whether there is a published column. */
export const sharedNotes = (withPublished: boolean): string[] => [
  'belief MAE: mean absolute error of the last belief, or of [0.5, 0.5, 0.5] without beliefs; belief accuracy and skill are then 0.',
  ...(withPublished
    ? [
        `published: ${PUBLISHED_SOURCE}.`,
        'The world is a rebuild of the published one, with constants of its own.',
      ]
    : []),
];

/** Returns notes on the rows. */
export const rowNotes = (rows: readonly Row[], grader: string): string[] => [
  ...(rows[0]?.regraded ?? []).map(
    (other) =>
      `regraded by ${other.grader}: the score under ${other.grader} of the same episodes, which were played under ${grader}.`,
  ),
  'won/lost/tied: final scores compared with heuristic on the same seeds.',
  '1st half, 2nd half: mean reward of each half, without noise.',
  ...sharedNotes(hasPublished(rows, grader)),
  ...policyNotes(rows, grader),
  ...(rows.some(({ belief }) => belief === 'constant')
    ? ['+constant: the belief [0.5, 0.5, 0.5] at every step.']
    : []),
];

/** Notes on policies with fixed names, by name. */
const NOTES: Readonly<Record<string, string>> = {
  'heuristic+inference': 'acts as heuristic, and states the belief inferred from the observations.',
  'open-loop+inference': 'acts as open-loop, and states the belief inferred from the observations.',
  planner: 'infers the profile and plans for THE SCORE, even if that rewards neglect of the first half.',
  'planner-wellbeing': "infers and plans as planner, but for the person's wellbeing instead of the score.",
  'planner-prior':
    'plans for the score as planner, but infers nothing: it plans with profiles from the prior.',
  ...Object.fromEntries(STUDENT_NAMES.map((name) => [name, studentNote(name)])),
};

/** Describes a student. @param name such as "student-v2" or "student-v2-clone". */
function studentNote(name: string): string {
  const [, grader, clone] = name.split('-');
  const refined = clone === undefined ? ', and was then trained further on episodes that it played' : '';
  return `a network that was trained for ${grader}. It learned to imitate the planner${refined}.`;
}

/** Returns notes on all policies that need an explanation. */
const policyNotes = (rows: readonly RegradedRow[], grader: string): string[] => [
  ...sequenceNotes(rows, grader),
  ...fixedNotes(rows),
  ...modelNotes(rows),
  ...oracleNotes(rows),
];

function sequenceNotes(rows: readonly RegradedRow[], grader: string): string[] {
  const sequences = new Map(
    rows.flatMap(({ policy, sequenceGrader }) =>
      sequenceGrader === null ? [] : [[policy, sequenceGrader] as const],
    ),
  );
  return Array.from(sequences, ([policy, sequenceGrader]) => {
    const what =
      policy === 'reactive' ? 'chooses by the step and the meters alone' : 'one fixed action sequence';
    const other = sequenceGrader === grader ? '' : `, not for ${grader}`;
    return `${policy}: ${what}, found for grader ${sequenceGrader}${other}.`;
  });
}

const namesIn = (rows: readonly RegradedRow[]): string[] => [...new Set(rows.map(policyName))];

const fixedNotes = (rows: readonly RegradedRow[]): string[] =>
  namesIn(rows).flatMap((name) => (Object.hasOwn(NOTES, name) ? [`${name}: ${NOTES[name]}`] : []));

/** Returns one note for all language models. */
const modelNotes = (rows: readonly RegradedRow[]): string[] => {
  const models = namesIn(rows).filter((name) => name.startsWith(MODEL_PREFIX));
  return models.length === 0
    ? []
    : [
        `${models.join(', ')}: prompted before every step with the observations that any agent gets; the parsed answers are played.`,
      ];
};

const oracleNotes = (rows: readonly RegradedRow[]): string[] =>
  namesIn(rows.filter(({ oracle }) => oracle)).map(
    (name) => `${name}${ORACLE_MARK}: uses hidden state, so it is not a valid agent.`,
  );

/** A column of the table about the answers of language models. */
interface AnswerColumn {
  readonly head: string;
  /** Null if unknown. */
  readonly text: (row: EvaluationRow) => string | null;
}

/**
 * Returns a column for one number of a model's usage, such as its tokens. The table omits the column if no row has the number.
 */
const usageColumn = (
  head: string,
  name: string,
  text: (value: number) => string = grouped,
): AnswerColumn => ({
  head,
  text: ({ usage }) => (usage?.[name] === undefined ? null : text(usage[name])),
});

const percent = (share: number): string => `${(100 * share).toFixed(share > 0 && share < 0.01 ? 2 : 1)} %`;

const ANSWER_COLUMNS: readonly AnswerColumn[] = [
  { head: '\nanswers of', text: policyName },
  { head: '\nunder', text: ({ condition }) => condition },
  { head: 'un-\nparsed', text: ({ unparsed }) => (unparsed === null ? null : percent(unparsed)) },
  usageColumn('cut\noff', 'cutOff'),
  usageColumn('re-\nfused', 'refused'),
  usageColumn('re-\nquests', 'requests'),
  usageColumn('prompt\ntokens', 'promptTokens'),
  usageColumn('completion\ntokens', 'completionTokens'),
  usageColumn('\ncost', 'costUsd', dollars),
];
/** The number of columns that contain names, and are aligned to the left. */
const NAME_COLUMNS = 2;

/** Returns the table with a line end; '' without language models. */
function renderAnswers(rows: readonly EvaluationRow[]): string {
  const ofModels = rows.filter(({ unparsed }) => unparsed !== null);
  if (ofModels.length === 0) return '';
  const columns = ANSWER_COLUMNS.filter(({ text }) => ofModels.some((row) => text(row) !== null));
  const table = renderColumns(
    columns.map(({ head }) => head),
    ofModels.map((row) => columns.map(({ text }) => text(row) ?? '-')),
    NAME_COLUMNS,
  );
  return `${table}\n`;
}
