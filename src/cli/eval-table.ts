/** An evaluation as a table for people. */
import Table from 'cli-table3';
import type { Evaluation, EvaluationRow, RunInfo } from '../evaluate/evaluate.js';
import { PUBLISHED_SOURCE, published } from '../evaluate/published.js';
import type { Interval } from '../evaluate/statistics.js';

interface Column {
  /** Two lines, so that columns stay as narrow as their numbers. */
  readonly head: string;
  readonly text: (row: EvaluationRow, grader: string) => string;
}

const decimals = (value: number): string => value.toFixed(3);
const component = (head: string, name: string): Column => ({
  head,
  text: ({ components }) => decimals(components[name]),
});

const COLUMNS: readonly Column[] = [
  { head: '\npolicy', text: (row) => policyName(row) },
  { head: 'final score\n(95 %)', text: ({ finalScore }) => interval(finalScore) },
  { head: '\npublished', text: (row, grader) => publishedScore(row, grader) },
  { head: 'belief\nMAE', text: ({ beliefMae }) => decimals(beliefMae) },
  component('crash\nfree', 'crashFree'),
  component('prog-\nress', 'progress'),
  component('conn-\nect.', 'connection'),
  component('adapt-\nation', 'adaptation'),
  component('effi-\nciency', 'efficiency'),
  component('belief\nacc.', 'beliefAccuracy'),
  { head: 'won/lost/\ntied', text: ({ wins }) => `${wins.won}/${wins.lost}/${wins.tied}` },
];

const policyName = ({ policy, belief }: EvaluationRow): string =>
  belief === 'constant' ? `${policy}+constant` : policy;

function interval({ mean, high }: Interval): string {
  if (high === null) return `${decimals(mean)}       `;
  const half = high - mean;
  // Millions of episodes know the mean better than three decimals can say.
  const digits = half < 0.0005 ? 5 : 3;
  return `${mean.toFixed(digits)} ±${half.toFixed(digits)}`;
}

/** Other persons than the published ones have no published score. */
function publishedScore(row: EvaluationRow, grader: string): string {
  if (row.profiles !== 'sampled' && !row.condition.startsWith('discrete')) return '-';
  const figure = published(row.condition, policyName(row), grader);
  if (figure === undefined) return '-';
  return figure.approximate ? `~${figure.finalScore}` : decimals(figure.finalScore);
}

/** What runs, in a line; a second one says why, if it is not the fastest there is. */
export function renderHeader(info: RunInfo): string {
  const threads = info.threads === 1 ? '1 thread' : `${info.threads} threads`;
  const kernel = info.kernel === info.backend ? '' : `, kernel ${info.kernel}`;
  const line =
    `rhythm-vec ${info.version}: backend ${info.backend}${kernel}, ${threads}; ` +
    `grader ${info.grader}; world ${info.worldDigest.slice(0, 12)}\n`;
  return info.backendReason.includes('tried before it') ? `${line}${wrap(info.backendReason, 100)}\n` : line;
}

/** Breaks a text between words. A word longer than a line stays whole. */
function wrap(text: string, width: number): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1];
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.join('\n');
}

/** The rows, grouped by condition, and what to make of them. */
export function renderTable(evaluation: Evaluation): string {
  const table = new Table({
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
    colAligns: COLUMNS.map((_, k) => (k === 0 ? 'left' : 'right')),
  });
  table.push(COLUMNS.map(({ head }, k) => ({ content: head, hAlign: k === 0 ? 'left' : 'right' })));
  let condition = '';
  for (const row of evaluation.rows) {
    if (row.condition !== condition) {
      table.push([{ content: `\n${title(row)}`, colSpan: COLUMNS.length }]);
      condition = row.condition;
    }
    table.push(COLUMNS.map(({ text }) => text(row, evaluation.grader)));
  }
  const lines = table.toString().split('\n');
  return `\n${lines.map((line) => line.trimEnd()).join('\n')}\n\n${notes(evaluation)}`;
}

function title({ condition, seeds, profiles, episodes }: EvaluationRow): string {
  const pool = profiles === 'named' ? ' of each profile' : '';
  const persons = condition.startsWith('discrete') || profiles === 'sampled' ? '' : `, profiles ${profiles}`;
  const noun = episodes === 1 ? 'episode' : 'episodes';
  return `${condition}: seeds ${seeds}${pool}, ${episodes} ${noun}${persons}`;
}

function notes({ rows, seconds }: Evaluation): string {
  const played = rows.reduce((sum, { episodes }) => sum + episodes, 0);
  const lines = [
    'won/lost/tied: final scores against heuristic on the same seeds.',
    'belief MAE: of the last belief; where none is given, of 0.5 each, which earns nothing.',
    `published: ${PUBLISHED_SOURCE}; this world is a rebuild with its own constants.`,
    rows.some(({ belief }) => belief === 'constant')
      ? '+constant: the belief [0.5, 0.5, 0.5] at every step. A score that does not beat it shows no inference.'
      : 'Not shown: random+constant, heuristic+constant. A score that does not beat them shows no inference.',
    `${played} episodes in ${seconds.toFixed(2)} s.`,
  ];
  return `${lines.join('\n')}\n`;
}

const NO_LINES = Object.fromEntries(
  ['top', 'bottom', 'mid', 'left', 'right', 'middle']
    .flatMap((name) => [name, `${name}-mid`, `${name}-left`, `${name}-right`])
    .map((name) => [name, '']),
);
