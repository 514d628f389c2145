/** What an agent is shown, as JSON text: every public field, and the grade once the episode is over. */
import { z } from 'zod';
import type { StepResult } from '../../vec-env/options.js';
import {
  ACTION_NAMES,
  COMPONENT_FIELDS,
  EVENT_NAMES,
  OBSERVATION,
  OBSERVATION_FIELDS,
  OBSERVATION_SIZE,
} from '../../world/fields.js';
import { listText, numberText } from './numbers.js';

type Shown = Pick<
  StepResult,
  'observations' | 'rewards' | 'terminated' | 'finalScores' | 'components' | 'beliefMae' | 'episodeReturns'
>;

const jsonNames = (names: readonly string[]): readonly string[] => names.map((name) => JSON.stringify(name));
const EVENTS = jsonNames(EVENT_NAMES);
const ACTIONS = jsonNames(ACTION_NAMES);

const nameText = (names: readonly string[], code: number): string => (code < 0 ? 'null' : names[code]);

/** How a field is written that is not numbers. */
const WRITERS: Readonly<Record<string, (row: Float32Array, at: number, size: number) => string>> = {
  event: (row, at) => nameText(EVENTS, row[at]),
  last_action: (row, at) => nameText(ACTIONS, row[at]),
};

/** The reward stands beside the observation. */
const SHOWN_FIELDS = OBSERVATION_FIELDS.filter(({ name }) => name !== 'reward');
const FIELDS = SHOWN_FIELDS.map(({ name, offset, size }) => {
  const plain = size === 1 ? (row: Float32Array, at: number) => numberText(row[at]) : listOf;
  return { key: `"${name}":`, offset, size, write: WRITERS[name] ?? plain };
});

function listOf(row: Float32Array, at: number, size: number): string {
  return listText(row, at, at + size);
}

const UNGRADED = '"final_score":null,"components":null,"belief_mae":null,"episode_return":null}';

/**
 * `{"observation": ..., "reward": ..., "done": ...}` of one slot.
 * @param begins whether the episode has just begun: it has no reward yet.
 */
export function resultText(shown: Shown, slot: number, begins: boolean): string {
  const { observations, rewards } = shown;
  const base = slot * OBSERVATION_SIZE;
  let text = '{"observation":{';
  for (const { key, offset, size, write } of FIELDS)
    text += `${key}${write(observations, base + offset, size)},`;
  const done = isOver(shown, slot);
  const reward = begins ? 'null' : numberText(rewards[slot]);
  return `${text}${done ? gradeText(shown, slot) : UNGRADED},"reward":${reward},"done":${done}}`;
}

function gradeText({ finalScores, components, beliefMae, episodeReturns }: Shown, slot: number): string {
  const parts = COMPONENT_FIELDS.map(
    ({ name, offset }) => `"${name}":${numberText(components[slot * COMPONENT_FIELDS.length + offset])}`,
  );
  return (
    `"final_score":${numberText(finalScores[slot])},"components":{${parts.join(',')}},` +
    `"belief_mae":${numberText(beliefMae[slot])},"episode_return":${numberText(episodeReturns[slot])}}`
  );
}

/** Whether the slot's episode is over after this. */
export const isOver = ({ terminated }: Shown, slot: number): boolean => terminated[slot] !== 0;

/** Steps that the slot's episode has taken. */
export const stepsOf = ({ observations }: Shown, slot: number): number =>
  observations[slot * OBSERVATION_SIZE + OBSERVATION.step];

const number = z.number();
const fieldSchema = ({ name, size, meaning, low, high }: (typeof OBSERVATION_FIELDS)[number]): z.ZodType => {
  if (name === 'event') return z.enum(EVENT_NAMES).nullable().describe('event of the step just taken');
  if (name === 'last_action')
    return z.enum(ACTION_NAMES).nullable().describe('action of the step just taken');
  // Beyond this a bound holds for any world and says nothing.
  const bounded = high < 1e6 ? number.min(low).max(high) : number;
  return (size === 1 ? bounded : z.array(bounded).length(size)).describe(meaning);
};

/** For documentation: what `resultText` writes is made to follow it, and tested against it. */
export const OBSERVATION_SCHEMA = z.strictObject({
  ...Object.fromEntries(SHOWN_FIELDS.map((field) => [field.name, fieldSchema(field)])),
  final_score: number.min(0).max(1).nullable().describe('the grade, once the episode is over'),
  components: z
    .strictObject(
      Object.fromEntries(
        COMPONENT_FIELDS.map(({ name, meaning }) => [name, number.min(0).max(1).describe(meaning)]),
      ),
    )
    .nullable()
    .describe('what the grade consists of, once the episode is over'),
  belief_mae: number.min(0).max(1).nullable().describe('mean absolute error of the last belief'),
  episode_return: number.nullable().describe('sum of the rewards'),
});

export const RESULT_SCHEMA = z.strictObject({
  observation: OBSERVATION_SCHEMA,
  reward: number.nullable().describe('of the step just taken; null after a reset'),
  done: z.boolean().describe('whether the episode has ended'),
});
