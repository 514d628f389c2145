/** What a route is: what answers, and what the description of the interface says of it. */
import type { z } from 'zod';
import type { HttpRequest } from './request.js';

export interface Route {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly summary: string;
  /** Of the body, if one is read. */
  readonly request?: z.ZodType;
  /** Whether that is one message of OpenEnv: it may be as long as a session's frame, not as long as a batch. */
  readonly message?: boolean;
  /** Of the JSON that is answered; a name for anything else. */
  readonly response: z.ZodType | string;
  /** Other statuses than 200 and 422, and what they mean. */
  readonly failures?: Readonly<Record<number, string>>;
  handle(request: HttpRequest): Response | Promise<Response>;
}

/** JSON text as it is. */
export const jsonText = (text: string, status = 200): Response =>
  new Response(text, { status, headers: { 'content-type': 'application/json' } });

export const json = (value: unknown, status = 200): Response => jsonText(JSON.stringify(value), status);
