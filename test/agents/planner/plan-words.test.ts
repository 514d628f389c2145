/** The planner's reasons in words, which follow from the numbers of its report. */
import { describe, expect, it } from 'vitest';
import { planWords } from '../../../src/agents/planner/plan-words.js';
import { ACTION_NAMES, graderWeights, type PlanOutlook, type PlanReport } from '../../../src/index.js';
import { playPlannedEpisodes, seedsFrom } from '../../support/planned-episodes.js';

const codeOf = (name: string): number => ACTION_NAMES.indexOf(name);

/** Returns the outlook of a plan whose meters are constant from `step` on. */
function outlookOf(
  step: number,
  names: string[],
  changes: Partial<PlanOutlook> & { after?: number[] } = {},
): PlanOutlook {
  const meters = new Float64Array(140);
  const { after = [0.5, 0.5, 0.5, 0.5, 0.5], ...rest } = changes;
  for (let at = step; at < 28; at++) meters.set(after, 5 * at);
  const actions = Array.from({ length: 28 - step }, (_, k) => codeOf(names[Math.min(k, names.length - 1)]));
  /** The components of the grade, in the order of COMPONENT_NAMES. */
  const components = Float64Array.of(1, 0.5, 0.5, 0.2, 0.5, 0, 0, 0);
  return {
    meters,
    components,
    actions,
    errorReduction: 0,
    firstHalfMean: 0.1,
    secondHalfMean: 0.1,
    ...rest,
  };
}

/** Returns a report. plan-report.ts explains its numbers. */
function reportOf(step: number, changes: Partial<PlanReport> = {}): PlanReport {
  return {
    step,
    objective: 'score',
    meters: new Float32Array(5).fill(0.5),
    loss: 0.0123,
    curiosity: 0,
    plan: outlookOf(step, ['sleep', 'deep_work', 'family_time']),
    rival: outlookOf(step, ['learn']),
    weights: new Float64Array(5).fill(0.2),
    grader: graderWeights('v2'),
    ...changes,
  };
}

describe('a plan in words', () => {
  it('names the next actions, their times and the final meters', () => {
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

  it('names the meter that the first action raises most', () => {
    const plan = outlookOf(17, ['sleep'], { after: [0.72, 0.6, 0.4, 0.5, 0.4] });
    expect(planWords(reportOf(17, { plan }))).toContain('SLEEP now to day 7 night (vitality .50 to .72);');
  });

  it('names the meters near a crash', () => {
    const meters = Float32Array.of(0.15, 0.5, 0.5, 0.19, 0.5);
    expect(planWords(reportOf(17, { meters }))).toMatch(
      /^Near a crash: vitality \.15, serenity \.19\. Plan:/,
    );
  });

  it('gives the largest advantage of the plan as the reason', () => {
    /** Returns the components of the grade with component `k` changed. */
    const components = (k: number, value: number) => {
      const changed = outlookOf(17, ['sleep']).components.slice();
      changed[k] = value;
      return changed;
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
    expect(reasonFor(3, 0.4, { firstHalfMean: 0 })).toContain(
      ': it lowers the rewards of the first half, against which',
    );
    expect(reasonFor(0, 0.9)).toContain(
      'connection .50. Beats the best plan with LEARN now by about .012 of the score.',
    );
  });

  it('under v3 gives higher wellbeing as the reason', () => {
    const components = outlookOf(17, ['sleep']).components.slice();
    components[6] = 0.1;
    const plan = outlookOf(17, ['sleep'], { components });
    expect(planWords(reportOf(17, { plan, grader: graderWeights('v3') }))).toContain(
      'of the score: it keeps the meters that matter to them higher over the week.',
    );
  });

  it('describes a choice that matters little, and a choice that is made for its information', () => {
    expect(planWords(reportOf(17, { loss: 0.0003 }))).toContain('LEARN now would do about as well.');
    expect(planWords(reportOf(17, { curiosity: 0.02 }))).toContain(
      'SLEEP is chosen to learn who they are: it should tell more than LEARN.',
    );
  });

  it('explains, in the mornings, neglect of the first half', () => {
    const plan = outlookOf(4, ['sleep'], { firstHalfMean: -0.3 });
    expect(planWords(reportOf(4, { plan }))).toMatch(
      /The grade pays for a second half that is better than the first/,
    );
    expect(planWords(reportOf(5, { plan }))).not.toContain('The grade pays');
    expect(planWords(reportOf(4, { plan, objective: 'wellbeing' }))).not.toContain('The grade pays');
  });

  it('for wellbeing names the meter that the plan keeps higher', () => {
    const plan = outlookOf(17, ['sleep'], { after: [0.9, 0.5, 0.5, 0.5, 0.5] });
    expect(planWords(reportOf(17, { plan, objective: 'wellbeing' }))).toContain(
      'Beats the best plan with LEARN now by about .012 of wellbeing: it keeps vitality .16 higher over the week.',
    );
  });

  it('for wellbeing gives weight one half to the grade without its adaptation component', () => {
    const components = Float64Array.of(1, 0.6, 0.5, 0.2, 0.5, 0, 0, 0);
    const reasonsWith = (vitality: number) => {
      const plan = outlookOf(17, ['sleep'], { after: [vitality, 0.5, 0.5, 0.5, 0.5], components });
      return planWords(reportOf(17, { plan, objective: 'wellbeing' }));
    };
    // Weight 3 is that of adaptation, and weight 1 that of progress, which is 0.1 higher than in the other plan.
    const others = 1 - graderWeights('v2')[3];
    const progress = (0.5 / others) * graderWeights('v2')[1] * 0.1;
    /**
     * The vitality, in the last 11 of 28 steps, that adds as much to the value as the higher progress does. Wellbeing has
     * weight 0.5, and each meter weight 0.2.
     */
    const equalVitality = 0.5 + (progress / (0.5 * 0.2)) * (28 / 11);
    expect(reasonsWith(equalVitality + 0.01)).toMatch(/: it keeps vitality \.\d+ higher over the week\.$/);
    expect(reasonsWith(equalVitality - 0.01)).toMatch(/: it leaves progress \.10 higher at the end\.$/);
  });

  it('in the last step names the final meters', () => {
    expect(planWords(reportOf(27))).toMatch(
      /^Last slot: SLEEP should end at progress \.50, connection \.50\. Beats/,
    );
  });
});

it.each(['score', 'wellbeing'] as const)(
  'reasons in whole episodes, for %s, are one line with the plan, without tags',
  (objective) => {
    playPlannedEpisodes(seedsFrom(100, 3), { objective }, (planner, step) => {
      for (let i = 0; i < 3; i++) {
        const reasons = planner.reasons(i);
        expect(reasons).toMatch(step === 0 ? /^Nothing was seen of this person yet\./ : /Belief: social \d/);
        expect(reasons).toMatch(step === 27 ? /Last slot: [A-Z_]+ should end/ : /Plan: [A-Z_]+ now/);
        expect(reasons).not.toMatch(/[\n<>]|NaN|undefined|Infinity|\b0\.\d| \.00 (higher|of)|keeps \w+ \.00/);
        // The bound is chosen by hand.
        expect(reasons.length).toBeLessThan(900);
        expect(planner.reasons(i)).toBe(reasons);
      }
    });
  },
);
