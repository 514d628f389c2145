/** What is wrong with a request, entry by entry, in the shape that OpenEnv's clients know (that of its validation library). */
import type { z } from 'zod';
import { describe } from '../../validate/values.js';
import { echoOf } from './echo.js';

/** One fault. `url`, where there is one, explains its type. */
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

/** Where the types of faults are explained, as the recorded server says it. */
const EXPLAINED = 'https://errors.pydantic.dev/2.13/v/';

/** By the type that a schema expects. */
const WRONG_TYPES: Readonly<Record<string, Words>> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  number: { type: 'float_type', msg: 'Input should be a valid number' },
  int: { type: 'int_type', msg: 'Input should be a valid integer' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  object: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  record: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
};

/** A field that is not there. @param input what it is missing in. */
export const missing = (loc: Refusal['loc'], input: unknown): Refusal => ({
  type: 'missing',
  loc,
  msg: 'Field required',
  input,
});

/** A field that nobody knows. @param input what it says. */
export const extra = (loc: Refusal['loc'], input: unknown): Refusal => ({
  type: 'extra_forbidden',
  loc,
  msg: 'Extra inputs are not permitted',
  input,
});

/** Something else than an object. */
export function noObject(loc: Refusal['loc'], input: unknown): Refusal {
  const { type, msg } = WRONG_TYPES.object;
  return { type, loc, msg, input };
}

/** The faults of `input`. */
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
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<PropertyKey, unknown>)[key];
  }
  return found;
}

/** As faults of actions and messages are told: with a link. */
export const explained = (refusals: readonly Refusal[]): Refusal[] =>
  refusals.map((refusal) => ({ ...refusal, url: EXPLAINED + refusal.type }));

/** As faults of a request's body are told. */
export const inBody = (refusals: readonly Refusal[]): Refusal[] =>
  refusals.map((refusal) => ({ ...refusal, loc: ['body', ...refusal.loc] }));

/** Does it; what is refused is told otherwise. @param as `explained` or `inBody`. */
export function toldAs<T>(as: (refusals: readonly Refusal[]) => Refusal[], act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof RefusedError ? new RefusedError(as(error.refusals)) : error;
  }
}

/** Faults of a request that are told: an answer is not much longer than what it answers. */
const MOST_TOLD = 100;

/** A request that is refused, with its faults, as far as they are told. */
export class RefusedError extends Error {
  readonly refusals: readonly Refusal[];
  constructor(refusals: readonly Refusal[]) {
    const told = refusals.slice(0, MOST_TOLD);
    super(told.map(({ loc, msg, input }) => `${loc.join('.')}: ${msg}, got ${describe(input)}`).join('; '));
    this.refusals = told.map((refusal) => ({ ...refusal, input: echoOf(refusal.input) }));
  }
}
