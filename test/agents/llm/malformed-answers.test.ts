/** Malformed answers: deep nesting, names of prototype members as keys, impossible counts, invalid headers and HTTP. */
import { createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { toEndpoint } from '../../../src/agents/llm/endpoint.js';
import { MAX_DEPTH } from '../../../src/shared/http/bounded-fetch.js';
import type { FakeOptions } from '../../fakes/openai.js';
import { type Fault, json } from '../../fakes/openai-faults.js';
import {
  askOnce,
  firstPrompt,
  type ModelOptions,
  modelOf,
  NEVER,
  PRICES,
  startModel,
} from '../../support/llm.js';

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

/** More levels of nesting than a call stack can hold. */
const LEVELS = 200_000;
const ARRAYS = '['.repeat(LEVELS) + ']'.repeat(LEVELS);
const OBJECTS = `${'{"a":'.repeat(LEVELS / 2)}1${'}'.repeat(LEVELS / 2)}`;

describe('a deeply nested answer', () => {
  it.each([
    ['as arrays', ARRAYS],
    ['as objects', OBJECTS],
    ['as choices', `{"choices":${ARRAYS}}`],
    ['as a message', `{"choices":[{"message":${ARRAYS}}]}`],
    ['as the content', completion(`"content":${OBJECTS}`)],
    ['as a part of the content', completion(`"content":[{"type":"text","text":${ARRAYS}}]`)],
    ['as reasoning', completion(`${CONTENT},"reasoning":${ARRAYS}`)],
    ['as tool calls', completion(`${CONTENT},"tool_calls":${ARRAYS}`)],
    ['as the usage', completion(CONTENT, `"usage":${OBJECTS}`)],
    ['as an unknown field', completion(CONTENT, `"extra":${OBJECTS}`)],
  ])('%s is retried like any malformed answer', async (_, text) => {
    const { error, ledger, fake } = await ask(body(text), { retries: 1 });
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: false });
    expect(error!.message).toContain(
      `got 2 consecutive failures, the last: an invalid answer: more than ${MAX_DEPTH} levels of nesting`,
    );
    expect(fake.requests.length).toBe(2);
    expect(ledger.spent).toBeGreaterThan(0);
  });

  it.each([
    ['as the message', `{"error":{"message":${ARRAYS}}}`],
    ['as the error', `{"error":${OBJECTS}}`],
    ['as the code', `{"error":{"message":"no","code":${ARRAYS}}}`],
    ['as the whole', ARRAYS],
    ['as messages, in as many levels as are read', `${'{"message":{"error":'.repeat(30)}1${'}}'.repeat(30)}`],
    ['as an invalid field', '{"detail":[{"msg":"no","loc":[{"toString":1},["a"],null]}]}'],
    ['as half a million spaces', `{"message":"not support${' '.repeat(5e5)}"}`],
    ['as half a million numbers', `[${Array(5e5).fill(1).join()}]`],
  ])('in an error body, %s, does not change the meaning of the status', async (_, text) => {
    const refused = await ask(body(text, 401), { retries: 1 });
    expect(refused.error).toMatchObject({ code: 'endpoint_failed', lasting: true });
    expect(refused.error!.message).toMatch(
      /got 401 .*Check the key in OPENAI_API_KEY and the base URL \(--base-url\)\.$/,
    );
    expect([refused.fake.requests.length, refused.ledger.spent]).toEqual([1, 0]);
    const busy = await ask(body(text, 429, { 'retry-after': '7' }), { retries: 1 });
    expect(busy.error!.message).toContain('the last: 429 ');
    expect([busy.clock.waits, busy.ledger.spent]).toEqual([[7000], 0]);
  });
});

describe('names of prototype members as keys', () => {
  const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'toJSON', 'then'];
  const EVIL = '{"content":"9 9 9 GAMING","prompt_tokens":1,"completion_tokens":1,"polluted":1,"toString":1}';

  it.each(KEYS)('%s has no effect anywhere in an answer', async (key) => {
    const plain = await ask(body(completion(CONTENT)));
    const evil = `"${key}":${EVIL}`;
    for (const text of [
      completion(CONTENT, `${USAGE},${evil}`),
      completion(`${CONTENT},${evil}`),
      completion(`"content":[{"type":"text","text":"5 5 5 SLEEP",${evil}}]`),
      completion(CONTENT, `"usage":{"prompt_tokens":400,"completion_tokens":9,${evil}}`),
      `{"choices":[{${evil},"finish_reason":"stop","message":{${CONTENT}}}],${USAGE}}`,
    ]) {
      const { answer, ledger } = await ask(body(text));
      expect([answer, ledger.spent]).toEqual([plain.answer, plain.ledger.spent]);
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each(KEYS)('%s does not replace a missing field', async (key) => {
    const nothing = await ask(body(`{"${key}":${completion(CONTENT)}}`));
    expect(nothing.error!.message).toContain('got: an answer that is not a chat completion: {');
    const silent = await ask(body(completion(`"${key}":{${CONTENT}}`)));
    expect(silent.answer!.completion).toBe('');
    const uncounted = await ask(body(completion(CONTENT, `"usage":{"${key}":${EVIL}}`)));
    expect(uncounted.answer!.usage).not.toHaveProperty('prompt_tokens');
    const refused = await ask(
      body(`{"error":{"${key}":${EVIL},"message":{"${key}":1},"code":"${key}"}}`, 400),
    );
    expect(refused.error).toMatchObject({ code: 'endpoint_failed', lasting: true });
  });
});

describe('impossible counts', () => {
  const COUNTS = '-1 1.5 1e999 -1e999 1e15 9007199254740993 null true "9" [] {}'.split(' ');
  const usage = (prompt: string, completed: string, more = '') =>
    body(completion(CONTENT, `"usage":{"prompt_tokens":${prompt},"completion_tokens":${completed}${more}}`));

  it.each(COUNTS)('%s tokens: the request is charged its maximum cost', async (count) => {
    const { ledger } = await ask('no-usage');
    for (const fault of [usage(count, '9'), usage('400', count)]) {
      const result = await ask(fault);
      expect(result.ledger.spent).toBe(ledger.spent);
      expect(result.answer!.usage).not.toHaveProperty('prompt_tokens');
    }
  });

  it.each(COUNTS)('%s cached tokens do not lower the cost', async (count) => {
    const { ledger } = await ask(usage('400', '9'));
    expect(ledger.spent).toBe((400 * PRICES.prompt + 9 * PRICES.completion) / 1e6);
    for (const more of [
      `,"prompt_tokens_details":{"cached_tokens":${count}}`,
      `,"prompt_cache_hit_tokens":${count}`,
    ])
      expect((await ask(usage('400', '9', more))).ledger.spent).toBe(ledger.spent);
  });

  it('reasoning without a completion token: the request is charged its maximum cost', async () => {
    const message = '"content":"","reasoning":"Tired, so sleep."';
    const { answer, ledger } = await ask(
      body(completion(message, '"usage":{"prompt_tokens":400,"completion_tokens":0}')),
    );
    expect(answer!.reasoning).toBe('Tired, so sleep.');
    expect(answer!.usage).not.toHaveProperty('completion_tokens');
    expect(ledger.spent).toBe((await ask('no-usage')).ledger.spent);
  });
});

describe('the parser of answers', () => {
  it('reads only the first choice', async () => {
    const others = Array(5000).fill('{"message":7}').join();
    const text = `{"choices":[{"message":{${CONTENT}}},${others}],${USAGE}}`;
    expect((await ask(body(text))).answer!.completion).toBe('5 5 5 SLEEP');
    const { error } = await ask(body(`{"choices":[${others}]}`));
    expect(error!.message).toContain('an answer that is not a chat completion');
  });

  it('reads a content of at most a thousand parts', async () => {
    const parts = (count: number) =>
      completion(`"content":[${Array(count).fill('{"type":"text","text":"5"}').join()}]`);
    expect((await ask(body(parts(1000)))).answer!.completion).toBe('5'.repeat(1000));
    expect((await ask(body(parts(1001)))).error!.message).toContain(
      'an answer that is not a chat completion',
    );
  });

  it('gives an empty text for tool calls, and keeps their token counts', async () => {
    const call = '{"id":"1","type":"function","function":{"name":"act","arguments":"{}"}}';
    const { answer } = await ask(body(completion(`"content":null,"tool_calls":[${call}]`)));
    expect(answer).toMatchObject({ completion: '', refused: false, usage: { completion_tokens: 9 } });
  });

  it('gives valid Unicode, whatever charset the answer claims', async () => {
    const text = '"content":"a\\u0000b \\ud800","reasoning":"\\udc00"';
    const { answer } = await ask(
      body(`{"choices":[{"finish_reason":"\\ud800","message":{${text}}}],${USAGE}}`, 200, {
        'content-type': 'application/json; charset=utf-16',
      }),
    );
    expect(answer).toMatchObject({ completion: 'a\0b \ufffd', reasoning: '\ufffd', finish: '\ufffd' });
  });
});

it.each(['0.0000001', '0.0009'])(
  'the client uses the default wait for a Retry-After of %s s',
  async (after) => {
    const { clock } = await ask(body('{}', 429, { 'retry-after': after }), { retries: 2 });
    expect(clock.waits).toEqual([1000, 2000]);
  },
);

it.each(['9'.repeat(400), '99999999999', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
  'a request fails if Retry-After is far too long: %s',
  async (after) => {
    const { error, clock } = await ask(body('{}', 429, { 'retry-after': after }), { retries: 2 });
    expect(error).toMatchObject({ lasting: true, message: expect.stringContaining('got a wait of') });
    expect(clock.waits).toEqual([]);
  },
);

it.each(['1e308', 'Infinity', '0x10', '1,5', '5, 10', 'NaN', '-1', 'Fri, 31 Dec 275761 23:59:59 GMT'])(
  'the client uses the default wait for an invalid Retry-After: %s',
  async (after) => {
    for (const name of ['retry-after', 'retry-after-ms']) {
      const { clock } = await ask(body('{}', 429, { [name]: after }), { retries: 1 });
      expect(clock.waits).toEqual([1000]);
    }
  },
);

it.each([301, 302, 303, 307, 308])('the client does not follow a redirect of status %d', async (status) => {
  const elsewhere = await startModel();
  const redirect: FakeOptions = {
    faultOf: () => body('{}', status, { location: `${elsewhere.url.replace('127.0.0.1', 'localhost')}/v1` }),
  };
  const { error } = await askOnce(redirect, { retries: 3 });
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
