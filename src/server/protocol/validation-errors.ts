/** Validation errors of a request, one per invalid value, in Pydantic's form, which OpenEnv's clients expect. */
import type { z } from 'zod';
import { describe } from '../../shared/values.js';
import { quotedInput } from './quoted-input.js';

/** The error for one value, in Pydantic's form. `url`, if present, leads to an explanation of its type. */
export interface ValidationError {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
  readonly url?: string;
}

type Issue = z.core.$ZodIssue;
type MessageParts = Pick<ValidationError, 'type' | 'msg' | 'ctx'>;

/** The beginning of the URLs that explain error types, as OpenEnv's own server sends them. */
const LINK = 'https://errors.pydantic.dev/2.13/v/';

/** Errors by the type that a schema expects. */
const WRONG_TYPES: Readonly<Record<string, MessageParts>> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  number: { type: 'float_type', msg: 'Input should be a valid number' },
  int: { type: 'int_type', msg: 'Input should be a valid integer' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  object: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  record: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
};

/** Builds the error for a missing field. @param input the object that lacks it. */
export const missing = (loc: ValidationError['loc'], input: unknown): ValidationError => ({
  type: 'missing',
  loc,
  msg: 'Field required',
  input,
});

/** Builds the error for an unknown field. @param input its value. */
export const extra = (loc: ValidationError['loc'], input: unknown): ValidationError => ({
  type: 'extra_forbidden',
  loc,
  msg: 'Extra inputs are not permitted',
  input,
});

/** Builds the error for a value that is not an object. */
export function invalidObject(loc: ValidationError['loc'], input: unknown): ValidationError {
  const { type, msg } = WRONG_TYPES.object;
  return { type, loc, msg, input };
}

/**
 * Builds the error for invalid JSON.
 * @param message of `JSON.parse`. @param shift the text's offset in the body, added to the position.
 */
export function invalidJson(message: string, shift = 0): ValidationError {
  const error = message.replace(/at position (\d+)/, (_, at) => `at position ${Number(at) + shift}`);
  const position = Number(/at position (\d+)/.exec(error)?.[1] ?? Math.max(shift, 0));
  return {
    type: 'json_invalid',
    loc: ['body', position],
    msg: 'JSON decode error',
    input: {},
    ctx: { error },
  };
}

/** Builds the error for a message, or a part of a request, with too many values. */
export const tooManyValues = (loc: ValidationError['loc'], max: number): ValidationError => ({
  type: 'too_long',
  loc,
  msg: `Expected at most ${max} lists, objects, keys and entries, got more. Leave out what the schema does not name.`,
  input: null,
  ctx: { max_length: max },
});

/** Returns the errors that a schema found in `input`. */
export function validationErrorsOf(error: z.ZodError, input: unknown): ValidationError[] {
  return error.issues.flatMap((issue) => errorsOfIssue(issue, input));
}

function errorsOfIssue(issue: Issue, input: unknown): ValidationError[] {
  const loc = issue.path as (string | number)[];
  const value = valueAt(input, loc);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => extra([...loc, key], valueAt(value, [key])));
  }
  if (value === undefined && issue.code !== 'custom') {
    return [missing(loc, valueAt(input, loc.slice(0, -1)))];
  }
  return [{ ...messageOf(issue), loc, input: value }];
}

function messageOf(issue: Issue): MessageParts {
  switch (issue.code) {
    case 'invalid_type':
      return WRONG_TYPES[issue.expected] ?? { type: 'value_error', msg: issue.message };
    case 'too_small':
      return boundMessage(issue.origin, 'least', Number(issue.minimum));
    case 'too_big':
      return boundMessage(issue.origin, 'most', Number(issue.maximum));
    default:
      return { type: 'value_error', msg: issue.message };
  }
}

function boundMessage(origin: string, bound: 'least' | 'most', limit: number): MessageParts {
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

/** Adds the URLs of explanations, for errors in actions and messages. */
export const withLinks = (errors: readonly ValidationError[]): ValidationError[] =>
  errors.map((error) => ({ ...error, url: LINK + error.type }));

/** Adds 'body' to the path, for errors in a request's body. */
export const inBody = (errors: readonly ValidationError[]): ValidationError[] =>
  errors.map((error) => ({ ...error, loc: ['body', ...error.loc] }));

/** Runs `act` and converts the errors of its InvalidRequestError. @param as `withLinks` or `inBody`. */
export function mapErrors<T>(as: (errors: readonly ValidationError[]) => ValidationError[], act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof InvalidRequestError ? new InvalidRequestError(as(error.errors)) : error;
  }
}

/** The maximum number of errors in an answer. Chosen by hand, so that an answer is not much longer than its request. */
const MAX_ERRORS = 100;

/** The error for a refused request, with at most MAX_ERRORS errors. */
export class InvalidRequestError extends Error {
  readonly errors: readonly ValidationError[];
  constructor(errors: readonly ValidationError[]) {
    const limited = errors.slice(0, MAX_ERRORS);
    super(
      limited.map(({ loc, msg, input }) => `${loc.join('.')}: ${msg}, got ${describe(input)}`).join('; '),
    );
    this.errors = limited.map((error) => ({ ...error, input: quotedInput(error.input) }));
  }
}
