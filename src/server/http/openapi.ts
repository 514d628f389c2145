/** Describes routes: generates openapi.json from the schemas that validate requests. */
import { z } from 'zod';
import { jsonSchema } from '../protocol/json.js';
import type { HttpRequest } from './request.js';

/** A route: its handler, and its description for openapi.json. */
export interface Route {
  readonly method: 'get' | 'post' | 'delete';
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

type Json = Readonly<Record<string, unknown>>;

const VALIDATION_ERRORS = z.object({
  detail: z.array(
    z.object({
      type: z.string(),
      loc: z.array(z.union([z.string(), z.int()])),
      msg: z.string(),
      input: z.unknown(),
    }),
  ),
});
const DETAIL = z.object({ detail: z.string() });

const content = (schema: z.ZodType): Json => ({ 'application/json': { schema: jsonSchema(schema) } });

/** Returns the OpenAPI description of routes. @param version of the package. @param bearer whether clients need a token. */
export function openApi(routes: readonly Route[], version: string, bearer: boolean): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path][route.method] = operation(route);
  }
  const security = bearer ? { security: [{ bearer: [] }] } : {};
  const components = bearer
    ? { components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } } }
    : {};
  return { openapi: '3.1.0', info: { title: 'rhythm-vec', version }, ...security, paths, ...components };
}

/** The content of a binary frame. */
const FRAME: Json = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

function operation({ summary, request, response, acceptsFrames, failures = {} }: Route): Json {
  const binary = acceptsFrames ? FRAME : {};
  const body = request && {
    requestBody: { content: { ...content(request), ...binary }, required: !request.isOptional() },
  };
  const answer =
    typeof response === 'string'
      ? { [response]: { schema: { type: 'string' } } }
      : { ...content(response), ...binary };
  const responses: Record<string, unknown> = { 200: { description: 'Success', content: answer } };
  if (request) responses[422] = { description: 'Validation errors', content: content(VALIDATION_ERRORS) };
  for (const [status, description] of Object.entries(failures)) {
    responses[status] = { description, content: content(DETAIL) };
  }
  return { summary, ...body, responses };
}
