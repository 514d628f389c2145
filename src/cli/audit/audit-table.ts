/** Renders an audit as a text table. */
import type { Audit } from '../../evaluation/audit/audit.js';
import type { AuditRow } from '../../evaluation/audit/gains.js';
import { decimals, intervalText } from '../../evaluation/format-figures.js';
import { renderHeader } from '../eval/eval-table.js';
import { COMPONENT_HEADS, renderColumns, wrap } from '../text-table.js';

interface Column {
  readonly head: string;
  readonly text: (row: AuditRow) => string;
}

/** Column heads, shorter than in other tables: policy names are long, and lines have at most 120 columns. */
const HEADS = { ...COMPONENT_HEADS, adaptation: 'adap-\ntat.', belief_accuracy: 'bel.\nacc.' };

const COLUMNS: readonly Column[] = [
  { head: '\npolicy', text: ({ policy }) => policy },
  { head: 'final score\n(95 %)', text: ({ finalScore }) => intervalText(finalScore) },
  { head: 'over the\nheuristic', text: ({ gain }) => intervalText(gain) },
  { head: 'bel.\nMAE', text: ({ beliefMae }) => decimals(beliefMae) },
  { head: '1st\nhalf', text: ({ firstHalfMean }) => decimals(firstHalfMean) },
  { head: '2nd\nhalf', text: ({ secondHalfMean }) => decimals(secondHalfMean) },
  ...Object.entries(HEADS).map(([name, head]) => ({
    head,
    text: ({ components }: AuditRow) => decimals(components[name].mean),
  })),
];

/** Returns the table of policies and the verdict. */
export function renderAudit(audit: Audit): string {
  const rows = renderColumns(
    COLUMNS.map(({ head }) => head),
    COLUMNS.map((_, k) => (k === 0 ? 'left' : 'right')),
    audit.rows.map((row) => COLUMNS.map(({ text }) => text(row))),
  );
  return [
    renderHeader(audit),
    `${rows}\n`,
    `Scored on fresh seeds ${audit.seeds.fresh}, oracle-open-loop on ${audit.seeds.profiles}; all differences are paired.`,
    '1st half, 2nd half: mean reward of each half, without noise.',
    '+constant states the belief [0.5, 0.5, 0.5], +truth the true belief; open-loop-honest does not neglect the first half;',
    'push:X maximises component X alone (belief_accuracy by one fixed belief); oracle-open-loop knows the profile.',
    `${audit.seconds.toFixed(1)} s.\n`,
    `${wrap(audit.verdict)}\n`,
  ].join('\n');
}
