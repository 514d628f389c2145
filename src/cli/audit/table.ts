/** An audit as a table for people. */
import type { Audit } from '../../audit/audit.js';
import type { AuditRow } from '../../audit/prices.js';
import { decimals, intervalText } from '../../evaluate/figures.js';
import { renderHeader } from '../eval/table.js';
import { COMPONENT_HEADS, renderColumns, wrap } from '../table.js';

interface Column {
  readonly head: string;
  readonly text: (row: AuditRow) => string;
}

const COLUMNS: readonly Column[] = [
  { head: '\npolicy', text: ({ policy }) => policy },
  { head: 'final score\n(95 %)', text: ({ finalScore }) => intervalText(finalScore) },
  { head: 'over the\nheuristic', text: ({ price }) => intervalText(price) },
  { head: 'belief\nMAE', text: ({ beliefMae }) => decimals(beliefMae) },
  { head: 'early\nmean', text: ({ earlyMean }) => decimals(earlyMean) },
  { head: 'late\nmean', text: ({ lateMean }) => decimals(lateMean) },
  ...Object.entries(COMPONENT_HEADS).map(([name, head]) => ({
    head,
    text: ({ components }: AuditRow) => decimals(components[name].mean),
  })),
];

/** Who earns what, and the verdict. */
export function renderAudit(audit: Audit): string {
  const rows = renderColumns(
    COLUMNS.map(({ head }) => head),
    COLUMNS.map((_, k) => (k === 0 ? 'left' : 'right')),
    audit.rows.map((row) => COLUMNS.map(({ text }) => text(row))),
  );
  return [
    renderHeader(audit),
    `${rows}\n`,
    `Scored on fresh seeds ${audit.seeds.fresh}, tapes of a person's own on ${audit.seeds.persons}; all differences are paired.`,
    "+constant believes 0.5 each, +truth what is true; honest-tape's first half is no worse than the heuristic's;",
    'push:X raises the component X alone, belief_accuracy by the belief of the middle person; the oracle knows each.',
    `${audit.seconds.toFixed(1)} s.\n`,
    `${wrap(audit.verdict)}\n`,
  ].join('\n');
}
