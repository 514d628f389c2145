/** Renders an audit as a text table. */

import { impossibleText } from '../../evaluation/audit/assessment.js';
import type { Audit } from '../../evaluation/audit/audit.js';
import type { AuditRow } from '../../evaluation/audit/gains.js';
import { alignedInterval, decimals } from '../../evaluation/format-results.js';
import { COMPONENT_NAMES } from '../../world/fields.js';
import { renderHeader } from '../eval/eval-table.js';
import { COMPONENT_HEADS, renderColumns, wrap } from '../text-table.js';

interface Column {
  readonly head: string;
  readonly text: (row: AuditRow) => string;
}

/** Column heads, shorter than in other tables: policy names are long, and lines have at most 120 characters. */
const HEADS: Readonly<Record<string, string>> = {
  ...COMPONENT_HEADS,
  adaptation: 'adap-\ntat.',
  belief_accuracy: 'bel.\nacc.',
  belief_skill: 'bel.\nskill',
};

/** Returns the columns. Components without a weight have no column, so that lines stay short. */
const columnsOf = ({ graderWeights }: Audit): readonly Column[] => [
  { head: '\npolicy', text: ({ policy }) => policy },
  { head: 'final score\n(95 %)', text: ({ finalScore }) => alignedInterval(finalScore) },
  { head: 'over the\nheuristic', text: ({ gain }) => alignedInterval(gain) },
  { head: 'bel.\nMAE', text: ({ beliefMae }) => decimals(beliefMae) },
  { head: '1st\nhalf', text: ({ firstHalfMean }) => decimals(firstHalfMean) },
  { head: '2nd\nhalf', text: ({ secondHalfMean }) => decimals(secondHalfMean) },
  ...COMPONENT_NAMES.filter((name) => graderWeights[name] !== 0).map((name) => ({
    head: HEADS[name],
    text: ({ components }: AuditRow) => decimals(components[name].mean),
  })),
];

/** Returns the text of an audit: the table of policies with its legend, the verdict and its reason. */
export function renderAudit(audit: Audit): string {
  const columns = columnsOf(audit);
  const rows = renderColumns(
    columns.map(({ head }) => head),
    columns.map((_, k) => (k === 0 ? 'left' : 'right')),
    audit.rows.map((row) => columns.map(({ text }) => text(row))),
  );
  return [
    renderHeader(audit),
    `${rows}\n`,
    `Scored on seeds ${audit.seeds.fresh}, oracle-open-loop on ${audit.seeds.profiles}, planners on ${audit.seeds.planner};`,
    'no search played these episodes, and all differences are paired.',
    '1st half, 2nd half: mean reward of each half, without noise.',
    '+constant states the belief [0.5, 0.5, 0.5], +fitted the best constant belief, +extreme a belief of zeros and ones,',
    '+random another belief at each step, +truth the true belief; open-loop-honest does not neglect the first half;',
    'reactive sees step and meters; push:X maximises component X alone; planner infers the profile, planner-prior does not;',
    'oracles know the profile.',
    `${audit.seconds.toFixed(1)} s.\n`,
    `${wrap(audit.verdict)}\n`,
    `${wrap(impossibleText(audit.impossible))}\n`,
    `${wrap(audit.reason)}\n`,
  ].join('\n');
}
