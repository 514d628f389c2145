/** Schemas that /v1 requests share (columns, profiles, graders), and checks of their values. */
import { z } from 'zod';
import { THOUGHT_STARTS } from '../../rollouts/text/parse-completions.js';
import { RhythmError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/suggest.js';
import { describe, isList } from '../../shared/values.js';
import {
  ACTION_NAMES,
  GRADER_NAMES,
  MAX_U32,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_STEPS,
} from '../../world/fields.js';
import { jsonSchema } from '../protocol/json-schema.js';
import { PROFILES, toGrader } from '../protocol/reset-request.js';
import {
  InvalidRequestError,
  inBody,
  type ValidationError,
  validationErrorsOf,
} from '../protocol/validation-errors.js';
import { Column } from './column.js';

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
const PROFILE = z.enum(PROFILES);

/** The maximum number of rows of a request. Chosen by hand. */
export const MAX_ROWS = 2 ** 20;

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
    .meta({ type: 'array', maxItems: MAX_ROWS, items: jsonSchema(entry) });

/** Returns undefined for null, so that null counts as a field that is left out. */
export const nullAsAbsent = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

const profileFault = (got: unknown): string =>
  `Expected one of ${PROFILES.join(', ')}, or a list of these names, got ${describe(got)}.${typeof got === 'string' ? didYouMean(got, PROFILES) : ''}`;

/** Returns the error message for an invalid grader. */
function graderFault(got: unknown): string {
  try {
    if (typeof got === 'string' || (typeof got === 'object' && got !== null && !isList(got))) toGrader(got);
  } catch (error) {
    if (error instanceof RhythmError) return error.message;
    throw error;
  }
  return `Expected a name or {"name", "weights"}, got ${describe(got)}. Send "v2", for instance.`;
}

export const SEEDS = column(SEED).describe("the seed of each row's episode");
export const HISTORIES = column(HISTORY).describe('the actions taken before, per row');
export const PROFILE_MODES = z
  .union([PROFILE, column(PROFILE)], { error: ({ input }) => profileFault(input) })
  .nullish()
  .transform(nullAsAbsent)
  .describe('the profile, one for all rows or one per row; by default "sampled"');
export const THOUGHT = z
  .enum(THOUGHT_STARTS)
  .nullish()
  .transform(nullAsAbsent)
  .describe('"open" for completions whose prompt ends inside a thought; by default "closed"');
export const GRADER = z
  .union(
    [z.enum(GRADER_NAMES), z.strictObject({ name: z.string(), weights: z.record(z.string(), z.number()) })],
    { error: ({ input }) => graderFault(input) },
  )
  .nullish()
  .transform(nullAsAbsent)
  .describe('a name, or a name with weights; by default "v2"');

/** Parses a body. @throws InvalidRequestError. */
export function parse<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new InvalidRequestError(inBody(validationErrorsOf(parsed.error, body)));
}

/** Returns the weights of a request's grader, f32 [8]. @throws InputError `bad_grader`. */
export const graderOf = (grader: z.output<typeof GRADER>): Float32Array => toGrader(grader ?? 'v2');

/** Checks the lengths of columns. @throws InvalidRequestError for a column whose length differs from that of the seeds. */
export function checkRows(rows: number, columns: Readonly<Record<string, unknown>>): void {
  for (const [name, entries] of Object.entries(columns)) {
    if (!(entries instanceof Column) || entries.length === rows) continue;
    throw invalidFieldError(
      name,
      `Expected ${rows} entries (one for each seed), got ${entries.length}. Send one entry for each seed.`,
    );
  }
}

/** Builds the error for a field of the body. */
export function invalidFieldError(field: string, msg: string): InvalidRequestError {
  const error: ValidationError = { type: 'value_error', loc: ['body', field], msg, input: null };
  return new InvalidRequestError([error]);
}
