/**
 * Errors of requests as data. HTTP answers and messages of sockets have validation errors in Pydantic's form, which OpenEnv's
 * clients expect, one per invalid value.
 */
import type { z } from 'zod';
import { InputError, RhythmError, sentenceOf } from '../../shared/errors.js';
import { describe } from '../../shared/values.js';

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
 * Builds the error for a field of a body.
 * @param at the field, and the row for an error of one row. @param expected what was expected, and where.
 * @param remedy what to do, as a sentence.
 */
export const fieldError = (
  at: string | readonly [field: string, row: number],
  expected: string,
  got: string | number,
  remedy: string,
  type = 'value_error',
): InvalidRequestError => {
  const msg = sentenceOf({ expected, got: String(got), remedy });
  return new InvalidRequestError([{ type, loc: ['body', at].flat(), msg, input: null }]);
};

/** Returns the validation errors of a client's error. @returns null for an unexpected error. */
export function validationErrors(error: unknown): readonly ValidationError[] | null {
  if (error instanceof InvalidRequestError) return error.errors;
  if (!(error instanceof RhythmError)) return null;
  const { field, row }: Pick<InputError, 'field' | 'row'> = error instanceof InputError ? error : {};
  const loc = [field, row].filter((part) => part !== undefined);
  return [{ type: error.code, loc, msg: error.message, input: null }];
}

/**
 * Builds the error for invalid JSON.
 * @param message of `JSON.parse`, whose errors have the position in the text alone.
 * @param shift the text's offset in the body, added to the position.
 */
export function invalidJson(message: string, shift = 0): InvalidRequestError {
  const error = message.replace(/at position (\d+)/, (_, at) => `at position ${Number(at) + shift}`);
  const position = Number(/at position (\d+)/.exec(error)?.[1] ?? Math.max(shift, 0));
  const place = { loc: ['body', position], input: {}, ctx: { error } };
  return new InvalidRequestError([{ type: 'json_invalid', msg: 'JSON decode error', ...place }]);
}

/**
 * Parses a value of a client.
 * @param as `withLinks` or `inBody`, which complete the errors. @throws InvalidRequestError.
 */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  as: (errors: readonly ValidationError[]) => readonly ValidationError[] = (errors) => errors,
): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new InvalidRequestError(as(parsed.error.issues.flatMap((issue) => errorsOfIssue(issue, input))));
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

/** An error that HTTP answers with this status and these headers, and with {"detail": message}. */
export class StatusError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.status = status;
    this.headers = headers;
  }
}

export const NOT_FOUND = new StatusError(404, 'Not Found');

/** The header of an answer after which the server closes the connection, because it has not read the whole body. */
export const CLOSES = { connection: 'close' };

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

/**
 * The maximum size of an input that errors repeat: the length of all strings and keys, and 1 for each other value. Chosen by
 * hand: a larger one makes errors longer, a smaller one leaves out more inputs.
 */
const MAX_SIZE = 1000;
/**
 * The maximum depth of an input that errors repeat. Chosen by hand. Writing JSON overflows the stack at a few thousand levels.
 */
const MAX_DEPTH = 16;

/** Returns an invalid input for an error: itself if it is small, else its description as text. */
const quotedInput = (value: unknown): unknown => (isBrief(value) ? value : describe(value));

function isBrief(value: unknown): boolean {
  let size = 0;
  const depths = new Map<unknown, number>();
  // JSON.stringify visits the members one by one, until the size or the depth is too large.
  function visit(this: object, key: string, each: unknown): unknown {
    const depth = (depths.get(this) ?? 0) + 1;
    size += (Array.isArray(this) ? 0 : key.length) + (typeof each === 'string' ? each.length : 1);
    // Typed arrays of binary frames are not JSON.
    if (size > MAX_SIZE || depth > MAX_DEPTH || ArrayBuffer.isView(each)) throw TOO_LONG;
    if (typeof each === 'object') depths.set(each, depth);
    return each;
  }
  try {
    JSON.stringify(value, visit);
    return true;
  } catch (error) {
    if (error === TOO_LONG) return false;
    throw error;
  }
}

const TOO_LONG = new RangeError('The input is too long.');
