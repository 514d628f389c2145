/** POST /v1/score: what completions are worth, each after the actions before it. */
import { z } from 'zod';
import { snakeCase } from '../../names.js';
import type { RowFault } from '../../rollout/replay/faults.js';
import { REWARD_NAMES, type RewardName } from '../../rollout/rewards/stack.js';
import type { ReplayOptions, ReplayScores } from '../../rollout/score-replay.js';
import { scoreReplay } from '../../rollout.js';
import { parseCompletion } from '../../text/parse.js';
import { describe } from '../../validate/values.js';
import { NUM_BELIEFS } from '../../world/fields.js';
import type { Route } from '../http/routes.js';
import { BATCH_FAILURES, type Batches } from './batches.js';
import { objectsText, objectText } from './numbers.js';
import { namingColumns, rowsOf } from './rows.js';
import {
  ACTION,
  checkRows,
  column,
  GRADER,
  graderOf,
  HISTORIES,
  PROFILE_MODES,
  refusing,
  SEEDS,
} from './schemas.js';

/** How an array of `ReplayScores` is called, and where it is. */
const SCORES: Readonly<Record<string, (scores: ReplayScores) => Float32Array | BigUint64Array>> = {
  ...Object.fromEntries(
    [...REWARD_NAMES, 'total' as const].map((name) => [
      snakeCase(name),
      ({ rewards }: ReplayScores) => rewards[name],
    ]),
  ),
  step_reward: ({ stepRewards }) => stepRewards,
  belief_mae: ({ beliefMae }) => beliefMae,
  state_hash: ({ stateHashes }) => stateHashes,
};
const SCORE_NAMES = Object.keys(SCORES);

const WEIGHTS = Object.fromEntries(REWARD_NAMES.map((name) => [snakeCase(name), z.number().optional()]));

export const SCORE_REQUEST = z.strictObject({
  seeds: SEEDS,
  action_histories: HISTORIES,
  profile_modes: PROFILE_MODES,
  completions: column(z.string()).optional().describe('texts to be parsed; either these or actions'),
  actions: column(ACTION.nullable()).optional().describe('null where a completion has none'),
  beliefs: column(z.array(z.number()).length(NUM_BELIEFS).nullable())
    .optional()
    .describe('with actions: null where there is none'),
  grader: GRADER,
  weights: z.strictObject(WEIGHTS).optional().describe('what each reward counts in the total; 1 if left out'),
  shaping: z
    .strictObject({ repetition: z.boolean().optional(), exploration: z.boolean().optional() })
    .optional(),
  scores: z.array(z.enum(SCORE_NAMES)).optional().describe('which are wanted; all if left out'),
});
type ScoreRequest = z.output<typeof SCORE_REQUEST>;

const NUMBERS = z.array(z.number().nullable());
export const SCORE_RESPONSE = z.object({
  rows: z.int(),
  world_digest: z.string(),
  scores: z
    .object({ ...Object.fromEntries(SCORE_NAMES.map((name) => [name, NUMBERS.optional()])) })
    .extend({ state_hash: z.array(z.string()).optional() })
    .describe('null where there is none, and in rows with a fault; hashes are hexadecimal, 0 with a fault'),
  faults: z
    .array(z.object({ index: z.int(), code: z.string(), message: z.string() }))
    .describe('rows that could not be replayed'),
});

/** Rows that are scored between two turns: some four milliseconds' of them; of rows at fault as long. */
const SLICE = 2048;
const FAULTY_SLICE = 64;

export const scoreRoute = (batches: Batches): Route => ({
  method: 'post',
  path: '/v1/score',
  summary: 'What completions, or actions, are worth: the reward stack, replayed from seed and history.',
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
    throw refusing('completions', 'Expected either completions or actions, got both or none of them.');
  }
  if (completions !== undefined && beliefs !== undefined) {
    throw refusing('beliefs', 'Expected no beliefs with completions, which say theirs, got some.');
  }
}

async function score(request: ScoreRequest, batches: Batches, turn: () => Promise<void>): Promise<string> {
  const rows = request.seeds.length;
  const wanted = request.scores ?? SCORE_NAMES;
  const options = optionsOf(request, batches);
  const columns: Record<string, Float32Array | BigUint64Array> = {};
  for (const name of wanted) {
    columns[name] = name === 'state_hash' ? new BigUint64Array(rows) : new Float32Array(rows);
  }
  const faults: RowFault[] = [];
  let size = FAULTY_SLICE;
  for (let from = 0; from < rows; ) {
    await turn();
    const [to, before] = [Math.min(from + size, rows), faults.length];
    const scores = scoreSlice(request, from, to, options, faults);
    for (const name of wanted) columns[name].set(SCORES[name](scores) as never, from);
    // What is wrong with a row takes longer to say than a row to score.
    size = faults.length - before > FAULTY_SLICE / 2 ? FAULTY_SLICE : Math.min(2 * size, SLICE);
    from = to;
  }
  batches.count('scored', rows);
  const digest = JSON.stringify(batches.worldDigest);
  const text = await objectText(columns, turn);
  const said = await objectsText(faults, turn);
  return `{"rows":${rows},"world_digest":${digest},"scores":${text},"faults":${said}}`;
}

const optionsOf = ({ grader, weights, shaping }: ScoreRequest, { engine }: Batches): ReplayOptions => ({
  ...engine,
  // Slices are short: another thread would not have begun.
  threads: 1,
  grader: graderOf(grader),
  shaping,
  weights: weights && byReward(weights),
});

function byReward(weights: Readonly<Record<string, number | undefined>>): ReplayOptions['weights'] {
  const named = REWARD_NAMES.map((name): [RewardName, number] => [name, weights[snakeCase(name)] ?? 1]);
  return Object.fromEntries(named);
}

/** @param faults where those of the slice are added. */
function scoreSlice(
  request: ScoreRequest,
  from: number,
  to: number,
  options: ReplayOptions,
  faults: RowFault[],
): ReplayScores {
  const { completions, actions = [], beliefs = [] } = request;
  const propose =
    completions === undefined
      ? (row: number) => ({ action: actions[row], belief: beliefs[row] })
      : (row: number) => answerOf(completions[row]);
  const scores = scoreReplay(rowsOf(request, from, to, propose as never), options);
  for (const { index, code, message } of scores.faults) {
    const text = completions?.[from + index];
    const said =
      completions !== undefined && typeof text !== 'string'
        ? `Expected a string at completions[${from + index}], got ${describe(text)}. Pass the completion's text alone.`
        : namingColumns(message, from);
    faults.push({ index: from + index, code, message: said });
  }
  return scores;
}

/** What is no text is no action either: the row is at fault. */
function answerOf(text: unknown): { readonly action: unknown; readonly belief?: readonly number[] } {
  if (typeof text !== 'string') return { action: undefined };
  const { action, belief, given } = parseCompletion(text);
  return given ? { action, belief } : { action };
}
