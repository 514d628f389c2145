/** Validation errors of a request, one per fault, in the form that OpenEnv's clients know (Pydantic's). */
import type { z } from 'zod';
import { describe } from '../../shared/values.js';
import { echoOf } from './echo.js';

/** One fault. `url`, if present, leads to an explanation of its type. */
export interface Refusal {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
  readonly url?: string;
}

type Issue = z.core.$ZodIssue;
type Words = Pick<Refusal, 'type' | 'msg' | 'ctx'>;

/** The beginning of the URLs that explain fault types, as OpenEnv's own server sends them. */
const LINK = 'https://errors.pydantic.dev/2.13/v/';

/** Faults by the type that a schema expects. */
const WRONG_TYPES: Readonly<Record<string, Words>> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  number: { type: 'float_type', msg: 'Input should be a valid number' },
  int: { type: 'int_type', msg: 'Input should be a valid integer' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  object: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  record: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
};

/** Builds the fault for a missing field. @param input the object that lacks it. */
export const missing = (loc: Refusal['loc'], input: unknown): Refusal => ({
  type: 'missing',
  loc,
  msg: 'Field required',
  input,
});

/** Builds the fault for an unknown field. @param input its value. */
export const extra = (loc: Refusal['loc'], input: unknown): Refusal => ({
  type: 'extra_forbidden',
  loc,
  msg: 'Extra inputs are not permitted',
  input,
});

/** Builds the fault for a value that is not an object. */
export function invalidObject(loc: Refusal['loc'], input: unknown): Refusal {
  const { type, msg } = WRONG_TYPES.object;
  return { type, loc, msg, input };
}

/**
 * Builds the fault for invalid JSON.
 * @param message of `JSON.parse`. @param shift offset of the text in the body, added to the position.
 */
export function invalidJson(message: string, shift = 0): Refusal {
  const error = message.replace(/at position (\d+)/, (_, at) => `at position ${Number(at) + shift}`);
  const position = Number(/at position (\d+)/.exec(error)?.[1] ?? Math.max(shift, 0));
  return {
    ...{ type: 'json_invalid', loc: ['body', position], msg: 'JSON decode error' },
    ...{ input: {}, ctx: { error } },
  };
}

/** Builds the fault for a message, or a part of a request, with too many values. */
export const tooManyValues = (loc: Refusal['loc'], max: number): Refusal => ({
  type: 'too_long',
  loc,
  msg: `Expected at most ${max} lists, objects, keys and entries, got more. Leave out what the schema does not name.`,
  input: null,
  ctx: { max_length: max },
});

/** Returns the faults that a schema found in `input`. */
export function refusalsOf(error: z.ZodError, input: unknown): Refusal[] {
  return error.issues.flatMap((issue) => refusalsOfIssue(issue, input));
}

function refusalsOfIssue(issue: Issue, input: unknown): Refusal[] {
  const loc = issue.path as (string | number)[];
  const value = valueAt(input, loc);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => extra([...loc, key], valueAt(value, [key])));
  }
  if (value === undefined && issue.code !== 'custom') {
    return [missing(loc, valueAt(input, loc.slice(0, -1)))];
  }
  return [{ ...wordsOf(issue), loc, input: value }];
}

function wordsOf(issue: Issue): Words {
  switch (issue.code) {
    case 'invalid_type':
      return WRONG_TYPES[issue.expected] ?? { type: 'value_error', msg: issue.message };
    case 'too_small':
      return boundWords(issue.origin, 'least', Number(issue.minimum));
    case 'too_big':
      return boundWords(issue.origin, 'most', Number(issue.maximum));
    default:
      return { type: 'value_error', msg: issue.message };
  }
}

function boundWords(origin: string, bound: 'least' | 'most', limit: number): Words {
  const least = bound === 'least';
  if (origin === 'string' || origin === 'array') {
    const [kind, what] = origin === 'string' ? ['string_', 'String'] : ['', 'List'];
    const unit = origin === 'string' ? 'characters' : 'items';
    return {
      type: `${kind}too_${least ? 'short' : 'long'}`,
      msg: `${what} should have at ${bound} ${limit} ${unit}`,
      ctx: { [least ? 'min_length' : 'max_length']: limit },
    };
  }
  const than = least ? 'greater' : 'less';
  return {
    type: `${than}_than_equal`,
    msg: `Input should be ${than} than or equal to ${limit}`,
    ctx: { [least ? 'ge' : 'le']: limit },
  };
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<PropertyKey, unknown>)[key];
  }
  return current;
}

/** Adds the URLs of explanations, for faults of actions and messages. */
export const withLinks = (refusals: readonly Refusal[]): Refusal[] =>
  refusals.map((refusal) => ({ ...refusal, url: LINK + refusal.type }));

/** Adds 'body' to the path, for faults of a request's body. */
export const inBody = (refusals: readonly Refusal[]): Refusal[] =>
  refusals.map((refusal) => ({ ...refusal, loc: ['body', ...refusal.loc] }));

/** Runs `act` and converts the faults of its RefusedError. @param as `withLinks` or `inBody`. */
export function mapRefusals<T>(as: (refusals: readonly Refusal[]) => Refusal[], act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof RefusedError ? new RefusedError(as(error.refusals)) : error;
  }
}

/** The maximum number of faults in an answer, so that it is not much longer than its request. */
const MAX_REFUSALS = 100;

/** The error for a refused request, with at most MAX_REFUSALS faults. */
export class RefusedError extends Error {
  readonly refusals: readonly Refusal[];
  constructor(refusals: readonly Refusal[]) {
    const limited = refusals.slice(0, MAX_REFUSALS);
    super(
      limited.map(({ loc, msg, input }) => `${loc.join('.')}: ${msg}, got ${describe(input)}`).join('; '),
    );
    this.refusals = limited.map((refusal) => ({ ...refusal, input: echoOf(refusal.input) }));
  }
}
