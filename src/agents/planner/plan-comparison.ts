/** Explains in words why a plan is better than the best plan with another first action. */
import { formatHundredths } from '../../rollouts/text/format-hundredths.js';
import { COMPONENT_NAMES, METER_NAMES, NUM_METERS, NUM_STEPS } from '../../world/fields.js';
import type { PlanReport } from './plan-report.js';

/** An advantage of a plan: the gain in the objective, and words. */
interface Reason {
  readonly gain: number;
  readonly text: string;
}

/** The smallest gain in the objective that is a reason. Chosen by hand: a smaller one gives reasons that hardly matter. */
const MIN_GAIN = 0.0005;
/** The smallest difference that is visible in two decimals. */
const MIN_VISIBLE = 0.005;
const ADAPTATION = COMPONENT_NAMES.indexOf('adaptation');

/** Returns the largest advantage ("leaves progress .04 higher at the end"), or null if all are small. */
export function mainReason(report: PlanReport): string | null {
  const reasons = report.objective === 'score' ? reasonsOfGrade(report, 1) : reasonsOfWellbeing(report);
  const [main] = reasons.filter(({ gain }) => gain >= MIN_GAIN).sort((a, b) => b.gain - a.gain);
  return main?.text ?? null;
}

/**
 * Returns a reason for each component in TEXTS, unless its difference is below MIN_DIFFERENCES. A disadvantage has a negative
 * gain.
 * @param gainPerGrade the gain in the objective if the grade rises by 1.
 */
function reasonsOfGrade({ plan, rival, grader }: PlanReport, gainPerGrade: number): Reason[] {
  return COMPONENT_NAMES.flatMap((name, k) => {
    const difference = plan.components[k] - rival.components[k];
    const text = TEXTS[name]?.(difference, plan.firstHalfMean < rival.firstHalfMean);
    return text === undefined || difference < MIN_DIFFERENCES[name]
      ? []
      : [{ gain: gainPerGrade * grader[k] * difference, text }];
  });
}

/** Words by component. `lowersFirstHalf`: whether the plan has a lower mean reward in the first half than its rival. */
const TEXTS: Readonly<Record<string, (difference: number, lowersFirstHalf: boolean) => string>> = {
  crash_free: () => 'keeps meters from crashing',
  progress: (difference) => `leaves progress ${formatHundredths(difference)} higher at the end`,
  connection: (difference) => `leaves connection ${formatHundredths(difference)} higher at the end`,
  adaptation: (_, lowersFirstHalf) =>
    lowersFirstHalf
      ? 'lowers the rewards of the first half, against which the second is graded'
      : 'lifts the second half, which is graded against the first',
  efficiency: () => 'feels better over the week',
  wellbeing: () => 'keeps the meters that matter to them higher over the week',
};

/** The smallest difference that is a reason, by component. For other components only MIN_GAIN is a bound. */
const MIN_DIFFERENCES: Readonly<Record<string, number>> = { progress: MIN_VISIBLE, connection: MIN_VISIBLE };

/** The weight of the meters, and of the grade without adaptation, in the objective 'wellbeing'. */
const HALF = 0.5;

/** Returns the reasons under 'wellbeing': higher meters, and the grade without adaptation. */
function reasonsOfWellbeing(report: PlanReport): Reason[] {
  const { plan, rival, weights, grader } = report;
  const otherWeights = 1 - grader[ADAPTATION];
  const grade = reasonsOfGrade(
    { ...report, grader: withoutAdaptation(grader) },
    otherWeights > 0 ? HALF / otherWeights : 0,
  );
  const meterReasons = METER_NAMES.flatMap((name, k) => {
    const difference = partOfMean(plan.meters, k) - partOfMean(rival.meters, k);
    if (difference < MIN_VISIBLE) return [];
    return {
      gain: HALF * weights[k] * difference,
      text: `keeps ${name} ${formatHundredths(difference)} higher over the week`,
    };
  });
  return [...meterReasons, ...grade];
}

/**
 * Returns what the steps of a plan add to the mean of a meter over the episode. The steps taken before are the same in both
 * plans, and cancel out in the difference.
 */
function partOfMean(meters: Float64Array, meter: number): number {
  let sum = 0;
  for (let k = meter; k < meters.length; k += NUM_METERS) sum += meters[k];
  return sum / NUM_STEPS;
}

const withoutAdaptation = (grader: Float32Array): Float32Array =>
  grader.map((weight, k) => (k === ADAPTATION ? 0 : weight));
