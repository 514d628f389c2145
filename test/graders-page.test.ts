/** docs/graders.md says what its audits say: tables, verdicts, tapes and pictures. `npm run audits -- --check` searches again. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withTables } from '../scripts/audit-page.js';
import { verdictOf } from '../src/audit/verdict.js';
import {
  type Audit,
  type AuditRow,
  COMPONENT_NAMES,
  createWorld,
  GRADER_NAMES,
  graderWeights,
} from '../src/index.js';
import { camelCase } from '../src/names.js';
import { BLIND_TAPES } from '../src/policies/blind-tapes.js';
import { ResultGatherer } from '../src/report/gathered.js';
import { sectionsOf } from '../src/report/page.js';
import { parseResult } from '../src/report/results.js';
import { elementsOf } from './support/pictures.js';

const read = (path: string): string => readFileSync(new URL(`../docs/${path}`, import.meta.url), 'utf8');
const page = read('graders.md');

/** JSON with the names that the code has; those of components stay. */
function toCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCase);
  if (typeof value !== 'object' || value === null) return value;
  const named = (name: string) => (COMPONENT_NAMES.includes(name) ? name : camelCase(name));
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [named(name), toCamelCase(of)]));
}
const stored = GRADER_NAMES.map((name) => JSON.parse(read(`audits/${name}/audit.json`)));
const audits = stored.map((audit) => toCamelCase(audit) as Audit);
const rowOf = ({ rows }: Audit, policy: string): AuditRow => rows.find((row) => row.policy === policy)!;

it('the audits are what a report reads', () => {
  const gatherer = new ResultGatherer();
  for (const audit of stored) gatherer.addResult(`audit of ${audit.grader}`, parseResult(audit));
  const data = gatherer.data();
  expect(data.audits.map(({ audit }) => audit.rows.length)).toEqual(audits.map(({ rows }) => rows.length));
  const files = sectionsOf(data).find(({ id }) => id === 'files')!;
  const said = files.parts.map(String).join('');
  for (const { grader } of audits) expect(said).toContain(`<bdi>audit of ${grader}</bdi>`);
  expect(said).toContain('Where no backend stands, the file does not say what played');
  expect(said).not.toContain('undefined');
});

it('the tables are those of the audits', () => {
  expect(withTables(page, audits)).toBe(page);
});

it('a table of another audit is seen, and a place that is missing', () => {
  expect(withTables(page.replace('| 0.590 ±0.003 |', '| 0.591 ±0.003 |'), audits)).toBe(page);
  expect(() => withTables(page.replace('<!-- /v1 gains -->', ''), audits)).toThrow('<!-- /v1 gains -->');
});

it('the published scores are taken apart right', () => {
  const rows = page
    .split('<!-- published -->')[1]
    .split('\n')
    .filter((line) => /\| 0\.\d{3} \|$/.test(line))
    .map((line) => line.split(' | ').map((cell) => cell.replaceAll('|', '').trim()));
  expect(rows).toHaveLength(8);
  for (const [, policy, score, mae, paid, left] of rows) {
    const share = mae === '-' ? 0 : 0.2 * (1 - Number(mae));
    expect([policy === 'teacher', Number(paid)]).toEqual([mae !== '-', Number(share.toFixed(3))]);
    expect(Number(left)).toBe(Number((Number(score) - share).toFixed(3)));
  }
});

describe.each(audits.map((audit) => [audit.grader, audit] as const))('the audit of %s', (grader, audit) => {
  it('is of this world, under the published weights, by the default options', () => {
    expect(audit.worldDigest).toBe(createWorld().digest);
    expect(COMPONENT_NAMES.map((name) => Math.fround(audit.graderWeights[name]))).toEqual([
      ...graderWeights(grader),
    ]);
    expect([audit.seed, audit.evaluations, audit.seeds.fresh, audit.seeds.persons]).toEqual([
      0,
      300_000,
      '20000-21999',
      '20000-20399',
    ]);
  });

  it('says nothing of the machine that made it', () => {
    const keys = ['backend', 'backendReason', 'kernel', 'threads', 'machine', 'seconds', 'weeks'];
    for (const key of keys) expect(audit).not.toHaveProperty(key);
  });

  it('found the tape that is kept', () => {
    const [{ policy, actions, trainingScore, evaluations }] = audit.tapes;
    const kept = BLIND_TAPES.tapes[grader as 'v1' | 'v2'];
    expect([policy, actions]).toEqual(['blind-tape', kept.days.flat()]);
    expect([Number(trainingScore.toFixed(5)), evaluations]).toEqual([kept.trainingScore, kept.evaluations]);
  });

  it('has the verdict of its prices', () => {
    expect(verdictOf(grader, rowOf(audit, audit.bestBlind), audit.prices)).toBe(audit.verdict);
    expect(page).toContain(`> ${audit.verdict}\n`);
  });

  it('has pictures, which name who is in its rows', () => {
    for (const name of ['prices', 'components', 'tapes', 'rewards', 'meters']) {
      const svg = read(`audits/${grader}/${name}.svg`);
      expect(elementsOf(svg)[0].name, name).toBe('svg');
      expect(svg, name).toContain('blind-tape');
    }
    const prices = read(`audits/${grader}/prices.svg`);
    for (const { policy } of audit.rows) if (policy !== 'heuristic') expect(prices).toContain(policy);
  });
});

it('what the page says in words is so', () => {
  const v2 = audits[GRADER_NAMES.indexOf('v2')];
  const { adaptation } = rowOf(v2, 'blind-tape').components;
  expect(adaptation.gain.mean).toBeGreaterThan(v2.prices.blindTape.mean / 2);
  expect(rowOf(v2, 'heuristic+constant').components.belief_accuracy.mean).toBeCloseTo(0.8, 1);
  const v1 = audits[GRADER_NAMES.indexOf('v1')];
  expect(v1.prices.constantBelief.mean).toBe(0);
  expect(v1.prices.blindTape.mean).toBeGreaterThan(2 * v1.prices.person.mean);
  for (const { prices } of audits) {
    expect(prices.person.mean).toBeCloseTo(prices.personBelief.mean + prices.personActions.mean, 9);
  }
});
