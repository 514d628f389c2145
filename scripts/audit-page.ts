/** Replaces the generated parts of docs/graders.md, between `<!-- NAME -->` and `<!-- /NAME -->`. */

import { impossibleText } from '../src/evaluation/audit/assessment.js';
import type { Audit } from '../src/evaluation/audit/audit.js';
import {
  anchorsTable,
  checksOf,
  componentGainsOf,
  nullPlayersOf,
  scoresOf,
} from '../src/evaluation/audit/audit-page.js';
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
    [`${audit.grader} scores`, scoresOf(audit)],
    [`${audit.grader} gains`, componentGainsOf(audit)],
    [`${audit.grader} checks`, `> ${audit.reason} ${impossibleText(audit.impossible)}\n\n${checksOf(audit)}`],
    [`${audit.grader} beliefs`, nullPlayersOf(audit)],
    [`${audit.grader} anchors`, anchorsTable(audit)],
    [`${audit.grader} sequences`, sequencesOf(audit)],
  ]);
  return [...tables, ['published', publishedTable()]].reduce(
    (text, [name, table]) => withTable(text, name, table, 'docs/graders.md'),
    page,
  );
}

/** Lists the sequences of an audit, without those that raise one component (`push:`). */
const sequencesOf = ({ sequences }: Audit): string =>
  sequences
    .filter(({ policy }) => !policy.startsWith('push:'))
    .map(({ policy, actions }) => `- \`${policy}\`: ${actions.join(', ')}.`)
    .join('\n');

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
