/** What a route is: what answers, and what the description of the interface says of it. */
import type { Context } from 'hono';
import type { z } from 'zod';
import { describe } from '../../validate/values.js';
import { type Refusal, RefusedError } from '../protocol/refusals.js';

export interface Route {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly summary: string;
  /** Of the body, if one is read. */
  readonly request?: z.ZodType;
  /** Of the JSON that is answered; a name for anything else. */
  readonly response: z.ZodType | string;
  /** Other statuses than 200 and 422, and what they mean. */
  readonly failures?: Readonly<Record<number, string>>;
  handle(context: Context): Response | Promise<Response>;
}

/** JSON text as it is. */
export const jsonText = (text: string, status = 200): Response =>
  new Response(text, { status, headers: { 'content-type': 'application/json' } });

export const json = (value: unknown, status = 200): Response => jsonText(JSON.stringify(value), status);

/** The body's JSON; undefined if it is empty. @throws RefusedError. */
export async function readBody(context: Context): Promise<unknown> {
  const text = await context.req.text();
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RefusedError([noJson(error as SyntaxError)]);
  }
}

const noJson = ({ message }: SyntaxError): Refusal => ({
  type: 'json_invalid',
  loc: ['body', positionIn(message)],
  msg: 'JSON decode error',
  input: {},
  ctx: { error: message },
});

const positionIn = (message: string): number => Number(/at position (\d+)/.exec(message)?.[1] ?? 0);

/** The body's JSON object. @throws RefusedError for an empty body, or anything else. */
export async function readObject(context: Context): Promise<object> {
  const body = await readBody(context);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new RefusedError([body === undefined ? NO_BODY : noObject(body)]);
}

const NO_BODY: Refusal = { type: 'missing', loc: ['body'], msg: 'Field required', input: null };

const noObject = (body: unknown): Refusal => ({
  type: 'dict_type',
  loc: ['body'],
  msg: 'Input should be a valid dictionary',
  input: describe(body),
});
