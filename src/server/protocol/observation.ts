/** Writes results of resets and steps as JSON: the observation with the grade, the reward, and whether the episode is over. */
import { z } from 'zod';
import type { StepResult } from '../../engine/vec-env/vec-env-options.js';
import { systemText, userText } from '../../rollouts/text/prompt-text.js';
import type { TextReward } from '../../rollouts/text/text-env.js';
import {
  ACTION_NAMES,
  COMPONENT_FIELDS,
  EVENT_NAMES,
  OBSERVATION,
  OBSERVATION_FIELDS,
  OBSERVATION_SIZE,
} from '../../world/fields.js';
import { listText, numberText } from '../http/json-response.js';

type Outputs = Pick<
  StepResult,
  'observations' | 'rewards' | 'terminated' | 'finalScores' | 'components' | 'beliefMae' | 'episodeReturns'
>;

const jsonNames = (names: readonly string[]): readonly string[] => names.map((name) => JSON.stringify(name));
const EVENTS = jsonNames(EVENT_NAMES);
const ACTIONS = jsonNames(ACTION_NAMES);

const nameText = (names: readonly string[], code: number): string => (code < 0 ? 'null' : names[code]);

/** Writers of the fields whose codes are written as names. */
const WRITERS: Readonly<Record<string, (row: Float32Array, at: number, size: number) => string>> = {
  event: (row, at) => nameText(EVENTS, row[at]),
  last_action: (row, at) => nameText(ACTIONS, row[at]),
};

/** All fields but the reward, which is written beside the observation. */
const WRITTEN_FIELDS = OBSERVATION_FIELDS.filter(({ name }) => name !== 'reward');
/** The same fields, with their keys in JSON and the functions that write their values. */
const FIELDS = WRITTEN_FIELDS.map(({ name, offset, size }) => {
  const plain = size === 1 ? (row: Float32Array, at: number) => numberText(row[at]) : listOf;
  return { key: `"${name}":`, offset, size, write: WRITERS[name] ?? plain };
});

function listOf(row: Float32Array, at: number, size: number): string {
  return listText(row, at, at + size);
}

/** The end of an observation without a grade. */
const UNGRADED = '"final_score":null,"components":null,"belief_mae":null,"episode_return":null}';

/** How an episode's results are written. */
export interface ResultForm {
  /** Whether observations are texts: `prompt`, and `rules` after a reset. */
  readonly inText: boolean;
  readonly reward: TextReward;
}

/**
 * Writes the result of one environment after a reset, which has no reward: `{"observation": ..., "reward": null, "done": ...}`.
 * @param grader the weights, which rules in text describe.
 */
export function resetText(
  outputs: Outputs,
  envIndex: number,
  { inText }: ResultForm,
  grader: Float32Array,
): string {
  const rules = inText ? `"rules":${JSON.stringify(systemText(grader))},` : '';
  return resultText(outputs, envIndex, `${rules}${fieldsText(outputs, envIndex, inText)}`, 'null');
}

/** Writes the result of one environment after a step: `{"observation": ..., "reward": ..., "done": ...}`. */
export const stepText = (outputs: Outputs, envIndex: number, { inText, reward }: ResultForm): string =>
  resultText(outputs, envIndex, fieldsText(outputs, envIndex, inText), rewardText(outputs, envIndex, reward));

const resultText = (outputs: Outputs, envIndex: number, fields: string, reward: string): string => {
  const done = isOver(outputs, envIndex);
  return `{"observation":{${fields}${done ? gradeText(outputs, envIndex) : UNGRADED},"reward":${reward},"done":${done}}`;
};

function fieldsText({ observations }: Outputs, envIndex: number, inText: boolean): string {
  const base = envIndex * OBSERVATION_SIZE;
  if (inText) return `"prompt":${JSON.stringify(userText(observations, base, 'new'))},`;
  let text = '';
  for (const { key, offset, size, write } of FIELDS)
    text += `${key}${write(observations, base + offset, size)},`;
  return text;
}

/** Returns what a step pays, as JSON. */
export function rewardText(outputs: Outputs, envIndex: number, kind: TextReward): string {
  const reward = outputs.rewards[envIndex];
  if (!isOver(outputs, envIndex)) return kind === 'final' ? '0' : numberText(reward);
  const score = outputs.finalScores[envIndex];
  return kind === 'both' ? String(reward + score) : numberText(kind === 'final' ? score : reward);
}

/** Returns the end of an observation with its grade, without the opening brace. */
export function gradeText(
  { finalScores, components, beliefMae, episodeReturns }: Outputs,
  envIndex: number,
): string {
  const parts = COMPONENT_FIELDS.map(
    ({ name, offset }) => `"${name}":${numberText(components[envIndex * COMPONENT_FIELDS.length + offset])}`,
  );
  return (
    `"final_score":${numberText(finalScores[envIndex])},"components":{${parts.join(',')}},` +
    `"belief_mae":${numberText(beliefMae[envIndex])},"episode_return":${numberText(episodeReturns[envIndex])}}`
  );
}

/** Returns whether the environment's episode is over. */
export const isOver = ({ terminated }: Outputs, envIndex: number): boolean => terminated[envIndex] !== 0;

/** Returns the number of steps that the environment's episode has taken. */
export const stepsOf = ({ observations }: Outputs, envIndex: number): number =>
  observations[envIndex * OBSERVATION_SIZE + OBSERVATION.step];

const number = z.number();
const fieldSchema = ({ name, size, meaning, low, high }: (typeof OBSERVATION_FIELDS)[number]): z.ZodType => {
  if (name === 'event') return z.enum(EVENT_NAMES).nullable().describe('event of the step just taken');
  if (name === 'last_action')
    return z.enum(ACTION_NAMES).nullable().describe('action of the step just taken');
  // The schema leaves out the bounds of anomalies: they hold in any world, so they are too large to be useful.
  const bounded = high < 1e6 ? number.min(low).max(high) : number;
  return (size === 1 ? bounded : z.array(bounded).length(size)).describe(meaning);
};

/** The schemas of the grade in an observation. */
const GRADE = {
  final_score: number.min(0).max(1).nullable().describe('the grade, once the episode is over'),
  components: z
    .strictObject(
      Object.fromEntries(
        COMPONENT_FIELDS.map(({ name, low, high, meaning }) => [
          name,
          number.min(low).max(high).describe(meaning),
        ]),
      ),
    )
    .nullable()
    .describe('the components of the grade, once the episode is over'),
  belief_mae: number.min(0).max(1).nullable().describe('mean absolute error of the last belief'),
  episode_return: number.nullable().describe('sum of the rewards'),
};

/** The schema of the observation in a result, for documentation. Tests compare it with `resetText` and `stepText`. */
export const OBSERVATION_SCHEMA = z.strictObject({
  ...Object.fromEntries(WRITTEN_FIELDS.map((field) => [field.name, fieldSchema(field)])),
  ...GRADE,
});
/** The schema of the observation in a text episode. */
export const TEXT_SCHEMA = z.strictObject({
  rules: z
    .string()
    .optional()
    .describe('how an episode goes, what the grader pays for, how to answer; after a reset'),
  prompt: z.string().describe('the state, and the last step'),
  ...GRADE,
});

export const RESULT_SCHEMA = z.strictObject({
  observation: z.union([OBSERVATION_SCHEMA, TEXT_SCHEMA]),
  reward: number.nullable().describe('what the step just taken pays; null after a reset'),
  done: z.boolean().describe('whether the episode has ended'),
});
