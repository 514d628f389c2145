/** What requests of /v1 share: columns, persons, graders; and how they are refused. */
import { z } from 'zod';
import { ACTION_NAMES, GRADER_NAMES, MAX_U32, NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';
import { PROFILES, toGrader } from '../protocol/begin.js';
import { jsonSchema } from '../protocol/json-schema.js';
import { inBody, type Refusal, RefusedError, refusalsOf } from '../protocol/refusals.js';

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
const PROFILE = z.enum(PROFILES);

/** Rows of a request: what a body's limit allows, and short of what takes a second to look through. */
export const MOST_ROWS = 2 ** 20;

/**
 * One entry a row. That it is a list, of so many at most, is checked here; entries are checked row by row where they are
 * used, a slice at a time, by who can say which row it is.
 */
export const column = (entry: z.ZodType) =>
  z
    .custom<readonly unknown[]>()
    .superRefine((value, { issues }) => {
      if (!Array.isArray(value)) issues.push({ code: 'invalid_type', expected: 'array', input: value });
      else if (value.length > MOST_ROWS) {
        issues.push({ code: 'too_big', origin: 'array', maximum: MOST_ROWS, inclusive: true, input: value });
      }
    })
    .meta({ type: 'array', maxItems: MOST_ROWS, items: jsonSchema(entry) });

export const SEEDS = column(SEED).describe("each row's episode");
export const HISTORIES = column(HISTORY).describe('of each row, the actions taken before');
export const PROFILE_MODES = z
  .union([PROFILE, column(PROFILE)])
  .optional()
  .describe('who the persons are, for all rows or of each; "sampled" if left out');
export const GRADER = z
  .union([
    z.enum(GRADER_NAMES),
    z.strictObject({ name: z.string(), weights: z.record(z.string(), z.number()) }),
  ])
  .optional()
  .describe('a name, or a grader; "v2" if left out');

/** @throws RefusedError. */
export function parse<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new RefusedError(inBody(refusalsOf(parsed.error, body)));
}

/** f32 [6]. @throws InputError `bad_grader`. */
export const graderOf = (grader: z.output<typeof GRADER>): Float32Array => toGrader(grader ?? 'v2');

/** @throws RefusedError for a column of another length than the seeds. */
export function checkRows(rows: number, columns: Readonly<Record<string, unknown>>): void {
  for (const [name, entries] of Object.entries(columns)) {
    if (!Array.isArray(entries) || entries.length === rows) continue;
    throw refusing(name, `Expected ${rows} entries (one for each of seeds), got ${entries.length}.`);
  }
}

export function refusing(field: string, msg: string): RefusedError {
  const refusal: Refusal = { type: 'value_error', loc: ['body', field], msg, input: null };
  return new RefusedError([refusal]);
}
