/** POST /v1/score: scores completions, each after the actions of its history. */
import { z } from 'zod';
import { scoreReplay } from '../../rollouts/node.js';
import type { RowFault } from '../../rollouts/replay/row-faults.js';
import type { ReplayOptions, ReplayScores } from '../../rollouts/replay/score-replay.js';
import { REWARD_NAMES, type RewardName, toStackSettings } from '../../rollouts/rewards/compute-rewards.js';
import { parseCompletion } from '../../rollouts/text/parse.js';
import { snakeCase } from '../../shared/letter-case.js';
import { describe } from '../../shared/values.js';
import { NUM_BELIEFS } from '../../world/fields.js';
import type { Route } from '../http/route.js';
import { BATCH_FAILURES, type Batches } from './batches.js';
import { columnsOf, sliceEnd } from './column.js';
import { rowsOf, withColumnNames } from './request-rows.js';
import {
  ACTION,
  checkRows,
  column,
  GRADER,
  graderOf,
  HISTORIES,
  invalidField,
  PROFILE_MODES,
  SEEDS,
} from './schemas.js';
import { SCORE_NAMES, ScoreColumns } from './score-columns.js';

const WEIGHTS = Object.fromEntries(REWARD_NAMES.map((name) => [snakeCase(name), z.number().optional()]));

export const SCORE_REQUEST = z.strictObject({
  seeds: SEEDS,
  action_histories: HISTORIES,
  profile_modes: PROFILE_MODES,
  completions: column(z.string()).optional().describe('texts to parse; pass either these or actions'),
  actions: column(ACTION.nullable()).optional().describe('null for a completion without an action'),
  beliefs: column(z.array(z.number()).length(NUM_BELIEFS).nullable())
    .optional()
    .describe('only with actions; null for no belief'),
  grader: GRADER,
  weights: z
    .strictObject(WEIGHTS)
    .optional()
    .describe('the weight of each reward in the total; by default 1'),
  shaping: z
    .strictObject({ repetition: z.boolean().optional(), exploration: z.boolean().optional() })
    .optional(),
  scores: z
    .array(z.enum(SCORE_NAMES))
    .max(SCORE_NAMES.length)
    .optional()
    .describe('the scores to return; by default all'),
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
  faults: z
    .array(z.object({ index: z.int(), code: z.string(), message: z.string() }))
    .describe('the invalid rows'),
});

/** The maximum number of rows per turn of the event loop, about four milliseconds of work; fewer if many are invalid. */
const SLICE = 2048;
const FAULTY_SLICE = 128;
/**
 * The maximum number of characters of fault messages that are kept. Further messages are recomputed when they are sent,
 * because they take far more memory than the rows.
 */
const MAX_KEPT = 2 ** 22;

export const scoreRoute = (batches: Batches): Route => ({
  method: 'post',
  path: '/v1/score',
  summary: 'The rewards of completions or actions: the reward stack, after a replay from seed and history.',
  request: SCORE_REQUEST,
  response: SCORE_RESPONSE,
  failures: BATCH_FAILURES,
  handle: (http) =>
    batches.answer(http, SCORE_REQUEST, (request, turn) => {
      checkRequest(request);
      return score(request, batches, turn);
    }),
});

function checkRequest({
  seeds,
  action_histories,
  profile_modes,
  completions,
  actions,
  beliefs,
}: ScoreRequest): void {
  checkRows(seeds.length, { action_histories, profile_modes, completions, actions, beliefs });
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
}

type Slice = readonly [from: number, to: number];

/** Returns the pieces of the JSON answer. */
async function score(
  request: ScoreRequest,
  batches: Batches,
  turn: () => Promise<void>,
): Promise<AsyncIterable<string>> {
  const rows = request.seeds.length;
  const options = optionsOf(request, batches);
  const requestColumns = columnsOf(request);
  const columns = new ScoreColumns(rows, request.scores ?? SCORE_NAMES, toStackSettings(options));
  const faulty: (string | Slice)[] = [];
  let keptLength = 0;
  let size = FAULTY_SLICE;
  for (let from = 0; from < rows; ) {
    await turn();
    const to = sliceEnd(requestColumns, from, size);
    const { scores, faults } = scoreSlice(request, from, to, options);
    columns.put(scores, from);
    if (faults.length > 0) {
      const text = JSON.stringify(faults).slice(1, -1);
      keptLength += text.length;
      faulty.push(keptLength < MAX_KEPT ? text : [from, to]);
    }
    // Describing a fault takes longer than scoring a row.
    size = faults.length > FAULTY_SLICE / 2 ? FAULTY_SLICE : Math.min(2 * size, SLICE);
    from = to;
  }
  batches.count('scored', rows);
  const digest = JSON.stringify(batches.worldDigest);
  return (async function* () {
    yield `{"rows":${rows},"world_digest":${digest},"scores":`;
    yield* columns.text(turn);
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

const optionsOf = ({ grader, weights, shaping }: ScoreRequest, { engine }: Batches): ReplayOptions => ({
  ...engine,
  // A slice is finished before a second thread has started.
  threads: 1,
  grader: graderOf(grader),
  shaping,
  weights: weights && byReward(weights),
});

function byReward(weights: Readonly<Record<string, number | undefined>>): ReplayOptions['weights'] {
  const named = REWARD_NAMES.map((name): [RewardName, number] => [name, weights[snakeCase(name)] ?? 1]);
  return Object.fromEntries(named);
}

/** Scores rows `from` up to `to` (excluded). @throws RefusedError for invalid JSON. */
function scoreSlice(
  request: ScoreRequest,
  from: number,
  to: number,
  options: ReplayOptions,
): { scores: ReplayScores; faults: RowFault[] } {
  const texts = request.completions?.rows(from, to);
  const actions = request.actions?.rows(from, to) ?? [];
  const beliefs = request.beliefs?.rows(from, to) ?? [];
  const propose = texts
    ? (k: number) => answerOf(texts[k])
    : (k: number) => ({ action: actions[k], belief: beliefs[k] });
  const scores = withoutStacks(() => scoreReplay(rowsOf(request, from, to, propose as never), options));
  const faults = scores.faults.map(({ index, code, message }): RowFault => {
    const text = texts?.[index];
    const rowMessage =
      texts !== undefined && typeof text !== 'string'
        ? `Expected a string at completions[${from + index}], got ${describe(text)}. Pass the completion's text alone.`
        : withColumnNames(message, from);
    return { index: from + index, code, message: rowMessage };
  });
  return { scores, faults };
}

/** Runs `act` without recording stacks of errors, which halves the time of thousands of errors. */
function withoutStacks<T>(act: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return act();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Parses a completion. A value that is not text yields an undefined action, which is a fault of the row. */
function answerOf(text: unknown): { readonly action: unknown; readonly belief?: readonly number[] } {
  if (typeof text !== 'string') return { action: undefined };
  const { action, belief, given } = parseCompletion(text);
  return given ? { action, belief } : { action };
}
