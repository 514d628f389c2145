/** The report of an audit: page, table, verdict and figures. */
import { beforeAll, describe, expect, it } from 'vitest';
import { renderAudit } from '../../../src/cli/audit.js';
import { verdictOf } from '../../../src/evaluation/audit/assessment.js';
import {
  componentGainsOf,
  drawingsOf,
  reportOf,
  scoresOf,
} from '../../../src/evaluation/audit/audit-page.js';
import type { AuditRow, Gains } from '../../../src/evaluation/audit/gains.js';
import { decimals } from '../../../src/evaluation/format-results.js';
import { type Audit, audit } from '../../../src/index.js';
import type { Interval } from '../../../src/shared/statistics.js';
import { NATIVE, reportAbsentEngines } from '../../support/engines.js';

reportAbsentEngines();

const intervalAround = (mean: number, half: number): Interval => ({
  mean,
  low: mean - half,
  high: mean + half,
});
const ZERO: Interval = { mean: 0, low: 0, high: 0 };
const GAINS: Gains = {
  constantBelief: intervalAround(0.1, 0.01),
  openLoop: intervalAround(0.2, 0.02),
  openLoopWithConstant: intervalAround(0.3, 0.02),
  sandbagging: intervalAround(-0.0001, 0.0002),
  saturation: {},
  profile: intervalAround(0.05, 0.06),
  profileBelief: ZERO,
  profileActions: intervalAround(0.05, 0.06),
};
const BEST = {
  policy: 'open-loop+constant',
  gain: intervalAround(0.3, 0.02),
  finalScore: intervalAround(0.7, 0.02),
};

describe('the verdict', () => {
  it.each([
    [ZERO, 'is worth nothing more. '],
    [intervalAround(-0.05, 0.04), 'is worth -0.050 ±0.040 more. '],
    [intervalAround(0, 0.04), 'is worth 0.000 ±0.040 more, not significantly different from 0. '],
  ])('states the significance of the gain %j', (profile, expected) => {
    expect(verdictOf('x', BEST as AuditRow, { ...GAINS, profile })).toContain(expected);
  });
});

describe.skipIf(NATIVE.length === 0)('the report', () => {
  const name = 'a] *b* <c> | `d` _e_ & #f \\g';
  let result: Audit;
  beforeAll(async () => {
    const weights = { crash_free: 0.5, adaptation: 0.25, belief_accuracy: 0.25 };
    const tiny = { evaluations: 1000, episodes: 10, profiles: 2, plannerEpisodes: 2 };
    result = await audit({ ...tiny, grader: { name, weights } });
  });

  it('has all rows, the components with a weight, all action sequences, and the provenance', () => {
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

  it('escapes Markdown in the name of a grader', () => {
    const [title, , verdict] = reportOf(result, drawingsOf(result)).split('\n');
    expect(title).toBe('# What grader a\\] \\*b\\* \\<c\\> \\| \\`d\\` \\_e\\_ \\& \\#f \\\\g pays for');
    expect(verdict.replace(/\\(.)/g, '$1')).toBe(result.verdict);
    expect(reportOf(result, drawingsOf(result))).toContain('\\_e\\_ \\& \\#f \\\\g pays for](gains.svg)');
    expect(renderAudit(result)).toContain(`grader ${name};`);
  });

  it('has a figure of each kind; those of episodes have one policy of each kind', () => {
    const drawings = drawingsOf(result);
    const names = ['gains', 'components', 'action-sequences', 'rewards', 'meters'];
    expect(drawings.map(({ name }) => name)).toEqual(names);
    const drawn = [
      'heuristic',
      'open-loop',
      'open-loop-honest',
      'reactive',
      'planner',
      'oracle-open-loop+truth',
    ];
    const words = drawings[3].drawing.description.split(/ (?=[\w+-]+: )/).map((row) => row.split(':')[0]);
    expect(words.sort()).toEqual(drawn.sort());
  });
});
