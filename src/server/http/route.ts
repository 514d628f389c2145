/** The type of a route: its handler, and its description for openapi.json. */
import type { z } from 'zod';
import type { HttpRequest } from './request.js';

export interface Route {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly summary: string;
  /** Schema of the body, if the route reads one. */
  readonly request?: z.ZodType;
  /** Whether the body is an OpenEnv message: `frameLimit` applies, not `bodyLimit`. */
  readonly isMessage?: boolean;
  /** Whether a body may also be a binary frame. The answer to a frame is a frame. */
  readonly acceptsFrames?: boolean;
  /** Schema of a JSON answer, or the media type of any other answer. */
  readonly response: z.ZodType | string;
  /** Descriptions by status, for statuses other than 200 and 422. */
  readonly failures?: Readonly<Record<number, string>>;
  handle(request: HttpRequest): Response | Promise<Response>;
}
