/** Describes one episode's plan in a few sentences. */
import { formatHundredths } from '../../rollouts/text/format-hundredths.js';
import { spell } from '../../rollouts/text/system-message.js';
import {
  ACTION_NAMES,
  COMPONENT_NAMES,
  METER_NAMES,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
} from '../../world/fields.js';
import { RHYTHM } from '../../world/numbers.js';
import { mainReason } from './plan-comparison.js';
import type { PlanReport } from './plan-report.js';

const ACTIONS = ACTION_NAMES.map(spell);
const [PROGRESS, CONNECTION] = ['progress', 'connection'].map((name) => METER_NAMES.indexOf(name));
const ADAPTATION = COMPONENT_NAMES.indexOf('adaptation');
const HALF = NUM_STEPS / 2;
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
/** The maximum number of stretches (runs of one action) that are described. Chosen by hand, for a short text. */
const MAX_STRETCHES = 3;

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
  const low = METER_NAMES.filter((_, k) => meters[k] < NEAR_CRASH).map(
    (name) => `${name} ${formatHundredths(meters[METER_NAMES.indexOf(name)])}`,
  );
  return low.length === 0 ? null : `Near a crash: ${low.join(', ')}.`;
}

function planOf(report: PlanReport): string {
  const { step, plan } = report;
  const end = (NUM_STEPS - 1) * NUM_METERS;
  const [progress, connection] = [PROGRESS, CONNECTION].map((k) => formatHundredths(plan.meters[end + k]));
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
    step >= HALF ||
    step % NUM_SLOTS !== 0 ||
    grader[ADAPTATION] <= 0 ||
    plan.firstHalfMean > NEGLECT
  )
    return null;
  return 'The grade pays for a second half that is better than the first, so most work and company wait.';
}

const thousandths = (value: number): string => value.toFixed(3).replace(/^0/, '');
