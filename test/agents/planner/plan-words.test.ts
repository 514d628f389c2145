/** The planner's reasons in words, which follow from its report. planner.test.ts has digests of the words of whole episodes. */
import { expect, it } from 'vitest';
import { planWords } from '../../../src/agents/planner/plan-report.js';
import { ACTION_NAMES, graderWeights, type PlanOutlook, type PlanReport } from '../../../src/index.js';
import { playPlannedEpisodes, seedsFrom } from '../../support/planned-episodes.js';
import { drawsOf } from '../../support/random.js';

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

/** Returns the changes that give the plan other numbers than its rival. @param step the step of the report. */
const plan = (changes: Parameters<typeof outlookOf>[2], step = 17) => ({
  plan: outlookOf(step, ['sleep'], changes),
});
/** Returns a plan whose component `k` of the grade differs. */
const component = (k: number, value: number) => {
  const { components } = outlookOf(17, ['sleep']);
  components[k] = value;
  return plan({ components });
};

it.each<[what: string, step: number, changes: Partial<PlanReport>, expected: string | RegExp]>([
  [
    'the next actions, their times, the final meters and the lead',
    17,
    {},
    'Plan: SLEEP now, DEEP_WORK this evening, FAMILY_TIME tonight to day 7 night; should end near progress .50, ' +
      'connection .50. Beats the best plan with LEARN now by about .012 of the score.',
  ],
  [
    'the meters near a crash',
    17,
    { meters: Float32Array.of(0.15, 0.5, 0.5, 0.19, 0.5) },
    /^Near a crash: vitality \.15, serenity \.19\. Plan:/,
  ],
  ['no advantage', 17, component(0, 0.9), 'with LEARN now by about .012 of the score.'],
  [
    'higher wellbeing under v3',
    17,
    { ...component(6, 0.1), grader: graderWeights('v3') },
    'of the score: it keeps the meters that matter to them higher over the week.',
  ],
  [
    'the higher meter for wellbeing',
    17,
    { ...plan({ after: [0.9, 0.5, 0.5, 0.5, 0.5] }), objective: 'wellbeing' },
    'by about .012 of wellbeing: it keeps vitality .16 higher over the week.',
  ],
  ['a choice that matters little', 17, { loss: 0.0003 }, 'LEARN now would do about as well.'],
  [
    'information',
    17,
    { curiosity: 0.02 },
    'SLEEP is chosen to learn who they are: it should tell more than LEARN.',
  ],
  [
    'neglect in a morning',
    4,
    plan({ firstHalfMean: -0.3 }, 4),
    'The grade pays for a second half that is better',
  ],
  ['no neglect at another time', 5, plan({ firstHalfMean: -0.3 }, 5), /^(?!.*The grade pays)/],
  [
    'no neglect for wellbeing',
    4,
    { ...plan({ firstHalfMean: -0.3 }, 4), objective: 'wellbeing' },
    /^(?!.*The grade pays)/,
  ],
])('a plan in words has %s', (_, step, changes, expected) => {
  const words = planWords(reportOf(step, changes));
  if (typeof expected === 'string') expect(words).toContain(expected);
  else expect(words).toMatch(expected);
});

it.each(['score', 'wellbeing'] as const)(
  'reasons in whole episodes, for %s, are one line with the plan, without tags',
  (objective) => {
    const count = drawsOf(5);
    playPlannedEpisodes(seedsFrom(100, count), { objective }, (planner, step) => {
      for (let i = 0; i < count; i++) {
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
