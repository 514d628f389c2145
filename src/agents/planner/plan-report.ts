/** A planner's report: the numbers behind its last decision for one episode, and their description in a few sentences. */

import { formatHundredths, spell } from '../../rollouts/text/spelling.js';
import {
  ACTION_NAMES,
  COMPONENT,
  COMPONENT_NAMES,
  METER,
  METER_NAMES,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
} from '../../world/fields.js';
import { RHYTHM } from '../../world/numbers.js';
import type { InferenceReport } from '../inference/inference-report.js';
import { inferenceWords } from '../inference/inference-words.js';
import type { BeliefError } from '../inference/samples.js';
import type { Outlook } from './imagination.js';
import type { Objective } from './objectives.js';

/** A plan and its expected outcome. */
export interface PlanOutlook extends Outlook {
  /** Codes of ACTION_NAMES, from this step to the last. */
  readonly actions: readonly number[];
  /**
   * The expected reduction of the belief error by the first action. The error is squared if the grader weighs `belief_skill`
   * more than `belief_accuracy` (as v3), else absolute. 0 without inference, with `curiosity` 0, or if the grader pays for no
   * belief.
   */
  readonly errorReduction: number;
}

/** The numbers behind the planner's last decision for an episode. Newly allocated. */
export interface PlanReport {
  /** Steps taken. */
  readonly step: number;
  /** What the planner maximises. */
  readonly objective: Objective;
  /** f32 [5]: the current meters. */
  readonly meters: Float32Array;
  /** The plan, whose first action was chosen. */
  readonly plan: PlanOutlook;
  /** The best plan with another first action. */
  readonly rival: PlanOutlook;
  /**
   * What playing the rival instead would lose: the plan's value minus the rival's, in units of the objective. A plan's value
   * includes the value of information of its first action: what the more accurate belief after this action is worth.
   */
  readonly loss: number;
  /** The value of information of the plan's first action minus that of the rival's first action, in units of the objective. */
  readonly curiosity: number;
  /** f64 [5]: the expected reward weights of the profile. */
  readonly weights: Float64Array;
  /** f32 [8]: the weights of the grader. */
  readonly grader: Float32Array;
}

/** The numbers behind the reasons of a decision. */
export interface Explanation {
  readonly plan: PlanReport;
  /** The inference's report on the profile, or a sentence if nothing is inferred. */
  readonly belief: InferenceReport | string;
  /** The error that the stated belief minimises. */
  readonly error: BeliefError;
}

const ACTIONS = ACTION_NAMES.map(spell);
/** The text warns of a meter below this. A crash is a meter below 0.1. Chosen by hand. */
const NEAR_CRASH = 0.2;
/** A first-half mean of this or less counts as neglect. Chosen by hand. */
const NEGLECT = -0.05;
/**
 * For a smaller loss (see `PlanReport`) the text gives no number: a loss below 0.0005 would be written as .000. The margin of
 * 0.00001 is chosen by hand.
 */
const MIN_LOSS = 0.00051;
/** A smaller rise of a meter is not mentioned. Chosen by hand. */
const MIN_RISE = 0.02;
/** The maximum number of stretches of one action that are described. Chosen by hand, for a short text. */
const MAX_STRETCHES = 3;

/** Returns the reasons of a decision in words: the observations, the belief and the plan. */
export const explanationWords = ({ plan, belief, error }: Explanation): string =>
  `${typeof belief === 'string' ? belief : inferenceWords(belief, error)} ${planWords(plan)}`;

/**
 * Warns of meters near a crash, and describes the plan, its lead over the best plan with another first action, and neglect of
 * the first half. The text depends only on the report.
 */
export function planWords(report: PlanReport): string {
  return [crashWarning(report), planOf(report), comparison(report), neglect(report)]
    .filter(Boolean)
    .join(' ');
}

function crashWarning({ meters }: PlanReport): string | null {
  const low = METER_NAMES.flatMap((name, k) =>
    meters[k] < NEAR_CRASH ? [`${name} ${formatHundredths(meters[k])}`] : [],
  );
  return low.length === 0 ? null : `Near a crash: ${low.join(', ')}.`;
}

function planOf(report: PlanReport): string {
  const { step, plan } = report;
  const end = (NUM_STEPS - 1) * NUM_METERS;
  const [progress, connection] = [METER.progress, METER.connection].map((k) =>
    formatHundredths(plan.meters[end + k]),
  );
  if (step === NUM_STEPS - 1)
    return `Last slot: ${ACTIONS[plan.actions[0]]} should end at progress ${progress}, connection ${connection}.`;
  return `Plan: ${stretches(report).join(', ')}; should end near progress ${progress}, connection ${connection}.`;
}

/** Returns the plan's first stretches of one action each; the first with its effect in this step. */
function stretches(report: PlanReport): string[] {
  const { step, plan } = report;
  const { actions } = plan;
  const parts: string[] = [];
  for (let at = 0; at < actions.length && parts.length < MAX_STRETCHES; ) {
    let end = at + 1;
    while (end < actions.length && actions[end] === actions[at]) end++;
    const until = end - at > 1 ? ` to ${whenOf(step + end - 1, step)}` : '';
    const effect = at === 0 ? effectOf(report) : '';
    parts.push(`${ACTIONS[actions[at]]} ${whenOf(step + at, step)}${until}${effect}`);
    at = end;
  }
  return parts;
}

/** Returns the meter that rises most in this step, with its values; '' if no meter rises by MIN_RISE. */
function effectOf({ step, meters, plan }: PlanReport): string {
  const after = plan.meters.subarray(step * NUM_METERS, (step + 1) * NUM_METERS);
  const rises = Array.from(after, (meter, k) => meter - meters[k]);
  const strongest = rises.indexOf(Math.max(...rises));
  if (rises[strongest] < MIN_RISE) return '';
  return ` (${METER_NAMES[strongest]} ${formatHundredths(meters[strongest])} to ${formatHundredths(after[strongest])})`;
}

/** Returns the name of a step relative to the step `now`. */
function whenOf(step: number, now: number): string {
  if (step === now) return 'now';
  const slot = RHYTHM.slots[step % NUM_SLOTS];
  const days = Math.floor(step / NUM_SLOTS) - Math.floor(now / NUM_SLOTS);
  if (days === 0) return slot === 'night' ? 'tonight' : `this ${slot}`;
  return days === 1 ? `tomorrow ${slot}` : `day ${1 + Math.floor(step / NUM_SLOTS)} ${slot}`;
}

/** Compares the plan with the best plan that has another first action. Later actions may differ too. */
function comparison(report: PlanReport): string {
  const { plan, rival, loss, curiosity, objective } = report;
  const [action, other] = [ACTIONS[plan.actions[0]], ACTIONS[rival.actions[0]]];
  if (loss < MIN_LOSS) return `${other} now would do about as well.`;
  if (curiosity > loss)
    return `${action} is chosen to learn who they are: it should tell more than ${other}.`;
  const lead = `Beats the best plan with ${other} now by about ${thousandths(loss)} of ${objective === 'score' ? 'the score' : 'wellbeing'}`;
  const reason = mainReason(report);
  return reason === null ? `${lead}.` : `${lead}: it ${reason}.`;
}

/**
 * Explains neglect of the first half, again on each of its mornings, because a model that is trained on these texts reads one
 * step at a time.
 */
function neglect({ step, plan, objective, grader }: PlanReport): string | null {
  if (
    objective !== 'score' ||
    step >= NUM_STEPS / 2 ||
    step % NUM_SLOTS !== 0 ||
    grader[COMPONENT.adaptation] <= 0 ||
    plan.firstHalfMean > NEGLECT
  )
    return null;
  return 'The grade pays for a second half that is better than the first, so most work and company wait.';
}

const thousandths = (value: number): string => value.toFixed(3).replace(/^0/, '');

/** An advantage of a plan: the gain in the objective, and words. */
interface Reason {
  readonly gain: number;
  readonly text: string;
}

/** The smallest gain in the objective that is a reason. Chosen by hand: a smaller one gives reasons that hardly matter. */
const MIN_GAIN = 0.0005;
/** The smallest difference that is visible in two decimals. */
const MIN_VISIBLE = 0.005;

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

/** Returns the reasons under 'wellbeing': higher meters, and the grade without adaptation. Each has half the weight. */
function reasonsOfWellbeing(report: PlanReport): Reason[] {
  const { plan, rival, weights, grader } = report;
  const otherWeights = 1 - grader[COMPONENT.adaptation];
  const grade = reasonsOfGrade(
    { ...report, grader: withoutAdaptation(grader) },
    otherWeights > 0 ? 0.5 / otherWeights : 0,
  );
  const meterReasons = METER_NAMES.flatMap((name, k) => {
    const difference = partOfMean(plan.meters, k) - partOfMean(rival.meters, k);
    if (difference < MIN_VISIBLE) return [];
    return {
      gain: 0.5 * weights[k] * difference,
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
  grader.map((weight, k) => (k === COMPONENT.adaptation ? 0 : weight));
