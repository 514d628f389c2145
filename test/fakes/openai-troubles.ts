/** How the fake endpoint may misbehave, and what it answers with. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request as it came. */
export interface FakeRequest {
  /** From 0, in the order in which they came. */
  readonly index: number;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
  /** The user message. */
  readonly user: string;
}

export interface FakeUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
}

/** A request, the response to it, and what would be a good one. */
export interface Exchange {
  readonly request: FakeRequest;
  readonly response: ServerResponse;
  readonly good: Reply;
}

export interface Reply {
  choices: unknown[];
  usage?: FakeUsage;
  [key: string]: unknown;
}

/** A name of TROUBLES, what to do instead of answering, or null for a good answer. */
export type Trouble = string | ((exchange: Exchange) => void | Promise<void>) | null;

/** Answers with a status, and a text or a value as JSON. */
export const json = (response: ServerResponse, status: number, body: unknown, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};

const failing =
  (status: number, headers: Record<string, string> = {}, error: object = {}) =>
  ({ response }: Exchange): void =>
    json(response, status, { error: { message: `made to fail with ${status}`, ...error } }, headers);

/** A good answer with something in it changed. */
const changed =
  (change: (choice: Choice, reply: Reply) => void) =>
  ({ response, good }: Exchange): void => {
    change(good.choices[0] as Choice, good);
    json(response, 200, good);
  };

interface Choice {
  finish_reason: string;
  message: { content: string | null; refusal?: string; [key: string]: unknown };
}

/** So that those who wait for it do not take long. */
const SOON = { 'retry-after-ms': '1' };

/** Ways to misbehave, by name. */
export const TROUBLES: Readonly<Record<string, (exchange: Exchange) => void | Promise<void>>> = {
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
  redirect: ({ response }) => json(response, 302, {}, { location: 'http://127.0.0.1:1/elsewhere' }),
  /** No answer at all. */
  silence: () => {},
  reset: ({ response }) => {
    response.socket?.destroy();
  },
  /** Headers and half of a body, then the end. */
  'half-body': ({ response, good }) => {
    const text = JSON.stringify(good);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(text.length) });
    response.write(text.slice(0, 20), () => response.socket?.destroy());
  },
  /** A space now and then: headers at once, and no end. */
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
  'empty-choices': ({ response, good }) => json(response, 200, { ...good, choices: [] }),
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
  /** As Azure refuses a prompt. */
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
    message.reasoning_content = 'Thought apart.';
  }),
  /** Says the key aloud, in what should be an answer and in the error around it. */
  echo: ({ request, response }) =>
    json(response, 500, { error: { message: `no luck with ${keyOf(request)}`, key: keyOf(request) } }, SOON),
  'echo-answer': ({ request, response, good }) => {
    (good.choices[0] as Choice).message.content = `<reasoning>${keyOf(request)}</reasoning>\n5 5 5 SLEEP`;
    json(response, 200, good);
  },
};

const keyOf = ({ headers }: FakeRequest): string =>
  String(headers['api-key'] ?? headers.authorization?.replace('Bearer ', '') ?? 'none');
