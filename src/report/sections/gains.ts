/** Section: what graders reward, from audits. */
import { drawAuditComponents, drawAuditGains } from '../../evaluation/audit/audit-figures.js';
import { decimals, grouped, plainInterval } from '../../evaluation/format-results.js';
import { drawActionSequences } from '../../figures/action-sequences.js';
import { ACTION_NAMES } from '../../world/fields.js';
import type { AuditResult } from '../parse-results.js';
import { uniqueNames } from '../player-names.js';
import type { ReportData, ReportedAudit } from '../result-gatherer.js';
import { type Column, html, type Part, paragraph, type Section, table } from '../section.js';

type Row = AuditResult['rows'][number] & { readonly name: string };

/** Returns the section; null if no file is an audit. */
export function gainsSection({ audits }: ReportData): Section | null {
  if (audits.length === 0) return null;
  return {
    id: 'gains',
    title: 'What the grader pays for',
    parts: audits.flatMap((audit, k) => partsOf(audit, k === 0 ? '' : `-${k + 1}`)),
  };
}

function partsOf({ source, audit }: ReportedAudit, suffix: string): Part[] {
  const { grader, grader_weights: weights, seeds, verdict } = audit;
  const rows: Row[] = uniqueNames(audit.rows.map((row) => ({ ...row, name: row.policy })));
  const audited = { grader, weights, seeds, rows };
  return [
    html`<h3>Grader <bdi>${grader}</bdi>, from <bdi>${source}</bdi></h3>\n`,
    paragraph(verdict),
    { name: `gains${suffix}`, drawing: drawAuditGains(audited) },
    table(`Scores under grader ${grader}, and gains over the heuristic`, COLUMNS, rows),
    { name: `components${suffix}`, drawing: drawAuditComponents(audited) },
    ...sequencesOf(audit, suffix),
  ];
}

function sequencesOf({ grader, sequences }: AuditResult, suffix: string): Part[] {
  if (sequences.length === 0) return [];
  const rows = uniqueNames(
    sequences.map(({ policy, actions }) => ({
      name: policy,
      actions: actions.map((action) => ACTION_NAMES.indexOf(action)),
    })),
  );
  const title = `Best action sequences under grader ${grader}`;
  return [{ name: `action-sequences${suffix}`, drawing: drawActionSequences({ title, rows }) }];
}

const COLUMNS: readonly Column<Row>[] = [
  { head: 'policy', cell: ({ name }) => name },
  { head: 'episodes', cell: ({ episodes }) => grouped(episodes) },
  { head: 'final score (95 %)', cell: (row) => plainInterval(row.final_score) },
  { head: 'over the heuristic (95 %)', cell: ({ gain }) => plainInterval(gain) },
  { head: 'belief MAE', cell: (row) => decimals(row.belief_mae) },
  { head: 'first-half mean', cell: (row) => decimals(row.early_mean) },
  { head: 'second-half mean', cell: (row) => decimals(row.late_mean) },
];
