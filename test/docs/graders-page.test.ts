/** Compares docs/graders.md and its appendix, docs/grader-audit.md, with the stored audits. `npm run audits -- --check` computes the audits again. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withTables } from '../../scripts/audit-page.js';
import { OPEN_LOOP_SEQUENCES } from '../../src/agents/policies/generated/open-loop-sequences.js';
import { verdictOf } from '../../src/evaluation/audit/assessment.js';
import {
  type Audit,
  type AuditRow,
  COMPONENT_NAMES,
  createWorld,
  GRADER_NAMES,
  graderWeights,
} from '../../src/index.js';
import { sectionsOf } from '../../src/report/page.js';
import { parseResult } from '../../src/report/parse-results.js';
import { ResultGatherer } from '../../src/report/result-gatherer.js';
import { camelCase } from '../../src/shared/names.js';

const read = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');
const page = read('grader-audit.md');

/** Names of the code by stored name, for fields whose name in the code is not the camelCase of the stored name. */
const NAMES: Readonly<Record<string, string>> = {
  early_mean: 'firstHalfMean',
  late_mean: 'secondHalfMean',
};

/** Converts the keys of JSON to the names of the code, except the names of components. */
function toCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCase);
  if (typeof value !== 'object' || value === null) return value;
  const named = (name: string) => (COMPONENT_NAMES.includes(name) ? name : (NAMES[name] ?? camelCase(name)));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [named(name), toCamelCase(inner)]));
}
const stored = GRADER_NAMES.map((name) => JSON.parse(read(`audits/${name}/audit.json`)));
const audits = stored.map((audit) => toCamelCase(audit) as Audit);
const rowOf = ({ rows }: Audit, policy: string): AuditRow => rows.find((row) => row.policy === policy)!;

it('the code of `report` reads the stored audits', () => {
  const gatherer = new ResultGatherer();
  for (const audit of stored) gatherer.addResult(`audit of ${audit.grader}`, parseResult(audit));
  const data = gatherer.data();
  expect(data.audits.map(({ audit }) => audit.rows.length)).toEqual(audits.map(({ rows }) => rows.length));
  const files = sectionsOf(data).find(({ id }) => id === 'files')!;
  const text = files.parts.map(String).join('');
  for (const { grader } of audits) expect(text).toContain(`<bdi>audit of ${grader}</bdi>`);
  expect(text).toContain('A dash in the column backend: the file does not name its backend');
  expect(text).not.toContain('undefined');
});

it('the tables equal those of the audits', () => {
  expect(withTables(page, audits)).toBe(page);
});

it('withTables replaces a changed table, and refuses a page without the end mark of a table', () => {
  expect(withTables(page.replace('| 0.590 ±0.003 |', '| 0.591 ±0.003 |'), audits)).toBe(page);
  expect(() => withTables(page.replace('<!-- /v1 checks -->', ''), audits)).toThrow('<!-- /v1 checks -->');
});

it('docs/graders.md has the scores of the audits', () => {
  const rows = Array.from(read('graders.md').matchAll(/^\| (.*) \|$/gm), ([, row]) =>
    row.split(' | ').slice(1),
  );
  const [, , , heuristic, blind, planner, oracle, paysOnly] = rows;
  const scores = (policies: readonly string[]) =>
    audits.map((audit, k) => {
      const { mean, low } = rowOf(audit, policies[k]).finalScore;
      return `${mean.toFixed(3)} ±${(mean - low!).toFixed(3)}`;
    });
  const best = audits.map(({ bestBlind }) => bestBlind);
  expect(blind).toEqual(scores(best).map((score, k) => `${score} (\`${best[k]}\`)`));
  expect([heuristic, planner, oracle]).toEqual(
    ['heuristic', 'planner', 'planner-oracle'].map((policy) => scores(audits.map(() => policy))),
  );
  expect(paysOnly).toEqual(audits.map(({ paysOnlyForInference }) => (paysOnlyForInference ? 'yes' : 'no')));
});

it('each published score is the belief part, which the MAE determines, plus the remainder', () => {
  const [, text] = page.split('<!-- published -->');
  const rows = Array.from(text.split('<!-- /published -->')[0].matchAll(/^\| (.*) \|$/gm), ([, row]) =>
    row.split(' | '),
  ).slice(2);
  expect(rows).toHaveLength(18);
  for (const [, policy, , score, mae, beliefPart, remainder] of rows) {
    // 0.2 is the weight of belief_accuracy in grader v2. Baselines state no belief.
    const isBaseline = ['random', 'heuristic'].includes(policy);
    const expected = isBaseline ? 0 : 0.2 * (1 - Number(mae));
    const isKnown = isBaseline || mae !== '-';
    expect(beliefPart, policy).toBe(isKnown ? expected.toFixed(3) : '-');
    expect(remainder, policy).toBe(isKnown ? (Number(score) - expected).toFixed(3) : '-');
  }
  const remainderOf = (condition: string, policy: string, episodes: string): number =>
    Number(rows.find((row) => [condition, policy, episodes].every((cell, k) => row[k] === cell))!.at(-1));
  // The sentences after the table.
  const words = text.replaceAll(/\s+/g, ' ');
  const teacher = [remainderOf('in-distribution', 'teacher', '100'), remainderOf('ood', 'teacher', '50')];
  expect(words).toContain(`(${teacher.map((score) => score.toFixed(3)).join(' and ')}`);
  const below = rows
    .filter(([, policy, , , mae]) => policy.startsWith('student') && mae !== '-')
    .map(
      ([condition, policy, episodes]) =>
        remainderOf(condition, 'heuristic', episodes) - remainderOf(condition, policy, episodes),
    );
  expect(words).toContain(`${Math.min(...below).toFixed(3)} to ${Math.max(...below).toFixed(3)} less`);
});

describe.each(audits.map((audit) => [audit.grader, audit] as const))('the audit of %s', (grader, audit) => {
  it('has this world, the weights of the package and the default options', () => {
    expect(audit.worldDigest).toBe(createWorld().digest);
    expect(COMPONENT_NAMES.map((name) => Math.fround(audit.graderWeights[name]))).toEqual([
      ...graderWeights(grader),
    ]);
    expect([audit.seed, audit.evaluations, audit.seeds.fresh, audit.seeds.profiles]).toEqual([
      0,
      300_000,
      '20000-21999',
      '20000-20399',
    ]);
  });

  it('does not describe the machine that made it', () => {
    const keys = 'backend backendReason kernel threads device machine seconds meanEpisodes'.split(' ');
    for (const key of keys) expect(audit).not.toHaveProperty(key);
  });

  it('has the action sequence of the package', () => {
    const [{ policy, actions, trainingScore, evaluations }] = audit.sequences;
    const packaged = OPEN_LOOP_SEQUENCES.sequences[grader as 'v1' | 'v2' | 'v3'];
    expect([policy, actions]).toEqual(['open-loop', packaged.days.flat()]);
    expect([Number(trainingScore.toFixed(5)), evaluations]).toEqual([
      packaged.trainingScore,
      packaged.evaluations,
    ]);
  });

  it('has the verdict of its gains, which the page quotes', () => {
    expect(verdictOf(grader, rowOf(audit, audit.bestBlind), audit.gains)).toBe(audit.verdict);
    expect(page).toContain(`> ${audit.verdict}\n`);
  });
});

it('the audits have the figures on which the text of the page relies', () => {
  const v2 = audits[GRADER_NAMES.indexOf('v2')];
  const { adaptation } = rowOf(v2, 'open-loop').components;
  expect(adaptation.gain.mean).toBeGreaterThan(v2.gains.openLoop.mean / 2);
  expect(rowOf(v2, 'heuristic+constant').components.belief_accuracy.mean).toBeCloseTo(0.8, 1);
  const v1 = audits[GRADER_NAMES.indexOf('v1')];
  expect(v1.gains.constantBelief.mean).toBe(0);
  expect(v1.gains.openLoop.mean).toBeGreaterThan(2 * v1.gains.profile.mean);
  const v3 = audits[GRADER_NAMES.indexOf('v3')];
  const skillOf = (policy: string) => rowOf(v3, policy).components.belief_skill.mean;
  const wellbeingOf = (policy: string) => rowOf(v3, policy).components.wellbeing.mean;
  expect(skillOf('planner')).toBeCloseTo(0.81, 2);
  expect(
    [wellbeingOf('planner'), wellbeingOf('planner-prior'), wellbeingOf('planner-oracle')].map((mean) =>
      mean.toFixed(2),
    ),
  ).toEqual(['0.78', '0.78', '0.91']);
  expect(audits.map(({ paysOnlyForInference }) => paysOnlyForInference)).toEqual([false, false, true]);
});

it('where every profile is neutral, knowing or inferring the profile gains less than 0.01, or not significantly more than 0', () => {
  for (const { impossible } of audits) {
    for (const { low, high } of [impossible.sequence, impossible.planner]) {
      expect(low! <= 0 || high! < 0.01).toBe(true);
    }
  }
});
