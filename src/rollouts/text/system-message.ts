/** The system message: the rules of an episode and what its grader pays for. The message is the same for every profile. */
import { type GraderLike, graderWeights } from '../../engine/graders/grader.js';
import {
  ACTION_NAMES,
  BELIEF_NAMES,
  COMPONENT_NAMES,
  EVENT_NAMES,
  GRADER_NAMES,
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

/** The text about grading for v1 and v2. */
const V1_AND_V2 = `The week is graded at its end: few crashes, high progress and connection, high rewards that rise from the first half to the \
second, and a true belief about the person.`;

const firstSkillDay = 1 + Math.floor(RHYTHM.constants.beliefSkillFrom / slots.length);
/** What a grader pays for, by component. */
const PAID: Readonly<Record<string, string>> = {
  crash_free: 'No crashes.',
  progress: 'High progress at the end.',
  connection: 'High connection at the end.',
  adaptation: 'Rewards that rise from the first half of the week to the second.',
  efficiency: 'High rewards on average.',
  belief_accuracy: 'A true belief about the person at the end.',
  wellbeing:
    'A good week as this person feels it: meters kept high from the first slot to the last, above all those that this person values.',
  belief_skill: `Knowing the person: a calibrated belief in every slot from day ${firstSkillDay} on. A bold wrong guess costs.`,
};

/** Describes the components whose weights are not 0, the largest magnitude first. @param weights f32 [8]. */
function gradingOf(weights: Float32Array): string {
  const lines = COMPONENT_NAMES.map((name, k) => ({ weight: weights[k], text: PAID[name] }))
    .filter(({ weight }) => weight !== 0)
    .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight))
    .map(({ weight, text }) => `- ${weight < 0 ? 'To avoid, because it costs: ' : ''}${text}`);
  return ['The week is graded at its end. What counts, the most important first:', ...lines].join('\n');
}

const textOf = (
  grading: string,
): string => `You guide one person through one week: ${days} days of ${slots.length} slots \
(${list(slots)}), ${maxEpisodeSteps} in all. In each slot you choose one of ${NUM_ACTIONS} actions, all of them always allowed:
${kinds.join('\n')}

The person has ${NUM_METERS} meters from 0 to 1: ${list(METER_NAMES)}. Actions change them, more or less by the time of day; \
they also decay by themselves, and now and then an event strikes (${list(EVENT_NAMES)}). A meter near 0 is a crash and costs reward.

Everyone responds differently, and who the person is stays hidden. You must work it out:
- The reward says how a slot felt to this person, who values some meters more than others. It holds luck.
- An anomaly is the part of a meter's change that an average person would not have had, from the same action, slot and \
meters: what is personal, and luck, but neither decay nor events. What repeats is personal: how company, work, rest and the \
time of day act on this person.

${grading}

Answer with one line: ${ANSWER_FORM}
${list(letters)} are digits from 0 to 9, your belief about the person; where you do not know yet, stay near the middle:
${digits.join('\n')}
ACTION_NAME is one of the actions above. Example: 4 6 5 ${spell(ACTION_NAMES[0])}
You may think first, inside <reasoning>...</reasoning>; close it, then give the line and nothing after it.`;

const PUBLISHED: readonly string[] = ['v1', 'v2'];
const BUILT_IN = GRADER_NAMES.map((name) => {
  const weights = graderWeights(name);
  return { weights, text: textOf(PUBLISHED.includes(name) ? V1_AND_V2 : gradingOf(weights)) };
});

/**
 * Returns the system message under a grader. The message depends on the weights alone. Its text about grading is
 * V1_AND_V2 for the weights of v1 and v2; for other weights it has a line for each component whose weight is not 0.
 * @throws InputError as `graderWeights`.
 */
export function systemText(grader: GraderLike = 'v2'): string {
  const weights = graderWeights(grader);
  const builtIn = BUILT_IN.find((each) => each.weights.every((weight, k) => weight === weights[k]));
  return builtIn?.text ?? textOf(gradingOf(weights));
}
