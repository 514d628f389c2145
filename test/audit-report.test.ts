/** What an audit is shown as: a page, a table, a paragraph and pictures. */
import { describe, expect, it } from 'vitest';
import { drawingsOf } from '../src/audit/drawings.js';
import type { AuditRow, Prices } from '../src/audit/prices.js';
import { gainsOf, reportOf, scoresOf } from '../src/audit/report.js';
import { verdictOf } from '../src/audit/verdict.js';
import { renderAudit } from '../src/cli/audit/table.js';
import { decimals } from '../src/evaluate/figures.js';
import type { Interval } from '../src/evaluate/statistics.js';
import { audit, COMPONENT_NAMES } from '../src/index.js';
import { svgOf } from '../src/pictures/svg.js';
import { NATIVE, nameAbsent } from './support/engines.js';
import { textsOf } from './support/pictures.js';

nameAbsent();

const around = (mean: number, half: number): Interval => ({ mean, low: mean - half, high: mean + half });
const nothing: Interval = { mean: 0, low: 0, high: 0 };
const PRICES: Prices = {
  constantBelief: around(0.1, 0.01),
  blindTape: around(0.2, 0.02),
  blindTapeWithConstant: around(0.3, 0.02),
  sandbagging: around(-0.0001, 0.0002),
  saturation: {},
  person: around(0.05, 0.06),
  personBelief: nothing,
  personActions: around(0.05, 0.06),
};
const BEST = { policy: 'blind-tape+constant', price: around(0.3, 0.02), finalScore: around(0.7, 0.02) };

describe('the verdict', () => {
  it('has every price in words', () => {
    expect(verdictOf('x', BEST as AuditRow, PRICES)).toBe(
      'Under grader x, ignoring the person earns up to 0.300 ±0.020 over the heuristic (a final score of 0.700, by ' +
        'blind-tape+constant); knowing the person is worth 0.050 ±0.060 more, which cannot be told from nothing: ' +
        "nothing by a true belief instead of a constant one and 0.050 ±0.060 by actions of the person's own. Of what " +
        'ignoring earns, the constant belief alone is 0.100 ±0.010, one tape for everybody 0.200 ±0.020, and ' +
        'neglecting the first half of the week 0.000 ±0.000 of that.',
    );
  });

  it('doubts only what may be nothing', () => {
    const said = (person: Interval) => verdictOf('x', BEST as AuditRow, { ...PRICES, person });
    expect(said(nothing)).toContain('is worth nothing more: ');
    expect(said(around(0.05, 0.04))).toContain('is worth 0.050 ±0.040 more: ');
    expect(said(around(-0.05, 0.04))).toContain('is worth -0.050 ±0.040 more: ');
    expect(said(around(0, 0.04))).toContain(
      'is worth 0.000 ±0.040 more, which cannot be told from nothing: ',
    );
  });
});

it('what rounds to nothing has no sign', () => {
  expect([-0.0004, -0, 0.0004, -0.0006, -10].map(decimals)).toEqual([
    '0.000',
    '0.000',
    '0.000',
    '-0.001',
    '-10.000',
  ]);
});

describe.skipIf(NATIVE.length === 0)('the report', () => {
  const named = (name: string) =>
    audit({
      evaluations: 1000,
      episodes: 10,
      persons: 2,
      grader: { name, weights: { crash_free: 0.5, adaptation: 0.25, belief_accuracy: 0.25 } },
    });

  it('has all rows, the components that weigh something, all tapes, and how it was made', async () => {
    const found = await named('calm');
    const page = reportOf(found, drawingsOf(found));
    expect(page).toContain(scoresOf(found));
    expect(page).toContain(gainsOf(found));
    expect(page).toContain('Weights: crash_free 0.5, adaptation 0.25, belief_accuracy 0.25.');
    expect(gainsOf(found).split('\n')[0]).toBe('| policy | crash_free | adaptation | belief_accuracy |');
    for (const { policy, actions } of found.tapes)
      expect(page).toContain(`- ${policy}: ${actions.join(', ')}.`);
    for (const row of found.rows) {
      expect(page).toContain(`| ${row.policy} | ${row.episodes} | ${decimals(row.finalScore.mean)} ±`);
    }
    for (const part of [found.worldDigest, found.kernel, found.seeds.training, found.seeds.fresh]) {
      expect(page).toContain(part);
    }
    expect(page).not.toMatch(/undefined|NaN|null|\n{3}/);
  });

  it('is the same page whatever a grader is called', async () => {
    const name = 'a] *b* <c> | `d` _e_ & #f \\g';
    const found = await named(name);
    const [title, , verdict] = reportOf(found, drawingsOf(found)).split('\n');
    expect(title).toBe('# What grader a\\] \\*b\\* \\<c\\> \\| \\`d\\` \\_e\\_ \\& \\#f \\\\g pays for');
    expect(verdict.replace(/\\(.)/g, '$1')).toBe(found.verdict);
    expect(reportOf(found, drawingsOf(found))).toContain('\\_e\\_ \\& \\#f \\\\g pays for](prices.svg)');
    expect(renderAudit(found)).toContain(`grader ${name};`);
  });

  it('has a picture of each kind, of the policies that belong there', async () => {
    const found = await named('calm');
    const drawings = drawingsOf(found);
    expect(drawings.map(({ name }) => name)).toEqual(['prices', 'components', 'tapes', 'rewards', 'meters']);
    const policies = found.rows.map(({ policy }) => policy);
    const pushes = policies.filter((policy) => policy.startsWith('push:'));
    const watched = ['heuristic', 'blind-tape', 'honest-tape', 'oracle+truth'];
    const shown: Record<string, readonly string[]> = {
      prices: policies.filter((policy) => policy !== 'heuristic'),
      components: policies.filter((policy) => !pushes.includes(policy)),
      tapes: ['heuristic, commonest', 'blind-tape', 'honest-tape', 'push:crash_free', 'push:adaptation'],
      rewards: watched,
      meters: watched,
    };
    for (const { name, drawing } of drawings) {
      const texts = textsOf(await svgOf(drawing));
      expect(texts, name).toEqual(expect.arrayContaining([...shown[name]]));
      if (name !== 'prices' && name !== 'tapes')
        expect(texts.filter((text) => pushes.includes(text))).toEqual([]);
    }
    expect(COMPONENT_NAMES).toHaveLength(6);
  });
});
