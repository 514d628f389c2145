/** POST /v1/score: scores completions or actions, each after a history of actions. */
import { NODE } from '../../engine/backends/node.js';
import type { RowFault } from '../../rollouts/replay/row-faults.js';
import { type ReplayOptions, scoreReplayOn } from '../../rollouts/replay/score-replay.js';
import { toStackSettings } from '../../rollouts/rewards/compute-rewards.js';
import { beginsInThought, type ParsedCompletion, parseText } from '../../rollouts/text/parse-completions.js';
import type { Route } from '../http/route.js';
import { BATCH_FAILURES, type BatchRunner } from './batch-runner.js';
import { graderOf } from './batch-schemas.js';
import { columnsOf, sliceEnd } from './column.js';
import { notTextMessage } from './parse.js';
import { namingOf, rowsOf } from './request-rows.js';
import { scoreFrame } from './score-frame.js';
import {
  checkRequest,
  replayOptions,
  SCORE_REQUEST,
  SCORE_RESPONSE,
  type ScoreRequest,
} from './score-request.js';
import {
  type FaultySlice,
  type RowSource,
  type ScoredSlice,
  scoreSlices,
  withoutStacks,
} from './score-slices.js';

export const scoreRoute = (runner: BatchRunner): Route => ({
  method: 'post',
  path: '/v1/score',
  summary: 'The rewards of completions or actions: the reward stack, after a replay from seed and history.',
  request: SCORE_REQUEST,
  response: SCORE_RESPONSE,
  failures: BATCH_FAILURES,
  acceptsFrames: true,
  handle: (http) =>
    http.isFrame
      ? runner.answerFrame(http, (body, turn) => scoreFrame(body, runner, turn))
      : runner.answer(http, SCORE_REQUEST, (request, turn) => {
          checkRequest(request);
          return score(request, runner, turn);
        }),
});

/** Returns the pieces of the JSON answer. @param turn awaited before each slice, as in scheduler.ts. */
async function score(
  request: ScoreRequest,
  runner: BatchRunner,
  turn: () => Promise<void>,
): Promise<AsyncIterable<string>> {
  const rows = request.seeds.length;
  const options = replayOptions(request, runner);
  const requestColumns = columnsOf(request);
  const source: RowSource = {
    rows,
    endOf: (from, limit) => sliceEnd(requestColumns, from, limit),
    score: (from, to) => scoreSlice(request, from, to, options),
  };
  const settings = toStackSettings(options, graderOf(request.grader));
  const { columns, parsed, faulty } = await scoreSlices(source, request, settings, turn);
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
    yield* faultsText(faulty, turn);
    yield '}';
  })();
}

/** Yields the pieces of a JSON array of faults. */
async function* faultsText(
  faulty: readonly FaultySlice[],
  turn: () => Promise<void>,
): AsyncGenerator<string> {
  let before = '[';
  for (const { text } of faulty) {
    await turn();
    yield before + text();
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** Scores rows `from` up to `to` (excluded). @throws InvalidRequestError for invalid JSON. */
function scoreSlice(request: ScoreRequest, from: number, to: number, options: ReplayOptions): ScoredSlice {
  const texts = request.completions?.rows(from, to);
  const actions = request.actions?.rows(from, to) ?? [];
  const beliefs = request.beliefs?.rows(from, to) ?? [];
  const inThought = beginsInThought(request.thought);
  const answers = texts?.map((text) => (typeof text === 'string' ? parseText(text, inThought) : null));
  const propose = answers
    ? (k: number) => answerOf(answers[k])
    : (k: number) => ({ action: actions[k], belief: beliefs[k] });
  const scores = withoutStacks(() =>
    scoreReplayOn(NODE, rowsOf(request, from, to, propose as never), options, namingOf(from)),
  );
  const faults = scores.faults.map(({ index, code, message }): RowFault => {
    const text = texts?.[index];
    const rowMessage =
      texts !== undefined && typeof text !== 'string' ? notTextMessage(text, from + index) : message;
    return { index: from + index, code, message: rowMessage };
  });
  return { scores, faults, answers };
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
