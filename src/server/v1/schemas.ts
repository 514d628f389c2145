/** Schemas that /v1 requests share: columns, profiles, graders, and the options of /v1/score in JSON and in frames. */
import { z } from 'zod';
import { type GraderLike, graderWeights } from '../../engine/graders/grader.js';
import { REWARD_NAMES } from '../../rollouts/rewards/compute-rewards.js';
import { THOUGHT_STARTS } from '../../rollouts/text/parse-completions.js';
import { RhythmError, sentenceOf } from '../../shared/errors.js';
import { didYouMean, snakeCase } from '../../shared/names.js';
import { describe, isList } from '../../shared/values.js';
import {
  ACTION_NAMES,
  GRADER_NAMES,
  MAX_U32,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_STEPS,
} from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import { fieldError } from '../protocol/errors.js';
import { jsonSchema } from '../protocol/json.js';
import { Column, MAX_JSON_ROWS } from './json-columns.js';

export const SEED = z.int().min(0).max(MAX_U32);
export const ACTION = z.union([
  z.enum(ACTION_NAMES),
  z
    .int()
    .min(0)
    .max(NUM_ACTIONS - 1),
]);
export const HISTORY = z
  .array(ACTION)
  .max(NUM_STEPS - 1)
  .describe('actions taken before, by name or code');
export const BELIEF = z.array(z.number()).length(NUM_BELIEFS).nullable();
export const PROFILE = z.enum(PROFILE_CHOICES);

/**
 * Returns the schema of a column with one entry per row. The schema checks only that the value is a column. The entries are
 * parsed and checked later, slice by slice, with errors that name the row.
 */
export const column = (entry: z.ZodType) =>
  z
    .custom<Column>()
    .superRefine((value, { issues }) => {
      if (value instanceof Column) return;
      issues.push({ code: 'invalid_type', expected: 'array', input: value });
    })
    .meta({ type: 'array', maxItems: MAX_JSON_ROWS, items: jsonSchema(entry) });

/** Returns the schema of a field that may be left out; null counts as left out. @param what describes the field. */
export const optional = <Schema extends z.ZodType>(schema: Schema, what: string) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .describe(what);

/** Words the error of a value that is not among the names. @param otherwise what else the field accepts. */
export const notAmong =
  (names: readonly string[], otherwise = '') =>
  ({ input }: { readonly input?: unknown }): string =>
    sentenceOf({
      expected: `one of ${names.join(', ')}${otherwise}`,
      got: describe(input),
      remedy: typeof input === 'string' ? didYouMean(input, names) : '',
    });

/** Returns the error message for an invalid grader. */
function graderFault(got: unknown): string {
  try {
    if (typeof got === 'string' || (typeof got === 'object' && got !== null && !isList(got)))
      graderWeights(got as GraderLike);
  } catch (error) {
    if (error instanceof RhythmError) return error.message;
    throw error;
  }
  const expected = 'a name or {"name", "weights"}';
  return sentenceOf({ expected, got: describe(got), remedy: 'Send "v2", for instance.' });
}

export const SEEDS = column(SEED).describe("the seed of each row's episode");
export const HISTORIES = column(HISTORY).describe('the actions taken before, per row');
export const PROFILE_MODES = optional(
  z.union([PROFILE, column(PROFILE)], { error: notAmong(PROFILE_CHOICES, ', or a list of these names') }),
  'the profile, one for all rows or one per row; by default "sampled"',
);
export const THOUGHT = optional(
  z.enum(THOUGHT_STARTS),
  '"open" for completions whose prompt ends inside a thought; by default "closed"',
);
export const GRADER = optional(
  z.union(
    [z.enum(GRADER_NAMES), z.strictObject({ name: z.string(), weights: z.record(z.string(), z.number()) })],
    { error: ({ input }) => graderFault(input) },
  ),
  'a name, or a name with weights; by default "v2"',
);

const WEIGHTS = Object.fromEntries(REWARD_NAMES.map((name) => [snakeCase(name), z.number().optional()]));

/** The names of the scores of a row. */
export const SCORE_NAMES: readonly string[] = [
  ...Object.keys(WEIGHTS),
  ...['total', 'step_reward', 'belief_mae', 'state_hash'],
];

/** The options of /v1/score. */
export const SCORE_OPTIONS = z.strictObject({
  thought: THOUGHT,
  grader: GRADER,
  weights: optional(
    z.strictObject(WEIGHTS),
    'the weight of each reward in the total; by default 1, but 0 for a belief_skill that the grader does not weigh',
  ),
  shaping: optional(
    z.strictObject({ repetition: z.boolean().optional(), exploration: z.boolean().optional() }),
    'the terms added to env_reward; by default none',
  ),
  scores: optional(
    z.array(z.enum(SCORE_NAMES)).max(SCORE_NAMES.length),
    'the scores to return; by default all',
  ),
  parsed: optional(
    z.boolean(),
    'whether to return the actions and beliefs in the completions; by default false',
  ),
});
export type ScoreOptions = z.output<typeof SCORE_OPTIONS>;

/** Returns the weights of a request's grader, f32 [8]. @throws InputError `bad_grader`. */
export const graderOf = (grader: z.output<typeof GRADER>): Float32Array => graderWeights(grader ?? 'v2');

/** Checks the lengths of columns. @throws InvalidRequestError for a column whose length differs from that of the seeds. */
export function checkRows(rows: number, columns: Readonly<Record<string, unknown>>): void {
  for (const [name, entries] of Object.entries(columns)) {
    if (!(entries instanceof Column) || entries.length === rows) continue;
    const remedy = 'Send one entry for each seed.';
    throw fieldError(name, `${rows} entries (one for each seed)`, entries.length, remedy);
  }
}

/** Checks that completions come alone. @throws InvalidRequestError. */
export function checkAnswers({
  completions,
  actions,
  beliefs,
  parsed,
}: Readonly<Partial<Record<'completions' | 'actions' | 'beliefs' | 'parsed', unknown>>>): void {
  if ((completions === undefined) === (actions === undefined)) {
    const got = actions === undefined ? 'neither' : 'both';
    throw fieldError('completions', 'either completions or actions', got, 'Send completions, or actions.');
  }
  if (completions !== undefined && beliefs !== undefined) {
    const got = 'them with completions, which state beliefs themselves';
    throw fieldError('beliefs', 'beliefs with actions only', got, 'Leave beliefs out.');
  }
  if (parsed && completions === undefined)
    throw fieldError('parsed', 'parsed with completions only', 'it with actions', 'Leave it out.');
}
