/** Retries of failed requests: which requests are retried and when, and the errors of requests that fail. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { toEndpoint } from '../../../src/agents/llm/endpoint.js';
import { LLM_DEFAULTS } from '../../../src/cli/llm/llm-options.js';
import { FAKE_KEY, type FakeOptions } from '../../fakes/openai.js';
import { type Fault, hasNewerLimit, hasSystemMessage, json, refusing } from '../../fakes/openai-faults.js';
import { START } from '../../support/fake-clock.js';
import { askOnce, firstPrompt, modelOf, NEVER, PRICES, startModel } from '../../support/llm.js';

/** Answers the first `count` requests with a fault, and all others correctly. */
const failFirst = (count: number, fault: Fault): FakeOptions => ({
  faultOf: ({ index }) => (index < count ? fault : null),
});

describe('a request is retried', () => {
  it.each([
    '429',
    '408',
    '500',
    '503',
    '504',
    'reset',
    'half-body',
    'malformed',
    'html',
    'empty-choices',
    'no-choices',
    'null-body',
    'empty-body',
    'echo',
  ])('after %s', async (fault) => {
    const { answer, tally, fake } = await askOnce(failFirst(2, fault), { retries: 2 });
    expect(answer!.usage.requests).toBe(3);
    expect([tally.requests, tally.unanswered, fake.requests.length]).toEqual([3, 2, 3]);
  });

  it.each(['silence', 'trickle'])('after %s, once the time limit of the answer has passed', async (fault) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const fake = await startModel(failFirst(1, fault));
    // Longer than the request takes to arrive.
    const timeoutMs = 1e7;
    const { model } = await modelOf(fake, { retries: 1, timeoutMs });
    const answer = model.complete(firstPrompt(), NEVER);
    await vi.waitUntil(() => fake.requests.length === 1);
    vi.advanceTimersByTime(timeoutMs);
    expect((await answer).usage.requests).toBe(2);
  });

  it.each([
    ['2', 2000],
    ['200', 200_000],
    // The longest accepted wait, then a wait of 0, which is replaced by the default.
    ['900', 900_000],
    ['0', 1000],
    [new Date(START + 3000).toUTCString(), 3000],
  ])('after Retry-After: %s, in %i ms', async (after, expected) => {
    const busy: Fault = ({ response }) => void response.writeHead(429, { 'retry-after': after }).end('{}');
    const { clock } = await askOnce(failFirst(1, busy), { retries: 1 });
    expect(clock.waits).toEqual([expected]);
  });

  it('after growing waits if the endpoint requests none', async () => {
    const { clock, answer } = await askOnce(failFirst(9, 'malformed'), { retries: 9, random: () => 0.5 });
    expect(answer).not.toBeNull();
    // Each wait is longer by a random share up to 0.25, here by half of that.
    expect(clock.waits).toEqual(
      [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000].map((ms) => ms * 1.125),
    );
  });

  it('by default for longer than a minute, so that a limit per minute ends no run', async () => {
    // The random part of a wait, which only makes it longer, is 0.
    const retries = LLM_DEFAULTS.retries;
    const busy: Fault = ({ response }) => json(response, 429, {});
    const { answer, clock } = await askOnce(failFirst(retries, busy), { retries });
    expect(answer!.usage.requests).toBe(1 + retries);
    expect(clock.waits.reduce((sum, ms) => sum + ms, 0)).toBe(63_000);
  });

  it.each([
    ['429 until the limit is reset', 429, { 'x-ratelimit-reset-requests': '6m0s' }, 360_000],
    ['503 until the limit is reset', 503, { 'x-ratelimit-reset-tokens': '59.56s' }, 59_560],
    [
      '429, for the default wait if the limit is reset sooner',
      429,
      { 'x-ratelimit-reset-tokens': '20ms' },
      1000,
    ],
    ['429, by Retry-After alone', 429, { 'retry-after': '2', 'x-ratelimit-reset-tokens': '59s' }, 2000],
    ['500, whatever the limits', 500, { 'x-ratelimit-reset-tokens': '59s' }, 1000],
  ])('after %s', async (_, status, headers, expected) => {
    const busy: Fault = ({ response }) => json(response, status, {}, headers);
    const { clock } = await askOnce(failFirst(1, busy), { retries: 1 });
    expect(clock.waits).toEqual([expected]);
  });

  it('after the retryDelay in the body, as Gemini sends it', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17.5s' }];
    const body = [{ error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED', details } }];
    const busy: Fault = ({ response }) => json(response, 429, body);
    const { clock, error } = await askOnce({ faultOf: () => busy }, { retries: 1 });
    expect(clock.waits).toEqual([17_500]);
    expect(error!.message).toContain('got 2 consecutive failures, the last: 429 Quota exceeded. Check');
  });

  it('until no retry is left', async () => {
    const { error, fake } = await askOnce({ faultOf: () => '500' }, { retries: 3 });
    expect(fake.requests.length).toBe(4);
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: false });
    expect(error!.message).toMatch(
      /^Expected http:\/\/127\.0\.0\.1:\d+\/v1 to answer, got 4 consecutive failures, the last: 500 fake error 500\. Check its address and that it runs, try again later, or allow more retries \(--retries\)\.$/,
    );
  });

  it.each([
    ['OpenAI', 400, { error: { message: 'Unrecognized request argument: max_completion_tokens' } }],
    ['vLLM', 400, { object: 'error', message: "[{'loc': ('body', 'max_completion_tokens')}]", code: 400 }],
    ['FastAPI', 422, { detail: [{ loc: ['body', 'max_completion_tokens'], msg: 'Extra inputs' }] }],
    [
      'FastAPI in Mistral',
      422,
      { object: 'error', message: { detail: [{ loc: ['max_completion_tokens'] }] } },
    ],
    ['a text', 404, 'unknown field: max_completion_tokens'],
    ['two fields', 400, { error: 'Bad Request', message: 'max_completion_tokens is not allowed' }],
  ])('with the older name of the token limit if the newer name is refused: %s', async (_, status, body) => {
    const refusal = refusing(hasNewerLimit, status, body);
    const { answer, model, fake, ledger } = await askOnce({ faultOf: () => refusal });
    const second = await model.complete(firstPrompt(), NEVER);
    expect([answer!.usage.requests, second.usage.requests, fake.requests.length]).toEqual([2, 1, 3]);
    expect(fake.requests[2].body.max_tokens).toBe(64);
    // The refused request is not charged.
    expect(ledger.spent).toBe(answer!.usage.cost_usd! + second.usage.cost_usd!);
  });

  it.each([
    ['with status 400', undefined, 'no-system-role'],
    [
      'with status 500',
      undefined,
      refusing(hasSystemMessage, 500, { error: { message: 'Conversation roles must alternate' } }),
    ],
    ['by the option alone', 'user', 'no-system-role'],
  ] as const)(
    'with the rules in the user message if the system role is refused: %s',
    async (_, systemRole, fault) => {
      const { answer, model, fake, ledger } = await askOnce({ faultOf: () => fault }, { systemRole });
      const second = await model.complete(firstPrompt(), NEVER);
      const refused = systemRole === 'user' ? 0 : 1;
      expect([answer!.usage.requests, second.usage.requests]).toEqual([1 + refused, 1]);
      const [system, user] = firstPrompt();
      const merged = [{ role: 'user', content: `${system.content}\n\n${user.content}` }];
      expect(fake.requests.map(({ body }) => body.messages)).toEqual([
        ...Array(refused).fill([system, user]),
        merged,
        merged,
      ]);
      // The refused request is not charged.
      expect(ledger.spent).toBe(answer!.usage.cost_usd! + second.usage.cost_usd!);
    },
  );

  it('with both changes if the endpoint refuses the newer name of the token limit and the system role', async () => {
    const { answer, fake } = await askOnce({
      faultOf: (request) => (hasNewerLimit(request) ? 'no-newer-limit' : 'no-system-role'),
    });
    expect([answer!.usage.requests, fake.requests.at(-1)!.body.max_tokens]).toEqual([3, 64]);
  });

  it('until the rules in the user message are refused too', async () => {
    const refusal: Fault = ({ response }) => json(response, 400, { message: 'System role not supported' });
    const { error, fake } = await askOnce({ faultOf: () => refusal }, { retries: 5 });
    expect(error).toMatchObject({ lasting: true, message: expect.stringContaining('System role not') });
    expect(fake.requests.length).toBe(2);
  });

  it('until both names of the token limit are refused', async () => {
    const refusal: Fault = ({ response }) =>
      void response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"error":{"message":"Expected neither max_tokens nor max_completion_tokens"}}');
    const { error, fake } = await askOnce({ faultOf: () => refusal }, { retries: 5 });
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: true });
    // The third key of a request is the token limit.
    expect(fake.requests.map(({ body }) => Object.keys(body)[2])).toEqual([
      'max_completion_tokens',
      'max_tokens',
    ]);
  });

  it('until the older name of the token limit is refused, with the errors of both names', async () => {
    const tooLarge = 'max_completion_tokens is too large: 64';
    const unsupported = "Unsupported parameter: 'max_tokens'";
    const refusal: Fault = ({ request, response }) =>
      json(response, 400, { message: hasNewerLimit(request) ? tooLarge : unsupported });
    const { error } = await askOnce({ faultOf: () => refusal });
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: true });
    expect(error!.message).toMatch(/got 400 max_completion_tokens is too large: 64\. Check/);
    expect(error!.message).toMatch(
      / With max_tokens: Expected .* got 400 Unsupported parameter: 'max_tokens'\. /,
    );
  });
});

it('the next request has the older name of the token limit if the endpoint ignores the newer name', async () => {
  // The answer is longer than the token limit of 64.
  const { model, fake } = await askOnce({ answer: () => 'word '.repeat(500) });
  await model.complete(firstPrompt(), NEVER);
  // The third key of a request is the token limit.
  expect(fake.requests.map(({ body }) => Object.keys(body)[2])).toEqual([
    'max_completion_tokens',
    'max_tokens',
  ]);
});

describe('a request fails', () => {
  it.each([
    [
      '400',
      /^Expected http.* to answer, got 400 fake error 400\. Check the name of the model \(llm:MODEL\), the token limit \(--max-tokens\)/,
    ],
    [
      '401',
      /got 401 Incorrect API key provided: \[redacted\]\. Check the key in OPENAI_API_KEY and the base URL \(--base-url\)\.$/,
    ],
    ['403', /Check the key in OPENAI_API_KEY/],
    ['404', /Check the name of the model \(llm:MODEL\) and the base URL \(--base-url\)/],
    ['429-no-money', /plan and billing/],
    ['redirect', /Pass the URL of the redirect as the base URL \(--base-url\)/],
  ])('without a retry: %s', async (fault, message) => {
    const { error, fake } = await askOnce({ faultOf: () => fault }, { retries: 5 });
    expect(error).toMatchObject({
      code: 'endpoint_failed',
      lasting: true,
      message: expect.stringMatching(message),
    });
    expect(fake.requests.length).toBe(1);
  });

  it.each<Record<string, string>>([
    { 'retry-after': '3600' },
    { 'x-ratelimit-reset-requests': '1h0m0s', 'x-ratelimit-remaining-requests': '0' },
  ])('without a retry if the requested wait is an hour: %j', async (headers) => {
    const busy: Fault = ({ response }) => void response.writeHead(429, headers).end('{}');
    const { error, clock } = await askOnce({ faultOf: () => busy }, { retries: 5 });
    expect(error!.message).toMatch(/within 900 s, got a wait of 3600 s/);
    expect(clock.waits).toEqual([]);
  });

  const CONTEXT = "This model's maximum context length is 512 tokens.";
  it.each([
    [{ error: { message: CONTEXT, param: 'messages', code: 'context_length_exceeded' } }, CONTEXT],
    [{ object: 'error', message: CONTEXT, type: 'BadRequestError', param: null, code: 400 }, CONTEXT],
    [{ error: CONTEXT }, CONTEXT],
    [{ error: 'Bad Request', message: CONTEXT, statusCode: 400 }, CONTEXT],
    [{ type: 'error', error: { type: 'invalid_request_error', message: CONTEXT } }, CONTEXT],
    [{ detail: CONTEXT }, CONTEXT],
    [
      { message: { detail: [{ type: 'a', loc: ['body', 'messages', 0], msg: 'Bad.' }] } },
      'body.messages.0: Bad.',
    ],
    [{ detail: [{ msg: 'One.' }, { loc: ['body'], msg: 'Two.' }] }, 'One.; body: Two.'],
    [
      { detail: [{ type: 'extra', loc: ['body', 'n'] }] },
      '{"detail":[{"type":"extra","loc":["body","n"]}]}.',
    ],
    [[{ error: { code: 400, message: CONTEXT, status: 'INVALID_ARGUMENT' } }], CONTEXT],
    [{ success: false, errors: [{ code: 7, message: CONTEXT }], messages: [] }, CONTEXT],
    [{ error: { message: 'Provider returned error', metadata: { raw: CONTEXT } } }, CONTEXT],
    [{ error: { message: '', code: 'no_text' } }, '{"error":{"message":"","code":"no_text"}}.'],
    [`  ${CONTEXT}\n`, CONTEXT],
    ['<html><head><title>Bad request</title></head><body>...</body></html>', 'Bad request.'],
    ['<html><body>No title</body></html>', '<html><body>No title</body></html>.'],
    ['\u001b[31mred', '\ufffd[31mred.'],
    ['null', 'null.'],
    ['', 'status code (no body).'],
    [{ detail: 'x'.repeat(1e5) }, `${'x'.repeat(296)}...`],
    [{ detail: [{ type: 'a', input: FAKE_KEY }] }, '{"detail":[{"type":"a","input":"[redacted]"}]}.'],
  ])('with the message in the body of the error: %j', async (body, expected) => {
    const refusal: Fault = ({ response }) => json(response, 400, body);
    const { error, fake } = await askOnce({ faultOf: () => refusal }, { retries: 5 });
    expect(error!.message).toContain(` to answer, got 400 ${expected}`);
    expect(fake.requests.length).toBe(1);
  });

  it('after its retries and at no cost if there is no server', async () => {
    const closed = await startModel();
    const endpoint = toEndpoint({ environment: closed.environment });
    await closed.close();
    const { error, ledger } = await askOnce({}, { endpoint, retries: 1 });
    expect(error!.message).toMatch(/got 2 consecutive failures, the last: no answer: .*ECONNREFUSED/);
    expect(ledger.spent).toBe(0);
  });

  it('if the last attempt exceeds the time limit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const fake = await startModel(failFirst(1, 'silence'));
    const { model } = await modelOf(fake, { retries: 0, timeoutMs: 1e7 });
    const answer = expect(model.complete(firstPrompt(), NEVER)).rejects;
    const failure = answer.toThrow(/got: no complete answer within 10000 s\. Check/);
    await vi.waitUntil(() => fake.requests.length === 1);
    vi.advanceTimersByTime(1e7);
    await failure;
  });

  it('and is charged when its signal aborts', async () => {
    for (const fault of ['silence', 'trickle']) {
      const fake = await startModel({ faultOf: () => fault });
      const { model, ledger } = await modelOf(fake, { ledger: { prices: PRICES } });
      const stop = new AbortController();
      const answer = model.complete(firstPrompt(), stop.signal);
      await vi.waitUntil(() => fake.requests.length === 1);
      stop.abort(new Error('enough'));
      await expect(answer).rejects.toThrow('enough');
      expect(ledger.spent).toBeGreaterThan(0);
    }
  });
});

it('a 429 pauses all requests', async () => {
  const fake = await startModel(failFirst(1, '429-seconds'));
  let now = 0;
  const events: string[] = [];
  const clock = {
    now: () => now,
    wait: async (ms: number) => {
      events.push(`wait ${ms} after ${fake.requests.length}`);
      now += ms;
    },
  };
  const { model } = await modelOf(fake, {
    retries: 1,
    clock: { ...clock, wait: delayFirstWait(clock.wait) },
  });
  const one = model.complete(firstPrompt(), NEVER);
  await vi.waitUntil(() => delayedWaits.length === 1);
  // The second request waits too, although only the first was answered with 429.
  await model.complete(firstPrompt(), NEVER);
  delayedWaits[0]();
  await one;
  expect(events[0]).toBe('wait 2000 after 1');
  expect(fake.requests.length).toBe(3);
});

const delayedWaits: (() => void)[] = [];
/** Makes the first wait last until the test calls `delayedWaits[0]`. */
function delayFirstWait(wait: (ms: number) => Promise<void>): (ms: number) => Promise<void> {
  let isFirst = true;
  return async (ms) => {
    if (!isFirst) return wait(ms);
    isFirst = false;
    await new Promise<void>((resolve) => delayedWaits.push(resolve));
  };
}
