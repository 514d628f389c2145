/** The system message: the rules of an episode. It is the same for every profile and grader. */
import {
  ACTION_NAMES,
  BELIEF_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  NUM_ACTIONS,
  NUM_METERS,
} from '../../world/fields.js';
import { RHYTHM } from '../../world/numbers.js';

/** Returns an action's name as answers spell it. */
export const spell = (action: string): string => action.toUpperCase();

/** The meaning of digits 0 and 9 of each belief, by BELIEF_NAMES. */
const DIGIT_MEANINGS = [
  ['hates company', 'loves company'],
  ['night owl', 'morning person'],
  ['avoids work', 'lives for work'],
] as const;

const letters = BELIEF_NAMES.map((name) => name[0].toUpperCase());
/** The form of an answer. */
export const ANSWER_FORM = `${letters.join(' ')} ACTION_NAME`;

const { slots, days, maxEpisodeSteps, categories, actions } = RHYTHM;
const list = (names: readonly string[]): string => names.join(', ');
const kinds = categories.map((category) => {
  const names = actions.filter((action) => action.category === category).map(({ name }) => spell(name));
  return `- ${category}: ${list(names)}`;
});
const digits = BELIEF_NAMES.map(
  (name, k) => `- ${letters[k]} (${name}): 0 ${DIGIT_MEANINGS[k][0]}, 9 ${DIGIT_MEANINGS[k][1]}`,
);

export const SYSTEM = `You guide one person through one week: ${days} days of ${slots.length} slots \
(${list(slots)}), ${maxEpisodeSteps} in all. In each slot you choose one of ${NUM_ACTIONS} actions, all of them always allowed:
${kinds.join('\n')}

The person has ${NUM_METERS} meters from 0 to 1: ${list(METER_NAMES)}. Actions change them, more or less by the time of day; \
they also decay by themselves, and now and then an event strikes (${list(EVENT_NAMES)}). A meter near 0 is a crash and costs reward.

Everyone responds differently, and who the person is stays hidden. You must work it out:
- The reward says how a slot felt to this person, who values some meters more than others. It holds luck.
- An anomaly is the part of a meter's change that an average person would not have had, from the same action, slot and \
meters: what is personal, and luck, but neither decay nor events. What repeats is personal: how company, work, rest and the \
time of day act on this person.

The week is graded at its end: few crashes, high progress and connection, high rewards that rise from the first half to the \
second, and a true belief about the person.

Answer with one line: ${ANSWER_FORM}
${list(letters)} are digits from 0 to 9, your belief about the person; where you do not know yet, stay near the middle:
${digits.join('\n')}
ACTION_NAME is one of the actions above. Example: 4 6 5 ${spell(ACTION_NAMES[0])}
You may think first, inside <reasoning>...</reasoning>; close it, then give the line and nothing after it.`;
