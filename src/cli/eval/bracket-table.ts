/** Renders shares as a text table. A share is a score's position between the two anchors of a grader (`SHARE_MEANING`). */
import { sequenceGraderUnder } from '../../agents/policies/open-loop.js';
import {
  type BracketedEvaluation,
  type BracketedRow,
  bracketNotes,
  SHARE_MEANING,
} from '../../evaluation/bracket.js';
import { alignedInterval } from '../../evaluation/format-results.js';
import { renderColumns, wrap } from '../text-table.js';
import { markedName, title } from './eval-table.js';

/** Returns a table of shares with a column for each grader, and notes. Leaves out columns and rows without a share. */
export function renderBracket({ grader, rows, brackets }: BracketedEvaluation): string {
  const graders = [grader, ...(rows[0]?.regraded ?? []).map((other) => other.grader)];
  const scored = rows.flatMap(({ profiles }) => graders.map((name) => ({ grader: name, profiles })));
  const notes = bracketNotes(scored, brackets);
  const columns = graders
    .map((name, k) => ({ name, k }))
    .filter(({ k }) => rows.some((row) => shareAt(row, k)));
  const meaning = columns.some(({ k }) => k > 0) ? `${SHARE_MEANING} ${sequenceNote(grader)}` : SHARE_MEANING;
  const table = columns.length === 0 ? '' : `\n${wrap(meaning)}\n${tableOf(rows, columns)}\n`;
  return `${table}\n${notes.map((note) => `${wrap(note)}\n`).join('')}`;
}

/** Says why the share of open-loop can be below 0. @param grader the name of the grader in use. */
const sequenceNote = (grader: string): string =>
  'Each grader has a best sequence of its own. In every column open-loop plays the sequence found for ' +
  `${sequenceGraderUnder(grader)}, so its share under another grader can be below 0.`;

/** Returns a row's share under the grader in use (k = 0) or under the other grader k - 1. */
const shareAt = ({ share, regraded }: BracketedRow, k: number) => (k === 0 ? share : regraded[k - 1].share);

function tableOf(rows: readonly BracketedRow[], graders: readonly { name: string; k: number }[]): string {
  const shown = rows.filter((row) => graders.some(({ k }) => shareAt(row, k)));
  const lines = shown.flatMap((row, i) => {
    const shares = graders.map(({ k }) => shareAt(row, k));
    const cells = [
      markedName(row),
      ...shares.map((share) => (share === null ? '-' : alignedInterval(share))),
    ];
    if (row.condition === shown[i - 1]?.condition) return [cells];
    return [[{ content: `\n${title(row)}`, colSpan: graders.length + 1 }], cells];
  });
  const heads = ['share:\npolicy', ...graders.map(({ name }) => `under ${name}\n(95 %)`)];
  return renderColumns(
    heads,
    heads.map((_, k) => (k === 0 ? 'left' : 'right')),
    lines,
  );
}
