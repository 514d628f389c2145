/** POST /v1/parse: finds the actions and beliefs in completions. */
import { z } from 'zod';
import { NO_ACTION } from '../../engine/validate/steps.js';
import { BELIEF_OF_DIGIT, beginsInThought, parseText } from '../../rollouts/text/parse-completions.js';
import type { Fault } from '../../shared/errors.js';
import { describe } from '../../shared/values.js';
import { ACTION_NAMES, NUM_BELIEFS } from '../../world/fields.js';
import { type Fields, List, listOf, numberText } from '../http/json-response.js';
import { fieldError } from '../protocol/errors.js';
import type { BatchRoute } from './batch-runner.js';
import { column, THOUGHT } from './schemas.js';

const REQUEST = z.strictObject({
  completions: column(z.string()).describe('texts to parse'),
  thought: THOUGHT,
});

/** The columns of parsed completions in a response. */
export const PARSED_COLUMNS = {
  actions: z
    .array(z.enum(ACTION_NAMES).nullable())
    .describe('the name of the action of each row; null for none'),
  codes: z.array(z.int()).describe('the action code of each row; -1 for none'),
  beliefs: z
    .array(z.array(z.number()).length(NUM_BELIEFS).nullable())
    .describe('social, morning, work in [0, 1]; null for no belief'),
};

/** Parsed completions. */
export interface Answers {
  /** i8 [rows]: action codes, NO_ACTION for none. */
  readonly actions: Int8Array;
  /** f32 [rows, 3]; NaN for no belief. */
  readonly beliefs: Float32Array;
}

/** Parses the completion of a row. @param inThought whether it begins inside a thought. */
export function parseRow({ actions, beliefs }: Answers, row: number, text: string, inThought: boolean): void {
  const { action, belief, given } = parseText(text, inThought);
  actions[row] = action ?? NO_ACTION;
  if (given) beliefs.set(belief, row * NUM_BELIEFS);
}

/** Describes a row of `completions` that is not text. */
export const notText = (got: unknown, row: number): Fault => ({
  expected: `a string at completions[${row}]`,
  got: describe(got),
  remedy: "Pass the completion's text alone.",
});

/** The typical length of a row of the answer, in characters. The estimate of an answer's length uses it. */
const TYPICAL_LENGTH = 80;

export const PARSE: BatchRoute<typeof REQUEST> = {
  path: '/v1/parse',
  summary: 'The actions and beliefs in completions.',
  request: REQUEST,
  response: z.object({ rows: z.int(), world_digest: z.string(), ...PARSED_COLUMNS }),
  lengthOf: ({ completions }) => completions.length * TYPICAL_LENGTH,
  answer: async ({ completions, thought }, { worldDigest, count, turn }) => {
    const inThought = beginsInThought(thought);
    const rows = completions.length;
    const beliefs = new Float32Array(rows * NUM_BELIEFS).fill(Number.NaN);
    const parsed = { actions: new Int8Array(rows), beliefs };
    await completions.forEach(turn, (text, row) => {
      if (typeof text === 'string') return parseRow(parsed, row, text, inThought);
      const { expected, got, remedy } = notText(text, row);
      throw fieldError(['completions', row], expected, got, remedy);
    });
    count('parsed', rows);
    return { rows, world_digest: worldDigest, ...parsedFields(parsed) };
  },
};

/** The JSON text of the belief that each digit stands for. */
const LEVELS = Array.from(BELIEF_OF_DIGIT, numberText);

/** Returns the fields of PARSED_COLUMNS. */
export function parsedFields({ actions, beliefs }: Answers): Fields {
  const list = (entry: (row: number) => string): List =>
    new List(actions.length, (from, to) =>
      Array.from({ length: to - from }, (_, k) => entry(from + k)).join(),
    );
  const actionText = (row: number): string =>
    actions[row] === NO_ACTION ? 'null' : `"${ACTION_NAMES[actions[row]]}"`;
  const beliefText = (row: number): string => {
    const [social, morning, work] = beliefs.subarray(row * NUM_BELIEFS, (row + 1) * NUM_BELIEFS);
    return Number.isNaN(social) ? 'null' : `[${levelText(social)},${levelText(morning)},${levelText(work)}]`;
  };
  return { actions: list(actionText), codes: listOf(actions), beliefs: list(beliefText) };
}

/** Returns the JSON text of a belief's number, which a digit stands for. */
const levelText = (level: number): string => LEVELS[Math.round(level * (LEVELS.length - 1))];
