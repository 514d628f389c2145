/** The faults of the fake endpoint, by name, and the types of its requests and replies. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A received request. */
export interface FakeRequest {
  /** The number of earlier requests. */
  readonly index: number;
  /** When it was received, in milliseconds of `performance.now()`. */
  readonly receivedAt: number;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
  /** The content of the user message. */
  readonly user: string;
}

export interface FakeUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
}

/** A request, its response, and the reply that a correct endpoint would send. */
export interface Exchange {
  readonly request: FakeRequest;
  readonly response: ServerResponse;
  readonly correctReply: Reply;
}

export interface Reply {
  choices: unknown[];
  usage?: FakeUsage;
  [key: string]: unknown;
}

/** A fault: a name of FAULTS, or a function that handles the request; null for none. */
export type Fault = string | ((exchange: Exchange) => void | Promise<void>) | null;

/** Answers with a status and a body: a string as it is, any other value as JSON. */
export const json = (response: ServerResponse, status: number, body: unknown, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};

/** Returns a fault that answers with an error of this status. */
const failing =
  (status: number, headers: Record<string, string> = {}, error: object = {}) =>
  ({ response }: Exchange): void =>
    json(response, status, { error: { message: `fake error ${status}`, ...error } }, headers);

/** Returns a fault that sends the correct reply after `change` has modified it. */
const changed =
  (change: (choice: Choice, reply: Reply) => void) =>
  ({ response, correctReply }: Exchange): void => {
    change(correctReply.choices[0] as Choice, correctReply);
    json(response, 200, correctReply);
  };

interface Choice {
  finish_reason: string;
  message: { content: string | null; refusal?: string; [key: string]: unknown };
}

/** Returns a fault that refuses some requests with a status and a body, and answers the others correctly. */
export const refusing =
  (isRefused: (request: FakeRequest) => boolean, status: number, body: unknown) =>
  ({ request, response, correctReply }: Exchange): void =>
    isRefused(request) ? json(response, status, body) : json(response, 200, correctReply);

/** Returns whether a request has the newer name of the token limit. */
export const hasNewerLimit = ({ body }: FakeRequest): boolean => 'max_completion_tokens' in body;

/** Returns whether a request has a system message. */
export const hasSystemMessage = ({ body }: FakeRequest): boolean =>
  (body.messages as { role: string }[]).some(({ role }) => role === 'system');

/** The header that makes clients retry after 1 ms, so that tests are fast. */
const SOON = { 'retry-after-ms': '1' };

/** The faults, by name. */
export const FAULTS: Readonly<Record<string, (exchange: Exchange) => void | Promise<void>>> = {
  '429': failing(429, SOON),
  '429-seconds': failing(429, { 'retry-after': '2' }),
  '429-date': ({ response }) =>
    json(
      response,
      429,
      { error: { message: 'later' } },
      { 'retry-after': new Date(Date.now() + 3000).toUTCString() },
    ),
  '429-no-money': failing(429, {}, { code: 'insufficient_quota' }),
  '408': failing(408, SOON),
  '500': failing(500, SOON),
  '503': failing(503, SOON),
  '504': failing(504, SOON),
  '400': failing(400, {}, { param: 'temperature' }),
  '401': ({ request, response }) =>
    json(response, 401, { error: { message: `Incorrect API key provided: ${keyOf(request)}` } }),
  '403': failing(403),
  '404': failing(404),
  /** Refuses `max_completion_tokens` in the words of Mistral. */
  'no-newer-limit': refusing(hasNewerLimit, 422, {
    object: 'error',
    message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'max_completion_tokens'] }] },
  }),
  /** Refuses a system message in the words of vLLM with Gemma's chat template. */
  'no-system-role': refusing(hasSystemMessage, 400, {
    object: 'error',
    message: 'System role not supported',
    type: 'BadRequestError',
    code: 400,
  }),
  redirect: ({ response }) => json(response, 302, {}, { location: 'http://127.0.0.1:1/elsewhere' }),
  /** Never answers. */
  silence: () => {},
  /** Closes the connection without an answer. */
  reset: ({ response }) => {
    response.socket?.destroy();
  },
  /** Sends the headers and a part of the body, then closes the connection. */
  'half-body': ({ response, correctReply }) => {
    const text = JSON.stringify(correctReply);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(text.length) });
    response.write(text.slice(0, 20), () => response.socket?.destroy());
  },
  /** Sends the headers, then a space every 5 ms without end. */
  trickle: ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 5);
    response.on('close', () => clearInterval(timer));
  },
  malformed: ({ response }) => json(response, 200, '{"choices": [{"message": '),
  html: ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<html>Welcome</html>');
  },
  'empty-choices': ({ response, correctReply }) => json(response, 200, { ...correctReply, choices: [] }),
  'no-choices': ({ response }) => json(response, 200, { object: 'list' }),
  'null-body': ({ response }) => json(response, 200, 'null'),
  'empty-body': ({ response }) => json(response, 200, ''),
  'null-content': changed(({ message }) => {
    message.content = null;
  }),
  'cut-off': changed((choice) => {
    choice.finish_reason = 'length';
    choice.message.content = '<reasoning>The person seems tired. I could say\n5 5 5 SLEEP\nbut then';
  }),
  refusal: changed(({ message }) => {
    message.content = null;
    message.refusal = "I'm sorry, I can't help with that.";
  }),
  'filtered-answer': changed((choice) => {
    choice.finish_reason = 'content_filter';
    choice.message.content = '';
  }),
  /** Refuses the prompt with the error of Azure's content filter. */
  'content-filter': failing(
    400,
    {},
    {
      code: 'content_filter',
      innererror: { code: 'ResponsibleAIPolicyViolation' },
    },
  ),
  'no-usage': changed((_, reply) => {
    delete reply.usage;
  }),
  'odd-usage': changed((_, reply) => {
    reply.usage = { prompt_tokens: -5, completion_tokens: 0.5 } as unknown as FakeUsage;
  }),
  thinking: changed(({ message }) => {
    message.reasoning_content = 'Reasoning outside the content.';
  }),
  /** Returns the API key in an error. */
  echo: ({ request, response }) =>
    json(response, 500, { error: { message: `no luck with ${keyOf(request)}`, key: keyOf(request) } }, SOON),
  'echo-answer': ({ request, response, correctReply }) => {
    (correctReply.choices[0] as Choice).message.content =
      `<reasoning>${keyOf(request)}</reasoning>\n5 5 5 SLEEP`;
    json(response, 200, correctReply);
  },
};

const keyOf = ({ headers }: FakeRequest): string =>
  String(headers['api-key'] ?? headers.authorization?.replace('Bearer ', '') ?? 'none');
