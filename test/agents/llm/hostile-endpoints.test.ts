/** Tests that answers of hostile or broken endpoints exhaust no memory, corrupt no file and hide no cost. */
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MAX_BODY_BYTES, openClient } from '../../../src/agents/llm/client.js';
import { toEndpoint } from '../../../src/agents/llm/endpoint.js';
import { RateLimiter } from '../../../src/agents/llm/rate-limiter.js';
import { MAX_LINE_BYTES } from '../../../src/cli/files/trajectory-files.js';
import { resolveMove } from '../../../src/rollouts/trajectories/move.js';
import { redactor } from '../../../src/shared/http/redactor.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { FAKE_KEY } from '../../fakes/openai.js';
import type { Exchange, Fault } from '../../fakes/openai-faults.js';
import { askOnce, firstPrompt, type ModelOptions, modelOf, NEVER, startModel } from '../../support/llm.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Sends one prompt to an endpoint that always answers with this fault. */
const ask = (fault: Fault, options?: ModelOptions) => askOnce({ faultOf: () => fault }, options);

const JSON_HEADERS = { 'content-type': 'application/json' };

/** Returns a fault that changes a valid answer. */
const changed =
  (
    change: (correctReply: { choices: { message: Record<string, unknown> }[]; usage?: unknown }) => void,
  ): Fault =>
  ({ response, correctReply }) => {
    change(correctReply as never);
    response.writeHead(200, JSON_HEADERS).end(JSON.stringify(correctReply));
  };

const withContent = (content: unknown): Fault =>
  changed(({ choices }) => {
    choices[0].message.content = content;
  });

describe('an oversized answer', () => {
  const packed = gzipSync(Buffer.alloc(MAX_BODY_BYTES + 1, ' '));
  const faults: Record<string, (exchange: Exchange) => void> = {
    'whose text is too long': withContent('x'.repeat(MAX_BODY_BYTES)) as (exchange: Exchange) => void,
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
    const { error } = await ask(({ response }) => {
      response.writeHead(400, JSON_HEADERS).end('x'.repeat(MAX_BODY_BYTES + 1));
    });
    expect(error!.message).toMatch(/got 400 more than \d+ bytes of a response/);
  });
});

it('28 answers of the largest allowed size fit into one episode line', () => {
  const completion = `<reasoning>${'x'.repeat(MAX_BODY_BYTES - 30)}</reasoning> 5 5 5 SLEEP`;
  const step = Buffer.byteLength(JSON.stringify(resolveMove({ prompt: firstPrompt(), completion })));
  expect(step).toBeGreaterThan(1.9 * MAX_BODY_BYTES);
  // A line also has other fields of each step, such as the observation, in less than 8192 bytes.
  expect(NUM_STEPS * (step + 8192)).toBeLessThan(MAX_LINE_BYTES);
});

describe('an answer', () => {
  it('in parts has the text of its parts, and their reasoning', async () => {
    const thinking = [{ type: 'text', text: 'Tired.' }];
    const { answer, fake } = await ask(
      withContent([
        { type: 'thinking', thinking },
        { type: 'text', text: '5 5 5 ' },
        { type: 'text', text: 'SLEEP' },
        {},
      ]),
      { retries: 3 },
    );
    expect([answer!.completion, answer!.reasoning]).toEqual(['5 5 5 SLEEP', 'Tired.']);
    expect(fake.requests.length).toBe(1);
  });

  it('has no unpaired surrogates', async () => {
    const { answer } = await ask(({ response, correctReply }) => {
      correctReply.choices = [{ message: { content: 'a\ud800b', reasoning: 'c\udc00' } }];
      response.writeHead(200, JSON_HEADERS).end(JSON.stringify(correctReply));
    });
    expect([answer!.completion, answer!.reasoning]).toEqual(['a\ufffdb', 'c\ufffd']);
  });

  it.each([
    ['zeros', { prompt_tokens: 0, completion_tokens: 0 }],
    ['no completion token for an answer with text', { prompt_tokens: 400, completion_tokens: 0 }],
    ['too many tokens', { prompt_tokens: 9e15, completion_tokens: 1 }],
    ['text', { prompt_tokens: '400', completion_tokens: '9' }],
    ['a list', []],
  ])('with invalid usage (%s) is charged its maximum cost', async (_, usage) => {
    const uncounted = await ask('no-usage');
    const { answer, ledger } = await ask(
      changed((correctReply) => {
        correctReply.usage = usage;
      }),
    );
    expect(answer!.usage).toEqual(uncounted.answer!.usage);
    expect(ledger.spent).toBe(uncounted.ledger.spent);
  });
});

it('the cost of a request that a gateway answers with 520 or 524 counts as spent', async () => {
  // Cloudflare's statuses (MAY_BE_CHARGED of request-faults.ts).
  for (const status of [520, 524]) {
    const { ledger } = await ask(({ response }) => void response.writeHead(status).end());
    expect(ledger.spent).toBeGreaterThan(0);
  }
});

it.each(['0', '-5', '-1000', 'apples 5', new Date(0).toUTCString()])(
  'the client uses the default wait for an invalid, zero or past Retry-After: %j',
  async (after) => {
    const busy: Fault = ({ response }) => void response.writeHead(429, { 'retry-after': after }).end('{}');
    const { clock } = await ask(busy, { retries: 2 });
    expect(clock.waits).toEqual([1000, 2000]);
  },
);

it('the model returns to the newer name of the token limit if the older is refused, and fails if both are', async () => {
  const refusing = (name: string): Fault => {
    return ({ response }) => {
      const error = { message: `Unsupported: '${name}'. Use 'max_completion_tokens' instead.` };
      response.writeHead(400, JSON_HEADERS).end(JSON.stringify({ error }));
    };
  };
  const fake = await startModel({
    // One long answer makes the model try the older name.
    answer: ({ index }) => (index === 0 ? 'word '.repeat(500) : '5 5 5 SLEEP'),
    faultOf: ({ body }) => ('max_tokens' in body ? refusing('max_tokens') : null),
  });
  const { model } = await modelOf(fake);
  for (let k = 0; k < 3; k++) await model.complete(firstPrompt(), NEVER);
  // The keys of a request are model, messages and the token limit.
  const names = fake.requests.map(({ body }) => Object.keys(body)[2]);
  expect(names).toEqual([
    'max_completion_tokens',
    'max_tokens',
    'max_completion_tokens',
    'max_completion_tokens',
  ]);
  const both = await ask(refusing('either'));
  expect(both.error).toMatchObject({ lasting: true, message: expect.stringContaining('Unsupported') });
  expect(both.fake.requests.length).toBe(2);
});

it('the pause of a rate limiter ends if the clock is set back', async () => {
  let now = 1e12;
  const limiter = new RateLimiter({
    now: () => now,
    wait: async (ms) => {
      expect(ms).toBe(1000);
      now -= 86_400_000;
    },
  });
  limiter.pause(1000);
  await limiter.wait(NEVER);
  expect(now).toBe(1e12 - 86_400_000);
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

  it('is redacted in base64, JSON, URLs and hexadecimal', () => {
    const key = 'se/cret+4f1c8a2e';
    const redact = redactor([key]);
    const bearer = (around: string) => Buffer.from(`${around}${key}${around}`);
    /** The base64 of the key after `offset` other bytes. Its ends depend on the bytes around the key. */
    const core = (offset: number) =>
      Buffer.concat([Buffer.alloc(offset), Buffer.from(key)]).toString('base64');
    for (const around of ['', 'a', 'ab', 'Bearer ', ':']) {
      const packed = [bearer(around).toString('base64'), bearer(around).toString('base64url')];
      for (const text of packed) expect(redact(text)).toContain('[redacted]');
      for (const offset of [0, 1, 2]) expect(redact(packed[0])).not.toContain(core(offset).slice(4, -4));
    }
    const escaped = [
      key.replace('/', '\\/'),
      encodeURIComponent(key).toLowerCase(),
      Buffer.from(key).toString('hex'),
    ];
    for (const text of escaped) expect(redact(`<${text}>`)).toBe('<[redacted]>');
  });

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
  vi.unstubAllEnvs();
  for (const spy of spies) {
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  }
});
