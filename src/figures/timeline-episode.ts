/** The data of a timeline, its validation and its description in words. */

import { illegalAction, isAction } from '../engine/validate/steps.js';
import { InputError } from '../shared/errors.js';
import { describe } from '../shared/values.js';
import {
  BELIEF_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  NUM_BELIEFS,
  NUM_METERS,
  NUM_STEPS,
} from '../world/fields.js';
import { RHYTHM } from '../world/numbers.js';
import { daysInWords } from './episode-axis.js';
import { checkList, checkNumber, checkNumbers } from './figure.js';
import { decimal } from './theme.js';

/** An episode, or its first n steps. In the figure, later steps are empty. */
export interface TimelineEpisode {
  /** Action codes, [n]; n is from 0 to 28. */
  readonly actions: ArrayLike<number>;
  /** [n + 1, 5], row-major, 0 to 1: the meters before each step, and after the last. */
  readonly meters: ArrayLike<number>;
  /** Event codes, [n]; -1 for a step without an event. */
  readonly events: ArrayLike<number>;
  /** [n]: the rewards that the agent received. */
  readonly rewards: ArrayLike<number>;
  /**
   * [n, 3], row-major, 0 to 1: the belief stated with each action; NaN if none. Absent: no beliefs.
   */
  readonly beliefs?: ArrayLike<number>;
  /** [3], 0 to 1: the belief target. Absent: unknown. */
  readonly target?: ArrayLike<number>;
}

/** Checks an episode. @throws InputError `wrong_length`, `wrong_type`, `illegal_action` or `out_of_range`. */
export function checkEpisode(episode: TimelineEpisode): void {
  const { actions, meters, events, rewards, beliefs, target } = episode;
  const steps = checkActions(actions);
  checkNumbers('meters', meters, (steps + 1) * NUM_METERS, `${steps + 1} x ${NUM_METERS}`);
  checkNumbers('rewards', rewards, steps, 'steps');
  checkNumbers('events', events, steps, 'steps');
  for (let step = 0; step < steps; step++) checkEvent(events[step], step);
  if (beliefs !== undefined) checkBeliefs(beliefs, steps);
  if (target !== undefined) checkNumbers('target', target, NUM_BELIEFS, BELIEF_NAMES.join(', '));
}

/** Checks the actions. @returns their number. */
function checkActions(actions: ArrayLike<number>): number {
  // `checkList` expects an exact length: here the list's own length, or 28 if the list is longer.
  checkList('actions', actions, Math.min(Number(Object(actions).length) || 0, NUM_STEPS), 'at most 28 steps');
  for (let step = 0; step < actions.length; step++) {
    if (isAction(actions[step])) continue;
    throw illegalAction(`actions[${step}]`, actions[step], { remedy: 'Pass a code in that range.' });
  }
  return actions.length;
}

function checkEvent(event: unknown, step: number): void {
  if (event === -1 || (Number.isInteger(event) && Number(event) >= 0 && Number(event) < EVENT_NAMES.length))
    return;
  throw new InputError('out_of_range', {
    expected: `an event code from 0 to ${EVENT_NAMES.length - 1}, or -1 for none, at events[${step}]`,
    got: describe(event),
    remedy: 'Pass a code of EVENT_NAMES, or -1.',
  });
}

/** Checks that each step has three numbers, or three NaN. */
function checkBeliefs(beliefs: ArrayLike<number>, steps: number): void {
  checkList('beliefs', beliefs, steps * NUM_BELIEFS, `${steps} x ${NUM_BELIEFS}`);
  for (let step = 0; step < steps; step++) {
    if (!isStated(beliefs, step)) continue;
    for (let k = 0; k < NUM_BELIEFS; k++)
      checkNumber(`beliefs[${step}][${k}]`, beliefs[step * NUM_BELIEFS + k]);
  }
}

/** Returns whether a belief was stated at a step. */
export const isStated = (beliefs: ArrayLike<number>, step: number): boolean =>
  Array.from({ length: NUM_BELIEFS }, (_, k) => beliefs[step * NUM_BELIEFS + k]).some(
    (value) => !Number.isNaN(value),
  );

/** Describes an episode in words (alternative text). */
export function episodeInWords(episode: TimelineEpisode): string {
  return [
    actionsInWords(episode),
    eventsInWords(episode),
    metersInWords(episode),
    beliefInWords(episode),
  ].join(' ');
}

const actionsInWords = ({ actions }: TimelineEpisode): string =>
  actions.length === 0 ? 'No step was taken.' : `Actions: ${daysInWords(actions)}.`;

function eventsInWords({ events }: TimelineEpisode): string {
  const texts = Array.from(events, (event, step) =>
    event < 0 ? '' : `${EVENT_NAMES[event]} on ${slotInWords(step)}`,
  );
  return `Events: ${texts.filter((text) => text !== '').join(', ') || 'none'}.`;
}

/** Formats the time of a step: "the evening of day 2". */
const slotInWords = (step: number): string => {
  const { slots, slotsPerDay } = RHYTHM;
  return `the ${slots[step % slotsPerDay]} of day ${Math.floor(step / slotsPerDay) + 1}`;
};

function metersInWords({ actions, meters }: TimelineEpisode): string {
  const from = actions.length * NUM_METERS;
  const ends = METER_NAMES.map((meter, k) => `${meter} ${decimal(meters[from + k], 2)}`);
  return `At the end ${ends.join(', ')}.`;
}

function beliefInWords({ actions, beliefs, target }: TimelineEpisode): string {
  const statedSteps = Array.from(actions, (_, step) => step).filter(
    (step) => beliefs && isStated(beliefs, step),
  );
  const last = statedSteps.at(-1);
  const textOf = (values: ArrayLike<number>, from: number): string =>
    BELIEF_NAMES.map((name, k) => `${name} ${decimal(values[from + k], 2)}`).join(', ');
  const stated =
    last === undefined ? 'No belief was stated.' : `Last belief: ${textOf(beliefs!, last * NUM_BELIEFS)}.`;
  return target === undefined ? stated : `${stated} Target: ${textOf(target, 0)}.`;
}
