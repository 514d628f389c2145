/** What language models answered in an evaluation, as a table for people: below its scores, which leave no room for it. */

import type { EvaluationRow } from '../../evaluate/evaluate.js';
import { grouped } from '../../evaluate/figures.js';
import { dollars } from '../../llm/ledger.js';
import { policyName } from '../../policies/policies.js';
import { renderColumns } from '../table.js';

interface Column {
  readonly head: string;
  /** Null where nothing is known. */
  readonly text: (row: EvaluationRow) => string | null;
}

/** A column that is there where any row has a figure for it. */
const used = (head: string, name: string, text: (value: number) => string = grouped): Column => ({
  head,
  text: ({ usage }) => (usage?.[name] === undefined ? null : text(usage[name])),
});

const percent = (share: number): string => `${(100 * share).toFixed(share > 0 && share < 0.01 ? 2 : 1)} %`;

const COLUMNS: readonly Column[] = [
  { head: '\nanswers of', text: policyName },
  { head: '\nunder', text: ({ condition }) => condition },
  { head: 'un-\nparsed', text: ({ unparsed }) => (unparsed === null ? null : percent(unparsed)) },
  used('cut\noff', 'cutOff'),
  used('re-\nfused', 'refused'),
  used('re-\nquests', 'requests'),
  used('prompt\ntokens', 'promptTokens'),
  used('completion\ntokens', 'completionTokens'),
  used('\ncost', 'costUsd', dollars),
];
const NAMES = 2;

/** The rows of language models, with an end; '' where there is none. */
export function renderAnswers(rows: readonly EvaluationRow[]): string {
  const asked = rows.filter(({ unparsed }) => unparsed !== null);
  if (asked.length === 0) return '';
  const columns = COLUMNS.filter(({ text }) => asked.some((row) => text(row) !== null));
  const table = renderColumns(
    columns.map(({ head }) => head),
    columns.map((_, k) => (k < NAMES ? 'left' : 'right')),
    asked.map((row) => columns.map(({ text }) => text(row) ?? '-')),
  );
  return `${table}\n`;
}
