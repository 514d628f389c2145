/** Answers MCP requests (JSON-RPC), which OpenEnv's validator sends. Every answer is an error: there are no tools. */
import { z } from 'zod';
import { InvalidRequestError, validationErrorsOf } from './errors.js';

const REQUEST = z.looseObject({
  jsonrpc: z.literal('2.0'),
  method: z.string(),
  id: z.union([z.string(), z.number()]).nullish(),
});

/** Error codes of JSON-RPC. */
const INVALID_REQUEST = -32600;
const INTERNAL_ERROR = -32603;
const PARSE_ERROR = -32700;

export interface McpAnswer {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string; readonly data: null };
}

const failure = (id: McpAnswer['id'], code: number, message: string): McpAnswer => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, data: null },
});

/** The schema of answers in openapi.json. */
export const MCP_SCHEMA = z.looseObject({ jsonrpc: z.literal('2.0') });

/** Returns the answer to a request. */
export function answerMcp(request: unknown): McpAnswer {
  const parsed = REQUEST.safeParse(request);
  if (parsed.success) {
    return failure(parsed.data.id ?? null, INTERNAL_ERROR, 'Environment does not support MCP');
  }
  const { message } = new InvalidRequestError(validationErrorsOf(parsed.error, request));
  return failure(null, INVALID_REQUEST, `Invalid request: ${message}`);
}

/** Returns the answer to a body that cannot be parsed. */
export const mcpParseError = (message: string): McpAnswer =>
  failure(null, PARSE_ERROR, `Parse error: ${message}`);
