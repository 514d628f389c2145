/** The schemas of /v1/score, and the options of its replay. The binary form uses both. */
import { z } from 'zod';
import type { ReplayOptions } from '../../rollouts/replay/score-replay.js';
import { REWARD_NAMES } from '../../rollouts/rewards/compute-rewards.js';
import { snakeCase } from '../../shared/letter-case.js';
import { NUM_STEPS } from '../../world/fields.js';
import type { BatchRunner } from './batch-runner.js';
import {
  ACTION,
  BELIEF,
  checkRows,
  column,
  GRADER,
  graderOf,
  HISTORIES,
  invalidFieldError,
  nullAsAbsent,
  PROFILE_MODES,
  SEEDS,
  THOUGHT,
} from './batch-schemas.js';
import { PARSED_COLUMNS } from './parsed-columns.js';
import { SCORE_NAMES } from './score-columns.js';

const WEIGHTS = Object.fromEntries(REWARD_NAMES.map((name) => [snakeCase(name), z.number().optional()]));

export const SCORE_REQUEST = z.strictObject({
  seeds: SEEDS,
  action_histories: HISTORIES,
  profile_modes: PROFILE_MODES,
  completions: column(z.string())
    .nullish()
    .transform(nullAsAbsent)
    .describe('texts to parse; pass either these or actions'),
  actions: column(ACTION.nullable())
    .nullish()
    .transform(nullAsAbsent)
    .describe('null for a completion without an action'),
  beliefs: column(BELIEF).nullish().transform(nullAsAbsent).describe('only with actions; null for no belief'),
  belief_histories: column(z.array(BELIEF).max(NUM_STEPS).nullable())
    .nullish()
    .transform(nullAsAbsent)
    .describe(
      `one belief for each action of the history, or ${NUM_STEPS} beliefs; null for no belief. By default no beliefs`,
    ),
  thought: THOUGHT,
  grader: GRADER,
  weights: z
    .strictObject(WEIGHTS)
    .nullish()
    .transform(nullAsAbsent)
    .describe(
      'the weight of each reward in the total; by default 1, but 0 for a belief_skill that the grader does not weigh',
    ),
  shaping: z
    .strictObject({ repetition: z.boolean().optional(), exploration: z.boolean().optional() })
    .nullish()
    .transform(nullAsAbsent),
  scores: z
    .array(z.enum(SCORE_NAMES))
    .max(SCORE_NAMES.length)
    .nullish()
    .transform(nullAsAbsent)
    .describe('the scores to return; by default all'),
  parsed: z
    .boolean()
    .nullish()
    .transform(nullAsAbsent)
    .describe('whether to return the actions and beliefs in the completions; by default false'),
});
export type ScoreRequest = z.output<typeof SCORE_REQUEST>;

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

/** Checks that the columns and `parsed` agree. @throws InvalidRequestError. */
export function checkRequest({
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
    action_histories,
    profile_modes,
    completions,
    actions,
    beliefs,
    belief_histories,
  });
  if ((completions === undefined) === (actions === undefined)) {
    const got = actions === undefined ? 'neither' : 'both';
    throw invalidFieldError(
      'completions',
      `Expected either completions or actions, got ${got}. Send completions, or actions.`,
    );
  }
  if (completions !== undefined && beliefs !== undefined) {
    throw invalidFieldError(
      'beliefs',
      'Expected beliefs with actions only, got them with completions, which state beliefs themselves. Leave beliefs out.',
    );
  }
  if (parsed && completions === undefined) {
    throw invalidFieldError(
      'parsed',
      'Expected parsed with completions only, got it with actions. Leave it out.',
    );
  }
}

type ScoreOptions = Pick<ScoreRequest, 'grader' | 'weights' | 'shaping' | 'thought'>;

/** Returns the options of a replay. */
export const replayOptions = (
  { grader, weights, shaping, thought }: ScoreOptions,
  { engine }: BatchRunner,
): ReplayOptions => ({
  ...engine,
  // The rows are scored in slices, and a slice is done before a second thread starts.
  threads: 1,
  grader: graderOf(grader),
  shaping,
  thought,
  weights: weights && byReward(weights),
});

function byReward(weights: Readonly<Record<string, number | undefined>>): ReplayOptions['weights'] {
  return Object.fromEntries(REWARD_NAMES.map((name) => [name, weights[snakeCase(name)]]));
}
