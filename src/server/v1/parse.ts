/** POST /v1/parse: finds the actions and beliefs in completions. */
import { z } from 'zod';
import { beginsInThought, parseText } from '../../rollouts/text/parse-completions.js';
import { describe } from '../../shared/values.js';
import type { Route } from '../http/route.js';
import { BATCH_FAILURES, type BatchRunner } from './batch-runner.js';
import { column, invalidFieldError, THOUGHT } from './batch-schemas.js';
import { sliceEnd } from './column.js';
import { PARSED_COLUMNS, ParsedColumns } from './parsed-columns.js';

export const PARSE_REQUEST = z.strictObject({
  completions: column(z.string()).describe('texts to parse'),
  thought: THOUGHT,
});

export const PARSE_RESPONSE = z.object({ rows: z.int(), world_digest: z.string(), ...PARSED_COLUMNS });

/** The typical length of a row of the answer, in characters. The estimate of an answer's length uses it. */
const TYPICAL_LENGTH = 80;
/** The maximum number of rows per turn of the event loop, a few milliseconds of work. */
const SLICE = 2048;

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
  const parsed = new ParsedColumns(rows);
  for (let from = 0, to = 0; from < rows; from = to) {
    await turn();
    to = sliceEnd([completions], from, SLICE);
    for (const [k, text] of completions.rows(from, to).entries()) {
      if (typeof text !== 'string') throw invalidFieldError('completions', notTextMessage(text, from + k));
      parsed.put(from + k, parseText(text, inThought));
    }
  }
  runner.count('parsed', rows);
  const head = JSON.stringify({ rows, world_digest: runner.worldDigest }).slice(0, -1);
  return (async function* () {
    yield `${head},`;
    yield* parsed.text(turn);
    yield '}';
  })();
}

/** Returns the error message for a row of `completions` that is not text. */
export const notTextMessage = (got: unknown, row: number): string =>
  `Expected a string at completions[${row}], got ${describe(got)}. Pass the completion's text alone.`;
