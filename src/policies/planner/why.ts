/** Why a plan is better than the best one that begins otherwise, in words. */
import { hundredthsOf } from '../../text/hundredths.js';
import { COMPONENT_NAMES, METER_NAMES, NUM_METERS, NUM_STEPS } from '../../world/fields.js';
import type { PlanReport } from './report.js';

/** What something brings to the objective, and how it is said. */
interface Reason {
  readonly gain: number;
  readonly text: string;
}

/** What brings less is no reason, nor a difference that two decimals do not show. */
const LEAST = 0.0005;
const SHOWN = 0.005;
const ADAPTATION = COMPONENT_NAMES.indexOf('adaptation');

/** What of its advantages is the largest: "leaves progress .04 higher at the end"; null if none is worth a word. */
export function mainReason(report: PlanReport): string | null {
  const reasons = report.objective === 'score' ? reasonsOfGrade(report, 1) : reasonsOfWellbeing(report);
  const [main] = reasons.filter(({ gain }) => gain >= LEAST).sort((a, b) => b.gain - a.gain);
  return main?.text ?? null;
}

function reasonsOfGrade({ plan, rival, grader }: PlanReport, share: number): Reason[] {
  return COMPONENT_NAMES.flatMap((name, k) => {
    const more = plan.components[k] - rival.components[k];
    const text = TEXTS[name]?.(more, plan.earlyMean < rival.earlyMean);
    return text === undefined || more < LEAST_MORE[name] ? [] : [{ gain: share * grader[k] * more, text }];
  });
}

/** By component: of how much more there is, and whether the first half brings less. */
const TEXTS: Readonly<Record<string, (more: number, isLater: boolean) => string>> = {
  crash_free: () => 'keeps meters from crashing',
  progress: (more) => `leaves progress ${hundredthsOf(more)} higher at the end`,
  connection: (more) => `leaves connection ${hundredthsOf(more)} higher at the end`,
  adaptation: (_, isLater) =>
    isLater
      ? 'spares rewards of the first half, against which the second is graded'
      : 'lifts the second half, which is graded against the first',
  efficiency: () => 'feels better over the week',
};

/** Of components whose difference is said. */
const LEAST_MORE: Readonly<Record<string, number>> = { progress: SHOWN, connection: SHOWN };

/** Half of it is what the person values, over the week. */
function reasonsOfWellbeing(report: PlanReport): Reason[] {
  const { plan, rival, weights, grader } = report;
  const others = 1 - grader[ADAPTATION];
  const grade = reasonsOfGrade(
    { ...report, grader: withoutAdaptation(grader) },
    others > 0 ? 0.5 / others : 0,
  );
  const valued = METER_NAMES.flatMap((name, k) => {
    const more = meanOf(plan.meters, k) - meanOf(rival.meters, k);
    if (more < SHOWN) return [];
    return {
      gain: 0.5 * weights[k] * more,
      text: `keeps ${name} ${hundredthsOf(more)} higher over the week`,
    };
  });
  return [...valued, ...grade];
}

/** The mean of a meter over a week's steps. Those taken are alike in both plans. */
function meanOf(meters: Float64Array, meter: number): number {
  let sum = 0;
  for (let k = meter; k < meters.length; k += NUM_METERS) sum += meters[k];
  return sum / NUM_STEPS;
}

const withoutAdaptation = (grader: Float32Array): Float32Array =>
  grader.map((weight, k) => (k === ADAPTATION ? 0 : weight));
