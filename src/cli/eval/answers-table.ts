/** Renders a table about the answers of language models. */

import { dollars } from '../../agents/llm/ledger.js';
import { policyName } from '../../agents/policies/fixed-policies.js';
import type { EvaluationRow } from '../../evaluation/evaluate.js';
import { grouped } from '../../evaluation/format-results.js';
import { renderColumns } from '../text-table.js';

interface Column {
  readonly head: string;
  /** Null if unknown. */
  readonly text: (row: EvaluationRow) => string | null;
}

/**
 * Returns a column for one number of a model's usage, such as its tokens. The table omits the column if no row has the number.
 */
const usageColumn = (head: string, name: string, text: (value: number) => string = grouped): Column => ({
  head,
  text: ({ usage }) => (usage?.[name] === undefined ? null : text(usage[name])),
});

const percent = (share: number): string => `${(100 * share).toFixed(share > 0 && share < 0.01 ? 2 : 1)} %`;

const COLUMNS: readonly Column[] = [
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
export function renderAnswers(rows: readonly EvaluationRow[]): string {
  const ofModels = rows.filter(({ unparsed }) => unparsed !== null);
  if (ofModels.length === 0) return '';
  const columns = COLUMNS.filter(({ text }) => ofModels.some((row) => text(row) !== null));
  const table = renderColumns(
    columns.map(({ head }) => head),
    columns.map((_, k) => (k < NAME_COLUMNS ? 'left' : 'right')),
    ofModels.map((row) => columns.map(({ text }) => text(row) ?? '-')),
  );
  return `${table}\n`;
}
