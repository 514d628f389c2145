/** A planner's reasons: the numbers that it used, in words, and the same words for the same numbers. */
import { describe, expect, it } from 'vitest';
import { ACTION_NAMES, graderWeights, type PlanOutlook, type PlanReport } from '../src/index.js';
import { planWords } from '../src/policies/planner/words.js';
import { playWeeks, seedsFrom } from './support/planning.js';

const codeOf = (name: string): number => ACTION_NAMES.indexOf(name);

/** An outlook of a plan whose meters are the same from `step` on. */
function outlookOf(
  step: number,
  names: string[],
  changes: Partial<PlanOutlook> & { after?: number[] } = {},
): PlanOutlook {
  const meters = new Float64Array(140);
  const { after = [0.5, 0.5, 0.5, 0.5, 0.5], ...rest } = changes;
  for (let at = step; at < 28; at++) meters.set(after, 5 * at);
  const actions = Array.from({ length: 28 - step }, (_, k) => codeOf(names[Math.min(k, names.length - 1)]));
  const components = Float64Array.of(1, 0.5, 0.5, 0.2, 0.5, 0);
  return { ...{ meters, components, actions, tells: 0, earlyMean: 0.1, lateMean: 0.1 }, ...rest };
}

function reportOf(step: number, changes: Partial<PlanReport> = {}): PlanReport {
  return {
    ...{ step, objective: 'score', meters: new Float32Array(5).fill(0.5), loss: 0.0123, curiosity: 0 },
    plan: outlookOf(step, ['sleep', 'deep_work', 'family_time']),
    rival: outlookOf(step, ['learn']),
    ...{ weights: new Float64Array(5).fill(0.2), grader: graderWeights('v2') },
    ...changes,
  };
}

describe('a plan in words', () => {
  it('says what comes next, when, and what it ends with', () => {
    expect(planWords(reportOf(17))).toBe(
      'Plan: SLEEP now, DEEP_WORK this evening, FAMILY_TIME tonight to day 7 night; should end near progress .50, ' +
        'connection .50. Beats the best plan with LEARN now by about .012 of the score.',
    );
    const names = ['sleep', 'sleep', 'learn', 'sleep', 'learn'];
    expect(planWords(reportOf(3, { plan: outlookOf(3, names) }))).toContain(
      'Plan: SLEEP now to tomorrow morning, LEARN tomorrow afternoon, SLEEP tomorrow evening; ',
    );
    expect(
      planWords(
        reportOf(2, { plan: outlookOf(2, ['learn', 'sleep', 'sleep', 'sleep', 'sleep', 'sleep', 'learn']) }),
      ),
    ).toContain('LEARN now, SLEEP tonight to tomorrow night, LEARN day 3 morning to');
  });

  it('says which meter the first action lifts most, if one', () => {
    const plan = outlookOf(17, ['sleep'], { after: [0.72, 0.6, 0.4, 0.5, 0.4] });
    expect(planWords(reportOf(17, { plan }))).toContain('SLEEP now to day 7 night (vitality .50 to .72);');
  });

  it('says what is near a crash', () => {
    const meters = Float32Array.of(0.15, 0.5, 0.5, 0.19, 0.5);
    expect(planWords(reportOf(17, { meters }))).toMatch(
      /^Near a crash: vitality \.15, serenity \.19\. Plan:/,
    );
  });

  it('gives the advantage that weighs most as the reason', () => {
    const components = (k: number, value: number) => {
      const of = outlookOf(17, ['sleep']).components.slice();
      of[k] = value;
      return of;
    };
    const reasonFor = (k: number, value: number, changes: Partial<PlanOutlook> = {}) =>
      planWords(
        reportOf(17, { plan: outlookOf(17, ['sleep'], { components: components(k, value), ...changes }) }),
      );
    expect(reasonFor(1, 0.62)).toContain(
      'by about .012 of the score: it leaves progress .12 higher at the end.',
    );
    expect(reasonFor(2, 0.6)).toContain(': it leaves connection .10 higher at the end.');
    expect(reasonFor(3, 0.4)).toContain(': it lifts the second half, which is graded against the first.');
    expect(reasonFor(3, 0.4, { earlyMean: 0 })).toContain(
      ': it spares rewards of the first half, against which',
    );
    expect(reasonFor(0, 0.9)).toContain(
      'connection .50. Beats the best plan with LEARN now by about .012 of the score.',
    );
  });

  it('says when a choice hardly matters, and when it is made to learn', () => {
    expect(planWords(reportOf(17, { loss: 0.0003 }))).toContain('LEARN now would do about as well.');
    expect(planWords(reportOf(17, { curiosity: 0.02 }))).toContain(
      'SLEEP is chosen to learn who they are: it should tell more than LEARN.',
    );
  });

  it('says in the mornings that the first half is neglected, where it is', () => {
    const plan = outlookOf(4, ['sleep'], { earlyMean: -0.3 });
    expect(planWords(reportOf(4, { plan }))).toMatch(
      /The grade pays for a second half that is better than the first/,
    );
    expect(planWords(reportOf(5, { plan }))).not.toContain('The grade pays');
    expect(planWords(reportOf(4, { plan, objective: 'wellbeing' }))).not.toContain('The grade pays');
  });

  it('for wellbeing says which meter it keeps higher', () => {
    const plan = outlookOf(17, ['sleep'], { after: [0.9, 0.5, 0.5, 0.5, 0.5] });
    expect(planWords(reportOf(17, { plan, objective: 'wellbeing' }))).toContain(
      'Beats the best plan with LEARN now by about .012 of wellbeing: it keeps vitality .16 higher over the week.',
    );
  });

  it('in the last slot says what it ends with', () => {
    expect(planWords(reportOf(27))).toMatch(
      /^Last slot: SLEEP should end at progress \.50, connection \.50\. Beats/,
    );
  });
});

it.each(['score', 'wellbeing'] as const)(
  'reasons of whole weeks, for %s, have both halves, one line, and no tag',
  (objective) => {
    playWeeks(seedsFrom(100, 3), { objective }, (planner, step) => {
      for (let i = 0; i < 3; i++) {
        const reasons = planner.reasons(i);
        expect(reasons).toMatch(step === 0 ? /^Nothing was seen of this person yet\./ : /Belief: social \d/);
        expect(reasons).toMatch(step === 27 ? /Last slot: [A-Z_]+ should end/ : /Plan: [A-Z_]+ now/);
        expect(reasons).not.toMatch(/[\n<>]|NaN|undefined|Infinity|\b0\.\d| \.00 (higher|of)|keeps \w+ \.00/);
        expect(reasons.length).toBeLessThan(900);
        expect(planner.reasons(i)).toBe(reasons);
      }
    });
  },
);
