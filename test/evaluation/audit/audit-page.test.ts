/** The report of an audit: page, table, verdict and figures. */
import { describe, expect, it } from 'vitest';
import { renderAudit } from '../../../src/cli/audit/audit-table.js';
import { drawingsOf } from '../../../src/evaluation/audit/audit-figures.js';
import { componentGainsOf, reportOf, scoresOf } from '../../../src/evaluation/audit/audit-page.js';
import type { AuditRow, Gains } from '../../../src/evaluation/audit/gains.js';
import { verdictOf } from '../../../src/evaluation/audit/verdict.js';
import { decimals } from '../../../src/evaluation/format-figures.js';
import { svgOf } from '../../../src/figures/svg.js';
import { audit } from '../../../src/index.js';
import type { Interval } from '../../../src/shared/statistics.js';
import { NATIVE, nameAbsent } from '../../support/engines.js';
import { textsOf } from '../../support/pictures.js';

nameAbsent();

const intervalAround = (mean: number, half: number): Interval => ({
  mean,
  low: mean - half,
  high: mean + half,
});
const nothing: Interval = { mean: 0, low: 0, high: 0 };
const GAINS: Gains = {
  constantBelief: intervalAround(0.1, 0.01),
  openLoop: intervalAround(0.2, 0.02),
  openLoopWithConstant: intervalAround(0.3, 0.02),
  sandbagging: intervalAround(-0.0001, 0.0002),
  saturation: {},
  profile: intervalAround(0.05, 0.06),
  profileBelief: nothing,
  profileActions: intervalAround(0.05, 0.06),
};
const BEST = {
  policy: 'open-loop+constant',
  gain: intervalAround(0.3, 0.02),
  finalScore: intervalAround(0.7, 0.02),
};

describe('the verdict', () => {
  it('states every gain', () => {
    expect(verdictOf('x', BEST as AuditRow, GAINS)).toBe(
      'Under grader x, ignoring the person earns up to 0.300 ±0.020 over the heuristic (a final score of 0.700, by ' +
        'open-loop+constant); knowing the person is worth 0.050 ±0.060 more, not significantly different from 0: ' +
        'nothing from a true belief instead of a constant one and 0.050 ±0.060 from actions chosen for the person. ' +
        'Without knowing the person, the constant belief alone earns 0.100 ±0.010, and one action sequence for everybody ' +
        '0.200 ±0.020, of which 0.000 ±0.000 comes from neglecting the first half of the week.',
    );
  });

  it('notes that a gain is not significant only if its interval includes 0', () => {
    const verdictWith = (profile: Interval) => verdictOf('x', BEST as AuditRow, { ...GAINS, profile });
    expect(verdictWith(nothing)).toContain('is worth nothing more: ');
    expect(verdictWith(intervalAround(0.05, 0.04))).toContain('is worth 0.050 ±0.040 more: ');
    expect(verdictWith(intervalAround(-0.05, 0.04))).toContain('is worth -0.050 ±0.040 more: ');
    expect(verdictWith(intervalAround(0, 0.04))).toContain(
      'is worth 0.000 ±0.040 more, not significantly different from 0: ',
    );
  });
});

it('decimals formats a number that rounds to 0 without a sign', () => {
  expect([-0.0004, -0, 0.0004, -0.0006, -10].map(decimals)).toEqual([
    '0.000',
    '0.000',
    '0.000',
    '-0.001',
    '-10.000',
  ]);
});

describe.skipIf(NATIVE.length === 0)('the report', () => {
  const auditNamed = (name: string) =>
    audit({
      evaluations: 1000,
      episodes: 10,
      profiles: 2,
      grader: { name, weights: { crash_free: 0.5, adaptation: 0.25, belief_accuracy: 0.25 } },
    });

  it('has all rows, the components with a weight, all action sequences, and the provenance', async () => {
    const result = await auditNamed('calm');
    const page = reportOf(result, drawingsOf(result));
    expect(page).toContain(scoresOf(result));
    expect(page).toContain(componentGainsOf(result));
    expect(page).toContain('Weights: crash_free 0.5, adaptation 0.25, belief_accuracy 0.25.');
    expect(componentGainsOf(result).split('\n')[0]).toBe(
      '| policy | crash_free | adaptation | belief_accuracy |',
    );
    for (const { policy, actions } of result.sequences)
      expect(page).toContain(`- ${policy}: ${actions.join(', ')}.`);
    for (const row of result.rows) {
      expect(page).toContain(`| ${row.policy} | ${row.episodes} | ${decimals(row.finalScore.mean)} ±`);
    }
    for (const part of [result.worldDigest, result.kernel, result.seeds.training, result.seeds.fresh]) {
      expect(page).toContain(part);
    }
    expect(page).not.toMatch(/undefined|NaN|null|\n{3}/);
  });

  it('escapes Markdown in the name of a grader', async () => {
    const name = 'a] *b* <c> | `d` _e_ & #f \\g';
    const result = await auditNamed(name);
    const [title, , verdict] = reportOf(result, drawingsOf(result)).split('\n');
    expect(title).toBe('# What grader a\\] \\*b\\* \\<c\\> \\| \\`d\\` \\_e\\_ \\& \\#f \\\\g pays for');
    expect(verdict.replace(/\\(.)/g, '$1')).toBe(result.verdict);
    expect(reportOf(result, drawingsOf(result))).toContain('\\_e\\_ \\& \\#f \\\\g pays for](gains.svg)');
    expect(renderAudit(result)).toContain(`grader ${name};`);
  });

  it('has a figure of each kind, with its policies', async () => {
    const result = await auditNamed('calm');
    const drawings = drawingsOf(result);
    expect(drawings.map(({ name }) => name)).toEqual([
      'gains',
      'components',
      'action-sequences',
      'rewards',
      'meters',
    ]);
    const policies = result.rows.map(({ policy }) => policy);
    const pushes = policies.filter((policy) => policy.startsWith('push:'));
    const drawn = ['heuristic', 'open-loop', 'open-loop-honest', 'oracle-open-loop+truth'];
    const policiesIn: Record<string, readonly string[]> = {
      gains: policies.filter((policy) => policy !== 'heuristic'),
      components: policies.filter((policy) => !pushes.includes(policy)),
      'action-sequences': [
        'heuristic, most common',
        'open-loop',
        'open-loop-honest',
        'push:crash_free',
        'push:adaptation',
      ],
      rewards: drawn,
      meters: drawn,
    };
    for (const { name, drawing } of drawings) {
      const texts = textsOf(await svgOf(drawing));
      expect(texts, name).toEqual(expect.arrayContaining([...policiesIn[name]]));
      if (name !== 'gains' && name !== 'action-sequences')
        expect(texts.filter((text) => pushes.includes(text))).toEqual([]);
    }
  });
});
