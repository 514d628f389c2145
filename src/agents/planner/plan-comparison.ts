/** Explains in words why a plan is better than the best one with another first action. */
import { hundredthsOf } from '../../rollouts/text/hundredths.js';
import { COMPONENT_NAMES, METER_NAMES, NUM_METERS, NUM_STEPS } from '../../world/fields.js';
import type { PlanReport } from './plan-report.js';

/** An advantage: its value in the objective, and its words. */
interface Reason {
  readonly gain: number;
  readonly text: string;
}

/** The smallest advantage that is a reason, visible in two decimals. */
const LEAST = 0.0005;
const SHOWN = 0.005;
const ADAPTATION = COMPONENT_NAMES.indexOf('adaptation');

/** Returns the largest advantage ("leaves progress .04 higher at the end"), or null if all are small. */
export function mainReason(report: PlanReport): string | null {
  const reasons = report.objective === 'score' ? reasonsOfGrade(report, 1) : reasonsOfWellbeing(report);
  const [main] = reasons.filter(({ gain }) => gain >= LEAST).sort((a, b) => b.gain - a.gain);
  return main?.text ?? null;
}

function reasonsOfGrade({ plan, rival, grader }: PlanReport, share: number): Reason[] {
  return COMPONENT_NAMES.flatMap((name, k) => {
    const more = plan.components[k] - rival.components[k];
    const text = TEXTS[name]?.(more, plan.firstHalfMean < rival.firstHalfMean);
    return text === undefined || more < LEAST_MORE[name] ? [] : [{ gain: share * grader[k] * more, text }];
  });
}

/** Words by component, for a difference and for whether the first half earns less. */
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

/** The smallest difference of components that is a reason. */
const LEAST_MORE: Readonly<Record<string, number>> = { progress: SHOWN, connection: SHOWN };

/** The part of the objective from the weighted meters. */
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

/** Returns the mean of a meter over the steps. Both plans share the steps taken. */
function meanOf(meters: Float64Array, meter: number): number {
  let sum = 0;
  for (let k = meter; k < meters.length; k += NUM_METERS) sum += meters[k];
  return sum / NUM_STEPS;
}

const withoutAdaptation = (grader: Float32Array): Float32Array =>
  grader.map((weight, k) => (k === ADAPTATION ? 0 : weight));
