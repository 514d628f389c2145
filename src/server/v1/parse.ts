/** POST /v1/parse: finds the actions and beliefs in completions. */
import { z } from 'zod';
import { NO_ACTION } from '../../engine/validate/steps.js';
import { BELIEF_OF_DIGIT, beginsInThought, parseText } from '../../rollouts/text/parse-completions.js';
import { describe } from '../../shared/values.js';
import { ACTION_NAMES, NUM_BELIEFS } from '../../world/fields.js';
import { listPieces, numberText } from '../http/json-response.js';
import type { Route } from '../http/openapi.js';
import { type Fault, fieldError } from '../protocol/errors.js';
import { BATCH_FAILURES, type BatchRunner } from './batch-runner.js';
import { column, THOUGHT } from './schemas.js';

export const PARSE_REQUEST = z.strictObject({
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

export const PARSE_RESPONSE = z.object({ rows: z.int(), world_digest: z.string(), ...PARSED_COLUMNS });

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

export const parseRoute = (runner: BatchRunner): Route => ({
  method: 'post',
  path: '/v1/parse',
  summary: 'The actions and beliefs in completions.',
  request: PARSE_REQUEST,
  response: PARSE_RESPONSE,
  failures: BATCH_FAILURES,
  handle: (http) =>
    runner.answer(
      http,
      PARSE_REQUEST,
      (request, turn) => parseColumn(request, runner, turn),
      ({ completions }) => completions.length * TYPICAL_LENGTH,
    ),
});

/**
 * Parses all rows, and returns the pieces of the JSON answer. @throws InvalidRequestError for the first row that is not a
 * string.
 */
async function parseColumn(
  { completions, thought }: z.output<typeof PARSE_REQUEST>,
  runner: BatchRunner,
  turn: () => Promise<void>,
): Promise<AsyncIterable<string>> {
  const inThought = beginsInThought(thought);
  const rows = completions.length;
  const beliefs = new Float32Array(rows * NUM_BELIEFS).fill(Number.NaN);
  const parsed = { actions: new Int8Array(rows), beliefs };
  await completions.forEach(turn, (text, row) => {
    if (typeof text !== 'string') throw fieldError('completions', notText(text, row));
    parseRow(parsed, row, text, inThought);
  });
  runner.count('parsed', rows);
  const head = JSON.stringify({ rows, world_digest: runner.worldDigest }).slice(0, -1);
  return (async function* () {
    yield `${head},`;
    yield* parsedPieces(parsed, turn);
    yield '}';
  })();
}

/** The JSON text of the belief that each digit stands for. */
const LEVELS = Array.from(BELIEF_OF_DIGIT, numberText);

/** Yields the pieces of a JSON object of PARSED_COLUMNS, without its braces. @param turn awaited before each slice of rows. */
export async function* parsedPieces(
  { actions, beliefs }: Answers,
  turn: () => Promise<void>,
): AsyncGenerator<string> {
  const entries = (from: number, to: number, entry: (row: number) => string): string =>
    Array.from({ length: to - from }, (_, k) => entry(from + k)).join();
  const actionText = (row: number): string =>
    actions[row] === NO_ACTION ? 'null' : `"${ACTION_NAMES[actions[row]]}"`;
  const beliefText = (row: number): string => {
    const [social, morning, work] = beliefs.subarray(row * NUM_BELIEFS, (row + 1) * NUM_BELIEFS);
    return Number.isNaN(social) ? 'null' : `[${levelText(social)},${levelText(morning)},${levelText(work)}]`;
  };
  yield '"actions":';
  yield* listPieces(actions.length, turn, (from, to) => entries(from, to, actionText));
  yield ',"codes":';
  yield* listPieces(actions.length, turn, (from, to) => actions.subarray(from, to).join());
  yield ',"beliefs":';
  yield* listPieces(actions.length, turn, (from, to) => entries(from, to, beliefText));
}

/** Returns the JSON text of a belief's number, which a digit stands for. */
const levelText = (level: number): string => LEVELS[Math.round(level * (LEVELS.length - 1))];
