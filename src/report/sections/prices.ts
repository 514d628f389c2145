/** What graders really pay for: audits. */
import { drawAuditComponents, drawAuditPrices } from '../../audit/price-drawings.js';
import { decimals, grouped, intervalInText } from '../../evaluate/figures.js';
import { drawTapes } from '../../pictures/tapes.js';
import { ACTION_NAMES } from '../../world/fields.js';
import type { ReportData, ReportedAudit } from '../gathered.js';
import { type Column, html, paragraph, table } from '../html.js';
import { madeUnique } from '../names.js';
import type { AuditResult } from '../results.js';
import type { Part, Section } from '../section.js';

type Row = AuditResult['rows'][number] & { readonly name: string };

/** Null where no file is an audit. */
export function pricesSection({ audits }: ReportData): Section | null {
  if (audits.length === 0) return null;
  return {
    id: 'prices',
    title: 'What the grader pays for',
    parts: audits.flatMap((audit, k) => partsOf(audit, k === 0 ? '' : `-${k + 1}`)),
  };
}

function partsOf({ source, audit }: ReportedAudit, suffix: string): Part[] {
  const { grader, grader_weights: weights, seeds, verdict } = audit;
  const rows: Row[] = madeUnique(audit.rows.map((row) => ({ ...row, name: row.policy })));
  const priced = { grader, weights, seeds, rows };
  return [
    html`<h3>Grader <bdi>${grader}</bdi>, by <bdi>${source}</bdi></h3>\n`,
    paragraph(verdict),
    { name: `prices${suffix}`, drawing: drawAuditPrices(priced) },
    table(`What grader ${grader} pays, over the heuristic`, COLUMNS, rows),
    { name: `components${suffix}`, drawing: drawAuditComponents(priced) },
    ...tapesOf(audit, suffix),
  ];
}

function tapesOf({ grader, tapes }: AuditResult, suffix: string): Part[] {
  if (tapes.length === 0) return [];
  const rows = madeUnique(
    tapes.map(({ policy, actions }) => ({
      name: policy,
      actions: actions.map((action) => ACTION_NAMES.indexOf(action)),
    })),
  );
  const title = `Tapes that earn most under grader ${grader}`;
  return [{ name: `tapes${suffix}`, drawing: drawTapes({ title, rows }) }];
}

const COLUMNS: readonly Column<Row>[] = [
  { head: 'policy', cell: ({ name }) => name },
  { head: 'episodes', cell: ({ episodes }) => grouped(episodes) },
  { head: 'final score (95 %)', cell: (row) => intervalInText(row.final_score) },
  { head: 'over the heuristic (95 %)', cell: ({ price }) => intervalInText(price) },
  { head: 'belief MAE', cell: (row) => decimals(row.belief_mae) },
  { head: 'early mean reward', cell: (row) => decimals(row.early_mean) },
  { head: 'late mean reward', cell: (row) => decimals(row.late_mean) },
];
