/** Replaces the generated parts of docs/grader-audit.md, between `<!-- NAME -->` and `<!-- /NAME -->`. */

import { impossibleText } from '../src/evaluation/audit/assessment.js';
import type { Audit } from '../src/evaluation/audit/audit.js';
import { anchorsTable, checksOf, nullPlayersOf, scoresOf } from '../src/evaluation/audit/audit-page.js';
import type { AuditRow } from '../src/evaluation/audit/gains.js';
import {
  PUBLISHED,
  PUBLISHED_STUDENT,
  PUBLISHED_TEACHER,
  type Published,
} from '../src/evaluation/published-scores.js';
import { COMPONENT_NAMES } from '../src/world/fields.js';
import { RHYTHM } from '../src/world/numbers.js';
import { withTable } from './with-table.js';

/** Returns the page with the parts of these audits. @throws Error if the page lacks a part's comments. */
export function withTables(page: string, audits: readonly Audit[]): string {
  const tables = audits.flatMap((audit) => [
    [`${audit.grader} verdict`, `> ${audit.verdict}`],
    [`${audit.grader} scores`, scoresOf({ ...audit, rows: audit.rows.filter(isShown) })],
    [`${audit.grader} checks`, `${impossibleText(audit.impossible)}\n\n${checksOf(audit)}`],
    [`${audit.grader} beliefs`, nullPlayersOf(audit)],
    [`${audit.grader} anchors`, anchorsTable(audit)],
  ]);
  return [...tables, ['published', publishedTable()]].reduce(
    (text, [name, table]) => withTable(text, name, table, 'docs/grader-audit.md'),
    page,
  );
}

/** Policies that the table of scores leaves out: null players, whose gains have a table, those of one component, and variants. */
const LEFT_OUT = /^push:|\+(extreme|random|fitted)$|^open-loop-honest$|^oracle-open-loop\+constant$/;

const isShown = ({ policy }: AuditRow): boolean => !LEFT_OUT.test(policy);

/** Returns the table of the scores published under v2, with and without the part that rewards the belief. */
function publishedTable(): string {
  const scores = [...PUBLISHED, ...PUBLISHED_TEACHER, ...PUBLISHED_STUDENT];
  const rows = scores.filter(({ grader }) => grader === 'v2').map(publishedRow);
  return [
    '| condition | policy | episodes | published | belief MAE | paid for the belief | without it |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
}

function publishedRow({ condition, policy, episodes, finalScore, beliefMae }: Published): string {
  // A policy without a belief is paid nothing for it. If the error of a belief is unknown, so is its part.
  const beliefPart =
    beliefMae === undefined ? 0 : beliefMae === null ? null : BELIEF_WEIGHT * (1 - beliefMae);
  const cells = [
    condition,
    policy,
    episodes,
    finalScore.toFixed(3),
    beliefMae?.toFixed(3) ?? '-',
    beliefPart?.toFixed(3) ?? '-',
    beliefPart === null ? '-' : (finalScore - beliefPart).toFixed(3),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The weight of belief accuracy in grader v2. */
const BELIEF_WEIGHT = RHYTHM.graders.v2[COMPONENT_NAMES.indexOf('belief_accuracy')];
