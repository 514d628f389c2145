/** Generates openapi.json from the routes and the schemas that validate requests. */
import { z } from 'zod';
import { jsonSchema } from '../protocol/json-schema.js';
import type { Route } from './route.js';

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
