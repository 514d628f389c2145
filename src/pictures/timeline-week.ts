/** One week as a timeline shows it: what was done, what became of the meters, what happened, was earned and believed. */

import { InputError } from '../errors.js';
import { illegalAction, isAction } from '../validate/actions.js';
import { describe } from '../validate/values.js';
import {
  BELIEF_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  NUM_BELIEFS,
  NUM_METERS,
  NUM_STEPS,
} from '../world/fields.js';
import { RHYTHM } from '../world/spec.js';
import { checkList, checkNumber, checkNumbers } from './check.js';
import { decimal } from './numbers.js';
import { daysInWords } from './week.js';

/** A week, or its first n steps. Steps that are still to come are left free. */
export interface TimelineWeek {
  /** Codes, [n], 0 to 28 of them. */
  readonly actions: ArrayLike<number>;
  /** [n + 1, 5], row-major, 0 to 1: before each step, and after the last. */
  readonly meters: ArrayLike<number>;
  /** Codes, [n]: the event of each step, -1 for none. */
  readonly events: ArrayLike<number>;
  /** [n], as the agent was given them. */
  readonly rewards: ArrayLike<number>;
  /** [n, 3], row-major, 0 to 1: the belief that was given with each action; NaN where none was. Left out: none ever. */
  readonly beliefs?: ArrayLike<number>;
  /** [3], 0 to 1: what is true of the person. Left out: not known. */
  readonly target?: ArrayLike<number>;
}

/** @throws InputError `wrong_length`, `wrong_type`, `illegal_action` or `out_of_range`. */
export function checkWeek(week: TimelineWeek): void {
  const { actions, meters, events, rewards, beliefs, target } = week;
  const steps = checkActions(actions);
  checkNumbers('meters', meters, (steps + 1) * NUM_METERS, `${steps + 1} x ${NUM_METERS}`);
  checkNumbers('rewards', rewards, steps, 'steps');
  checkNumbers('events', events, steps, 'steps');
  for (let step = 0; step < steps; step++) checkEvent(events[step], step);
  if (beliefs !== undefined) checkBeliefs(beliefs, steps);
  if (target !== undefined) checkNumbers('target', target, NUM_BELIEFS, BELIEF_NAMES.join(', '));
}

function checkActions(actions: ArrayLike<number>): number {
  checkList(
    'actions',
    actions,
    Math.min(Number(Object(actions).length) || 0, NUM_STEPS),
    'steps, 28 at most',
  );
  for (let step = 0; step < actions.length; step++) {
    if (isAction(actions[step])) continue;
    throw illegalAction(`actions[${step}]`, actions[step], { remedy: 'Pass a code of that range.' });
  }
  return actions.length;
}

function checkEvent(event: unknown, step: number): void {
  if (event === -1 || (Number.isInteger(event) && Number(event) >= 0 && Number(event) < EVENT_NAMES.length))
    return;
  throw new InputError(
    'out_of_range',
    `Expected an event code from 0 to ${EVENT_NAMES.length - 1}, or -1 for none, at events[${step}], got ${describe(event)}. ` +
      'Pass one.',
  );
}

/** All three numbers of a step, or none. */
function checkBeliefs(beliefs: ArrayLike<number>, steps: number): void {
  checkList('beliefs', beliefs, steps * NUM_BELIEFS, `${steps} x ${NUM_BELIEFS}`);
  for (let step = 0; step < steps; step++) {
    if (!isGiven(beliefs, step)) continue;
    for (let k = 0; k < NUM_BELIEFS; k++)
      checkNumber(`beliefs[${step}][${k}]`, beliefs[step * NUM_BELIEFS + k]);
  }
}

/** Whether a belief was given with a step. */
export const isGiven = (beliefs: ArrayLike<number>, step: number): boolean =>
  Array.from({ length: NUM_BELIEFS }, (_, k) => beliefs[step * NUM_BELIEFS + k]).some(
    (value) => !Number.isNaN(value),
  );

/** For who cannot see it. */
export function weekInWords(week: TimelineWeek): string {
  return [actionsInWords(week), eventsInWords(week), metersInWords(week), beliefInWords(week)].join(' ');
}

const actionsInWords = ({ actions }: TimelineWeek): string =>
  actions.length === 0 ? 'No step was taken.' : `Actions: ${daysInWords(actions)}.`;

function eventsInWords({ events }: TimelineWeek): string {
  const said = Array.from(events, (event, step) =>
    event < 0 ? '' : `${EVENT_NAMES[event]} on ${slotInWords(step)}`,
  );
  const named = said.filter((text) => text !== '');
  return `Events: ${named.join(', ') || 'none'}.`;
}

/** "the evening of day 2". */
const slotInWords = (step: number): string => {
  const { slots, slotsPerDay } = RHYTHM;
  return `the ${slots[step % slotsPerDay]} of day ${Math.floor(step / slotsPerDay) + 1}`;
};

function metersInWords({ actions, meters }: TimelineWeek): string {
  const from = actions.length * NUM_METERS;
  const ends = METER_NAMES.map((meter, k) => `${meter} ${decimal(meters[from + k], 2)}`);
  return `In the end ${ends.join(', ')}.`;
}

function beliefInWords({ actions, beliefs, target }: TimelineWeek): string {
  const given = Array.from(actions, (_, step) => step).filter((step) => beliefs && isGiven(beliefs, step));
  const last = given.at(-1);
  const said = (values: ArrayLike<number>, from: number): string =>
    BELIEF_NAMES.map((name, k) => `${name} ${decimal(values[from + k], 2)}`).join(', ');
  const believed =
    last === undefined ? 'No belief was given.' : `Last belief: ${said(beliefs!, last * NUM_BELIEFS)}.`;
  return target === undefined ? believed : `${believed} The truth: ${said(target, 0)}.`;
}
