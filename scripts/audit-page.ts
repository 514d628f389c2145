/** The tables of docs/graders.md, from audits: what stands between `<!-- NAME -->` and `<!-- /NAME -->`. */
import type { Audit } from '../src/audit/audit.js';
import { gainsOf, scoresOf } from '../src/audit/report.js';
import { PUBLISHED, PUBLISHED_TEACHER, type Published } from '../src/evaluate/published.js';
import { COMPONENT_NAMES } from '../src/world/fields.js';
import { RHYTHM } from '../src/world/spec.js';

/** The page with its tables made anew. @throws Error for a table whose place is missing. */
export function withTables(page: string, audits: readonly Audit[]): string {
  const tables = audits.flatMap((audit) => [
    [`${audit.grader} verdict`, `> ${audit.verdict}`],
    [`${audit.grader} scores`, scoresOf(audit)],
    [`${audit.grader} gains`, gainsOf(audit)],
    [`${audit.grader} tapes`, tapesOf(audit)],
  ]);
  return [...tables, ['published', publishedTable()]].reduce(
    (text, [name, table]) => replaced(text, name, table),
    page,
  );
}

function replaced(page: string, name: string, table: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(open), page.indexOf(close)];
  if (from < 0 || to < from) throw new Error(`Expected ${open} and ${close} in docs/graders.md.`);
  return `${page.slice(0, from + open.length)}\n\n${table}\n\n${page.slice(to)}`;
}

const tapesOf = ({ tapes }: Audit): string =>
  tapes
    .filter(({ policy }) => !policy.startsWith('push:'))
    .map(({ policy, actions }) => `- \`${policy}\`: ${actions.join(', ')}.`)
    .join('\n');

/** What is left of the published scores without what beliefs were paid. */
function publishedTable(): string {
  const rows = [...PUBLISHED, ...PUBLISHED_TEACHER].filter(({ grader }) => grader === 'v2').map(published);
  return [
    '| condition | policy | published | belief MAE | paid for the belief | without it |',
    '| --- | --- | ---: | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
}

function published({ condition, policy, finalScore, beliefMae }: Published): string {
  const paid = beliefMae === undefined ? 0 : BELIEF_WEIGHT * (1 - beliefMae);
  const cells = [
    condition,
    policy,
    finalScore,
    beliefMae ?? '-',
    paid.toFixed(3),
    (finalScore - paid).toFixed(3),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Grader v2's. */
const BELIEF_WEIGHT = RHYTHM.graders.v2[COMPONENT_NAMES.indexOf('belief_accuracy')];
