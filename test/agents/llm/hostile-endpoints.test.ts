/** Tests that answers of hostile or broken endpoints exhaust no memory, corrupt no file, leak no key and hide no cost. */
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MAX_BODY_BYTES, openClient, toEndpoint } from '../../../src/agents/llm/endpoint.js';
import { MAX_LINE_BYTES } from '../../../src/cli/files/trajectory-files.js';
import { resolveMove } from '../../../src/rollouts/trajectories/move.js';
import { MAX_DEPTH } from '../../../src/shared/http/bounded-fetch.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { FAKE_KEY } from '../../fakes/openai.js';
import { type Fault, json } from '../../fakes/openai-faults.js';
import { askOnce, firstPrompt, type ModelOptions, modelOf, NEVER, startModel } from '../../support/llm.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Sends one prompt to an endpoint that always answers with this fault. */
const ask = (fault: Fault, options?: ModelOptions) => askOnce({ faultOf: () => fault }, options);
/** Answers with this body and status. */
const body =
  (text: string, status = 200, headers = {}): Fault =>
  ({ response }) =>
    json(response, status, text, headers);

const CONTENT = '"content":"5 5 5 SLEEP"';
const USAGE = '"usage":{"prompt_tokens":400,"completion_tokens":9}';
const completion = (message: string, more = USAGE): string =>
  `{"choices":[{"finish_reason":"stop","message":{${message}}}],${more}}`;

describe('an oversized answer', () => {
  const packed = gzipSync(Buffer.alloc(MAX_BODY_BYTES + 1, ' '));
  const JSON_HEADERS = { 'content-type': 'application/json' };
  const faults: Record<string, Fault> = {
    'whose text is too long': body(completion(`"content":"${'x'.repeat(MAX_BODY_BYTES)}"`)),
    'that is compressed': ({ response }) =>
      void response.writeHead(200, { ...JSON_HEADERS, 'content-encoding': 'gzip' }).end(packed),
    'that never ends': ({ response }) => {
      response.writeHead(200, JSON_HEADERS);
      const more = (): boolean => response.write(' '.repeat(65536), (error) => error ?? more());
      more();
    },
  };
  it.each(Object.keys(faults))('%s is refused, and the cost of its request counts as spent', async (name) => {
    const { error, ledger, fake } = await ask(faults[name], { retries: 1 });
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: false });
    expect(error!.message).toContain(`more than ${MAX_BODY_BYTES} bytes of a response`);
    expect(fake.requests.length).toBe(2);
    expect(ledger.spent).toBeGreaterThan(0);
  });

  it('as the body of an error is refused', async () => {
    const { error } = await ask(body('x'.repeat(MAX_BODY_BYTES + 1), 400));
    expect(error!.message).toMatch(/got 400 more than \d+ bytes of a response/);
  });
});

it('28 answers of the largest allowed size fit into one episode line', () => {
  const longest = `<reasoning>${'x'.repeat(MAX_BODY_BYTES - 30)}</reasoning> 5 5 5 SLEEP`;
  const move = resolveMove({ prompt: firstPrompt(), completion: longest });
  const step = Buffer.byteLength(JSON.stringify(move));
  expect(step).toBeGreaterThan(1.9 * MAX_BODY_BYTES);
  // A line also has other fields of each step, such as the observation, in less than 8192 bytes.
  expect(NUM_STEPS * (step + 8192)).toBeLessThan(MAX_LINE_BYTES);
});

describe('a deeply nested answer', () => {
  /** More levels of nesting than a call stack can hold. */
  const LEVELS = 200_000;
  const ARRAYS = '['.repeat(LEVELS) + ']'.repeat(LEVELS);
  const OBJECTS = `${'{"a":'.repeat(LEVELS / 2)}1${'}'.repeat(LEVELS / 2)}`;

  it.each([
    ['as a whole', ARRAYS],
    ['as the content', completion(`"content":${OBJECTS}`)],
    ['as an unknown field', completion(CONTENT, `"extra":${ARRAYS}`)],
  ])('%s is retried like any malformed answer', async (_, text) => {
    const { error, ledger, fake } = await ask(body(text), { retries: 1 });
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: false });
    expect(error!.message).toContain(`the last: an invalid answer: more than ${MAX_DEPTH} levels of nesting`);
    expect(fake.requests.length).toBe(2);
    expect(ledger.spent).toBeGreaterThan(0);
  });

  it.each([
    ['as the message', `{"error":{"message":${ARRAYS}}}`],
    ['as the code', `{"error":{"message":"no","code":${OBJECTS}}}`],
    ['as messages, in as many levels as are read', `${'{"message":{"error":'.repeat(30)}1${'}}'.repeat(30)}`],
    ['as an invalid field', '{"detail":[{"msg":"no","loc":[{"toString":1},["a"],null]}]}'],
    ['as 200,000 spaces', `{"message":"not support${' '.repeat(2e5)}"}`],
    ['as 200,000 numbers', `[${Array(2e5).fill(1).join()}]`],
  ])('in an error body, %s, does not change the meaning of the status', async (_, text) => {
    const refused = await ask(body(text, 401), { retries: 1 });
    expect(refused.error).toMatchObject({ code: 'endpoint_failed', lasting: true });
    expect(refused.error!.message).toMatch(/got 401 .*Check the key in OPENAI_API_KEY/);
    expect([refused.fake.requests.length, refused.ledger.spent]).toEqual([1, 0]);
    const busy = await ask(body(text, 429, { 'retry-after': '7' }), { retries: 1 });
    expect(busy.error!.message).toContain('the last: 429 ');
    expect([busy.clock.waits, busy.ledger.spent]).toEqual([[7000], 0]);
  });
});

it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'toJSON', 'then'])(
  'the key %s, the name of a prototype member, has no effect in an answer, and replaces no missing field',
  async (key) => {
    const EVIL =
      '{"content":"9 9 9 GAMING","prompt_tokens":1,"completion_tokens":1,"polluted":1,"toString":1}';
    const plain = await ask(body(completion(CONTENT)));
    const evil = `"${key}":${EVIL}`;
    for (const text of [
      completion(`${CONTENT},${evil}`, `${USAGE},${evil}`),
      completion(`"content":[{"type":"text","text":"5 5 5 SLEEP",${evil}}]`),
      completion(CONTENT, `"usage":{"prompt_tokens":400,"completion_tokens":9,${evil}}`),
      `{"choices":[{${evil},"finish_reason":"stop","message":{${CONTENT}}}],${USAGE}}`,
    ]) {
      const { answer, ledger } = await ask(body(text));
      expect([answer, ledger.spent]).toEqual([plain.answer, plain.ledger.spent]);
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const nothing = await ask(body(`{"${key}":${completion(CONTENT)}}`));
    expect(nothing.error!.message).toContain('got: an answer that is not a chat completion: {');
    const silent = await ask(body(completion(`"${key}":{${CONTENT}}`, `"usage":{"${key}":${EVIL}}`)));
    expect(silent.answer!.completion).toBe('');
    expect(silent.answer!.usage).not.toHaveProperty('prompt_tokens');
    const error = `{"error":{"${key}":${EVIL},"message":{"${key}":1},"code":"${key}"}}`;
    expect((await ask(body(error, 400))).error).toMatchObject({ code: 'endpoint_failed', lasting: true });
  },
);

it('an answer is read as UTF-8 without unpaired surrogates, whatever charset it claims', async () => {
  const text = '"content":"a\\u0000b \\ud800","reasoning":"\\udc00"';
  const utf16 = { 'content-type': 'application/json; charset=utf-16' };
  const { answer } = await ask(body(completion(text), 200, utf16));
  expect(answer).toMatchObject({ completion: 'a\0b \ufffd', reasoning: '\ufffd' });
});

describe('a key', () => {
  it.each(['sk-1\nsk-2', 'ключ-secret', 'sk-\u0000-secret'])(
    'with characters that are invalid in a header is refused: %j',
    (key) => {
      for (const environment of [
        { OPENAI_API_KEY: key },
        { AZURE_OPENAI_API_KEY: key, AZURE_OPENAI_ENDPOINT: 'https://a', OPENAI_API_VERSION: '1' },
      ]) {
        expect(() => toEndpoint({ environment })).toThrow(
          /_API_KEY to be one line of printable ASCII, got other/,
        );
      }
    },
  );

  it('that is a placeholder is not redacted', async () => {
    const fake = await startModel({ answer: () => 'none of it\n5 5 5 SLEEP' });
    const environment = { ...fake.environment, OPENAI_API_KEY: 'none' };
    const { model } = await modelOf(fake, { endpoint: toEndpoint({ environment }) });
    expect((await model.complete(firstPrompt(), NEVER)).completion).toBe('none of it\n5 5 5 SLEEP');
  });

  it('in an invalid custom header is not in the message about the header', async () => {
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'X-Gate: gate-secret\rmore');
    const environment = { OPENAI_API_KEY: FAKE_KEY, OPENAI_CUSTOM_HEADERS: 'X-Gate: gate-secret\rmore' };
    const thrown = await openClient(toEndpoint({ environment }), 1000).catch((error) => error);
    expect(thrown).toMatchObject({ code: 'out_of_range' });
    expect(thrown.message).toMatch(/^Expected OPENAI_CUSTOM_HEADERS to have one header per line/);
    expect(thrown.message).not.toContain('gate-secret');
  });

  it('is in no message, even if the endpoint repeats it', async () => {
    for (const fault of ['echo', '401', 'echo-answer']) {
      const { error, answer } = await ask(fault);
      const texts = `${error?.stack} ${JSON.stringify(error)} ${JSON.stringify(answer)}`;
      expect(texts).toContain('[redacted]');
      expect(texts).not.toContain(FAKE_KEY);
    }
  });
});

it('the client logs nothing, even if OPENAI_LOG is debug', async () => {
  vi.stubEnv('OPENAI_LOG', 'debug');
  const spies = (['debug', 'info', 'log', 'warn', 'error'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation(() => {}),
  );
  for (const fault of [null, 'echo', 'html', 'reset']) await ask(fault);
  for (const spy of spies) {
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  }
});

it.each([301, 302, 303, 307, 308])('the client does not follow a redirect of status %d', async (status) => {
  const elsewhere = await startModel();
  const location = `${elsewhere.url.replace('127.0.0.1', 'localhost')}/v1`;
  const { error } = await ask(body('{}', status, { location }), { retries: 3 });
  expect(error).toMatchObject({ lasting: true });
  expect(elsewhere.requests).toEqual([]);
});

describe('invalid HTTP', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
  const validResponse = completion(CONTENT);
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

  /**
   * Sends two requests to a server that answers each with these bytes, on the same connection if it stays open. Returns the
   * completions or error codes.
   */
  async function outcomes(bytes: string): Promise<string[]> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}));
      // The last part of a request ends with the JSON's brace.
      socket.on('data', (data) => void (data.toString().endsWith('}') && socket.write(bytes)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const endpoint = toEndpoint({ baseUrl: `http://127.0.0.1:${port}/v1`, environment: {} });
    const { model } = await modelOf(await startModel(), { endpoint });
    const results: string[] = [];
    for (let k = 0; k < 2; k++) {
      const result = model.complete(firstPrompt(), NEVER);
      results.push(
        await result.then(
          ({ completion: text }) => text,
          ({ code }) => code,
        ),
      );
    }
    for (const socket of sockets) socket.destroy();
    server.close();
    return results;
  }

  it.each([
    [
      'after the last chunk',
      `${HEAD}transfer-encoding: chunked\r\n\r\n${chunk(validResponse)}0\r\n\r\nGARBAGE\r\n\r\n`,
    ],
    [
      'after the length',
      `${HEAD}content-length: ${validResponse.length}\r\n\r\n${validResponse}HTTP/1.1 200 OK\r\n\r\nevil`,
    ],
  ])('extra bytes %s change neither this answer nor the next', async (_, bytes) => {
    expect(await outcomes(bytes)).toEqual(['5 5 5 SLEEP', '5 5 5 SLEEP']);
  });

  it.each([
    ['a chunk without a length', `${HEAD}transfer-encoding: chunked\r\n\r\nZZ\r\n${validResponse}`],
    [
      'two lengths',
      `${HEAD}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n${chunk(validResponse)}0\r\n\r\n`,
    ],
    ['a length below zero', `${HEAD}content-length: -5\r\n\r\n${validResponse}`],
    ['an unknown status', `HTTP/1.1 999 No\r\ncontent-length: 2\r\n\r\n{}`],
    ['another protocol', 'HTTP/1.1 101 Switch\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nabc'],
    ['oversized headers', `${HEAD}x: ${'a'.repeat(1e5)}\r\n\r\n`],
    ['plain text', 'hello\r\n\r\n'],
  ])('%s: the request fails with an endpoint error', async (_, bytes) => {
    expect(await outcomes(bytes)).toEqual(['endpoint_failed', 'endpoint_failed']);
  });
});
