/** POST /v1/score: scores completions or actions, each after a history of actions. */
import { z } from 'zod';
import { runSync } from '../../engine/engine-calls.js';
import type { ReplayColumns } from '../../rollouts/replay/row-columns.js';
import { Faults, type RowFault, RowNaming } from '../../rollouts/replay/row-faults.js';
import { type ReplayScores, replayRows, toReplaySettings } from '../../rollouts/replay/score-replay.js';
import { REWARD_NAMES } from '../../rollouts/rewards/compute-rewards.js';
import { beginsInThought } from '../../rollouts/text/parse-completions.js';
import { InputError } from '../../shared/errors.js';
import { snakeCase } from '../../shared/names.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { List, listOf } from '../http/json-response.js';
import type { BatchContext, BatchRoute } from './batch-runner.js';
import { ROW_NAMES, readRows, withoutStacks } from './json-columns.js';
import { notText, PARSED_COLUMNS, parsedFields, parseRow } from './parse.js';
import {
  ACTION,
  BELIEF,
  checkAnswers,
  checkRows,
  column,
  graderOf,
  HISTORIES,
  optional,
  PROFILE_MODES,
  SCORE_NAMES,
  SCORE_OPTIONS,
  type ScoreOptions,
  SEEDS,
} from './schemas.js';
import { encodeScores, readScoreFrame, type Scored, type ScoreRows } from './score-frame.js';

const REQUEST = SCORE_OPTIONS.extend({
  seeds: SEEDS,
  action_histories: HISTORIES,
  profile_modes: PROFILE_MODES,
  completions: optional(column(z.string()), 'texts to parse; pass either these or actions'),
  actions: optional(column(ACTION.nullable()), 'null for a completion without an action'),
  beliefs: optional(column(BELIEF), 'only with actions; null for no belief'),
  belief_histories: optional(
    column(z.array(BELIEF).max(NUM_STEPS).nullable()),
    `one belief for each action of the history, or ${NUM_STEPS} beliefs; null for no belief. By default no beliefs`,
  ),
});

const NUMBERS = z.array(z.number().nullable());
const RESPONSE = z.object({
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

export const SCORE: BatchRoute<typeof REQUEST> = {
  path: '/v1/score',
  summary: 'The rewards of completions or actions: the reward stack, after a replay from seed and history.',
  request: REQUEST,
  response: RESPONSE,
  answer: async (request, context) => {
    const rows = await readJson(request, context.turn);
    const { scores, parsed, faults } = await scoreRows(rows, request, context);
    return {
      rows: rows.columns.seeds.length,
      world_digest: context.worldDigest,
      scores: Object.fromEntries(Object.entries(scores).map(([name, values]) => [name, listOf(values)])),
      parsed: parsed ? parsedFields(parsed) : undefined,
      faults: new List(faults.length, (from, to) => JSON.stringify(faults.slice(from, to)).slice(1, -1)),
    };
  },
  answerFrame: async (body, context) => {
    const { options, ...rows } = await readScoreFrame(body, context.turn);
    return encodeScores(await scoreRows(rows, options, context), context.worldDigest, context.turn);
  },
};

/** Reads the columns of a JSON request, and parses its completions. @param turn awaited before each slice. */
async function readJson(request: z.output<typeof REQUEST>, turn: () => Promise<void>): Promise<ScoreRows> {
  const { seeds, completions, thought } = request;
  checkRows(seeds.length, request);
  checkAnswers(request);
  const faults = new Faults(false);
  const columns = await readRows(request, faults.reportFault, turn);
  const inThought = beginsInThought(thought);
  await completions?.forEach(turn, (text, row) => {
    if (typeof text === 'string') parseRow(columns, row, text, inThought);
    else faults.reportFault(row, new InputError('illegal_action', notText(text, row)));
  });
  const profilesOf = (from: number, to: number) => columns.profiles.slice(from, to);
  return { columns, profilesOf, faults, names: ROW_NAMES, maxFaults: seeds.length };
}

/** The maximum number of rows per turn of the event loop: about four milliseconds of work. */
const SLICE = 2048;
/**
 * The maximum for the first turn, and for a turn after many invalid rows: an error message takes longer than a score. For any
 * other turn the maximum is twice that of the turn before, at most SLICE.
 */
const FAULTY_SLICE = 512;

/** How the scores of a slice are read, by their names in answers. */
const READERS: Readonly<Record<string, (scores: ReplayScores) => Float32Array | BigUint64Array>> = {
  ...Object.fromEntries(
    REWARD_NAMES.map((name) => [snakeCase(name), ({ rewards }: ReplayScores) => rewards[name]]),
  ),
  total: ({ rewards }) => rewards.total,
  step_reward: ({ stepRewards }) => stepRewards,
  belief_mae: ({ beliefMae }) => beliefMae,
  state_hash: ({ stateHashes }) => stateHashes,
};

/** Scores all rows, one slice per turn. @throws InputError for an invalid option. */
async function scoreRows(
  { columns, profilesOf, faults, names, maxFaults }: ScoreRows,
  options: Omit<ScoreOptions, 'thought'>,
  { replayBatch, count, turn }: BatchContext,
): Promise<Scored> {
  const { grader, weights, shaping, scores: chosen = SCORE_NAMES, parsed } = options;
  const byReward =
    weights && Object.fromEntries(REWARD_NAMES.map((name) => [name, weights[snakeCase(name)]]));
  const settings = toReplaySettings({ grader: graderOf(grader), weights: byReward, shaping });
  const rows = columns.seeds.length;
  const scores: Record<string, Float32Array | BigUint64Array> = {};
  for (const name of chosen)
    scores[name] = name === 'state_hash' ? new BigUint64Array(rows) : new Float32Array(rows);
  const listed: RowFault[] = [];
  let faultCount = 0;
  for (let from = 0, size = FAULTY_SLICE; from < rows; ) {
    await turn();
    const to = Math.min(from + size, rows);
    const slice = { ...sliceOf(columns, from, to), profiles: profilesOf(from, to) };
    const naming = new RowNaming(names, from);
    const result = withoutStacks(() =>
      runSync(replayRows(replayBatch, slice, settings, faults.slice(from, to), naming)),
    );
    // The arrays of a name have the same type.
    for (const name in scores)
      (scores[name] as Float32Array).set(READERS[name](result) as Float32Array, from);
    const { length } = result.faults;
    for (const fault of result.faults.slice(0, maxFaults - listed.length))
      listed.push({ ...fault, index: from + fault.index });
    faultCount += length;
    size = length > FAULTY_SLICE / 2 ? FAULTY_SLICE : Math.min(2 * size, SLICE);
    from = to;
  }
  count('scored', rows);
  const { actions, beliefs = new Float32Array() } = columns;
  return { rows, scores, parsed: parsed ? { actions, beliefs } : null, faults: listed, faultCount };
}

/** The number of entries of a row, by column. */
const WIDTHS = {
  ...{ seeds: 1, stepIndices: 1, histories: NUM_STEPS, actions: 1 },
  ...{ beliefs: NUM_BELIEFS, beliefHistories: NUM_STEPS * NUM_BELIEFS },
} as const satisfies Record<keyof Omit<ReplayColumns, 'profiles'>, number>;

/** Returns views of rows `from` to `to - 1`. */
function sliceOf(columns: ReplayColumns, from: number, to: number): ReplayColumns {
  const entries = Object.entries(WIDTHS).map(([name, width]) => [
    name,
    columns[name as keyof typeof WIDTHS]?.subarray(from * width, to * width),
  ]);
  return Object.fromEntries(entries) as ReplayColumns;
}
