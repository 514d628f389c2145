/** POST /v1/score: scores completions or actions, each after a history of actions. */
import { z } from 'zod';
import { NODE } from '../../engine/backends/node.js';
import type { RowFault } from '../../rollouts/replay/row-faults.js';
import { type ReplayOptions, type ReplayScores, scoreReplayOn } from '../../rollouts/replay/score-replay.js';
import { REWARD_NAMES, toStackSettings } from '../../rollouts/rewards/compute-rewards.js';
import { type ParsedCompletion, parseCompletion } from '../../rollouts/text/parse-completions.js';
import { snakeCase } from '../../shared/letter-case.js';
import { NUM_STEPS } from '../../world/fields.js';
import type { Route } from '../http/route.js';
import { BATCH_FAILURES, type BatchRunner } from './batch-runner.js';
import {
  ACTION,
  absent,
  BELIEF,
  checkRows,
  column,
  GRADER,
  graderOf,
  HISTORIES,
  invalidField,
  PROFILE_MODES,
  SEEDS,
} from './batch-schemas.js';
import { columnsOf, sliceEnd } from './column.js';
import { noText } from './parse.js';
import { PARSED_COLUMNS, ParsedColumns } from './parsed-columns.js';
import { rowsOf, withColumnNames } from './request-rows.js';
import { SCORE_NAMES, ScoreColumns } from './score-columns.js';

const WEIGHTS = Object.fromEntries(REWARD_NAMES.map((name) => [snakeCase(name), z.number().optional()]));

export const SCORE_REQUEST = z.strictObject({
  seeds: SEEDS,
  action_histories: HISTORIES,
  profile_modes: PROFILE_MODES,
  completions: column(z.string())
    .nullish()
    .transform(absent)
    .describe('texts to parse; pass either these or actions'),
  actions: column(ACTION.nullable())
    .nullish()
    .transform(absent)
    .describe('null for a completion without an action'),
  beliefs: column(BELIEF).nullish().transform(absent).describe('only with actions; null for no belief'),
  belief_histories: column(z.array(BELIEF).max(NUM_STEPS).nullable())
    .nullish()
    .transform(absent)
    .describe(
      `the beliefs given with the actions of each history, as many or ${NUM_STEPS}; null for none. By default none was given`,
    ),
  grader: GRADER,
  weights: z
    .strictObject(WEIGHTS)
    .nullish()
    .transform(absent)
    .describe(
      'the weight of each reward in the total; by default 1, but 0 for a belief_skill that the grader does not weigh',
    ),
  shaping: z
    .strictObject({ repetition: z.boolean().optional(), exploration: z.boolean().optional() })
    .nullish()
    .transform(absent),
  scores: z
    .array(z.enum(SCORE_NAMES))
    .max(SCORE_NAMES.length)
    .nullish()
    .transform(absent)
    .describe('the scores to return; by default all'),
  parsed: z
    .boolean()
    .nullish()
    .transform(absent)
    .describe('whether to return the actions and beliefs in the completions; by default false'),
});
type ScoreRequest = z.output<typeof SCORE_REQUEST>;

const NUMBERS = z.array(z.number().nullable());
export const SCORE_RESPONSE = z.object({
  rows: z.int(),
  world_digest: z.string(),
  scores: z
    .object({ ...Object.fromEntries(SCORE_NAMES.map((name) => [name, NUMBERS.optional()])) })
    .extend({ state_hash: z.array(z.string()).optional() })
    .describe('null for a missing score and in invalid rows; hashes are hexadecimal, 0 in invalid rows'),
  parsed: z.object(PARSED_COLUMNS).optional(),
  faults: z
    .array(z.object({ index: z.int(), code: z.string(), message: z.string() }))
    .describe('the invalid rows'),
});

/** The maximum number of rows per turn of the event loop: about four milliseconds of work. */
const SLICE = 2048;
/** The same if many rows are invalid: an error message takes longer than a score. */
const FAULTY_SLICE = 128;
/**
 * The maximum number of characters of error messages in memory. Further messages are recomputed when they are sent.
 */
const MAX_KEPT = 2 ** 22;

export const scoreRoute = (runner: BatchRunner): Route => ({
  method: 'post',
  path: '/v1/score',
  summary: 'The rewards of completions or actions: the reward stack, after a replay from seed and history.',
  request: SCORE_REQUEST,
  response: SCORE_RESPONSE,
  failures: BATCH_FAILURES,
  handle: (http) =>
    runner.answer(http, SCORE_REQUEST, (request, turn) => {
      checkRequest(request);
      return score(request, runner, turn);
    }),
});

function checkRequest({
  seeds,
  action_histories,
  profile_modes,
  completions,
  actions,
  beliefs,
  belief_histories,
  parsed,
}: ScoreRequest): void {
  checkRows(seeds.length, {
    ...{ action_histories, profile_modes, completions },
    ...{ actions, beliefs, belief_histories },
  });
  if ((completions === undefined) === (actions === undefined)) {
    const got = actions === undefined ? 'neither' : 'both';
    throw invalidField(
      'completions',
      `Expected either completions or actions, got ${got}. Send one of them.`,
    );
  }
  if (completions !== undefined && beliefs !== undefined) {
    throw invalidField(
      'beliefs',
      'Expected beliefs with actions only, got them with completions, which contain theirs. Leave beliefs out.',
    );
  }
  if (parsed && completions === undefined) {
    throw invalidField('parsed', 'Expected parsed with completions only, got it with actions. Leave it out.');
  }
}

type Slice = readonly [from: number, to: number];

/** Returns the pieces of the JSON answer. */
async function score(
  request: ScoreRequest,
  runner: BatchRunner,
  turn: () => Promise<void>,
): Promise<AsyncIterable<string>> {
  const rows = request.seeds.length;
  const options = optionsOf(request, runner);
  const requestColumns = columnsOf(request);
  const settings = toStackSettings(options, graderOf(request.grader));
  const columns = new ScoreColumns(rows, request.scores ?? SCORE_NAMES, settings);
  const parsed = request.parsed ? new ParsedColumns(rows) : null;
  const faulty: (string | Slice)[] = [];
  let keptLength = 0;
  let size = FAULTY_SLICE;
  for (let from = 0; from < rows; ) {
    await turn();
    const to = sliceEnd(requestColumns, from, size);
    const { scores, faults, answers } = scoreSlice(request, from, to, options);
    columns.put(scores, from);
    answers?.forEach((answer, k) => {
      if (answer !== null) parsed?.put(from + k, answer);
    });
    if (faults.length > 0) {
      const text = JSON.stringify(faults).slice(1, -1);
      keptLength += text.length;
      faulty.push(keptLength < MAX_KEPT ? text : [from, to]);
    }
    size = faults.length > FAULTY_SLICE / 2 ? FAULTY_SLICE : Math.min(2 * size, SLICE);
    from = to;
  }
  runner.count('scored', rows);
  const digest = JSON.stringify(runner.worldDigest);
  return (async function* () {
    yield `{"rows":${rows},"world_digest":${digest},"scores":`;
    yield* columns.text(turn);
    if (parsed !== null) {
      yield ',"parsed":{';
      yield* parsed.text(turn);
      yield '}';
    }
    yield ',"faults":';
    yield* faultsText(faulty, ([from, to]) => scoreSlice(request, from, to, options).faults, turn);
    yield '}';
  })();
}

/**
 * Yields the pieces of a JSON array of faults.
 * @param faulty the text of each slice's faults, or the slice itself, to recompute them.
 */
async function* faultsText(
  faulty: readonly (string | Slice)[],
  faultsOf: (slice: Slice) => RowFault[],
  turn: () => Promise<void>,
): AsyncGenerator<string> {
  let before = '[';
  for (const entry of faulty) {
    await turn();
    yield before + (typeof entry === 'string' ? entry : JSON.stringify(faultsOf(entry)).slice(1, -1));
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

const optionsOf = ({ grader, weights, shaping }: ScoreRequest, { engine }: BatchRunner): ReplayOptions => ({
  ...engine,
  // A slice is finished before a second thread has started.
  threads: 1,
  grader: graderOf(grader),
  shaping,
  weights: weights && byReward(weights),
});

function byReward(weights: Readonly<Record<string, number | undefined>>): ReplayOptions['weights'] {
  return Object.fromEntries(REWARD_NAMES.map((name) => [name, weights[snakeCase(name)]]));
}

/** Scores rows `from` up to `to` (excluded). @throws InvalidRequestError for invalid JSON. */
function scoreSlice(
  request: ScoreRequest,
  from: number,
  to: number,
  options: ReplayOptions,
): { scores: ReplayScores; faults: RowFault[]; answers: (ParsedCompletion | null)[] | undefined } {
  const texts = request.completions?.rows(from, to);
  const actions = request.actions?.rows(from, to) ?? [];
  const beliefs = request.beliefs?.rows(from, to) ?? [];
  const answers = texts?.map((text) => (typeof text === 'string' ? parseCompletion(text) : null));
  const propose = answers
    ? (k: number) => answerOf(answers[k])
    : (k: number) => ({ action: actions[k], belief: beliefs[k] });
  const scores = withoutStacks(() =>
    scoreReplayOn(NODE, rowsOf(request, from, to, propose as never), options),
  );
  const faults = scores.faults.map(({ index, code, message }): RowFault => {
    const text = texts?.[index];
    const rowMessage =
      texts !== undefined && typeof text !== 'string'
        ? noText(text, from + index)
        : withColumnNames(message, from);
    return { index: from + index, code, message: rowMessage };
  });
  return { scores, faults, answers };
}

/** Runs `act` without recording the stacks of errors, which takes half of the time of thousands of errors. */
function withoutStacks<T>(act: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return act();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Returns the action and belief of a row. The action is undefined for a value that is not text: the row is then invalid. */
function answerOf(parsed: ParsedCompletion | null): {
  readonly action: unknown;
  readonly belief?: readonly number[];
} {
  if (parsed === null) return { action: undefined };
  const { action, belief, given } = parsed;
  return given ? { action, belief } : { action };
}
