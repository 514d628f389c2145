/** Retries of failed requests: which requests are retried, when and in which form, and the errors of requests that fail. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { toEndpoint } from '../../../src/agents/llm/endpoint.js';
import { LLM_DEFAULTS } from '../../../src/cli/llm/llm-options.js';
import type { FakeOptions } from '../../fakes/openai.js';
import {
  type FakeRequest,
  type Fault,
  hasNewerLimit,
  hasSystemMessage,
  json,
  refusing,
} from '../../fakes/openai-faults.js';
import { START } from '../../support/fake-clock.js';
import {
  askOnce,
  billedFor,
  firstPrompt,
  type ModelOptions,
  modelOf,
  NEVER,
  PRICES,
  startModel,
} from '../../support/llm.js';

/** Answers the first `count` requests with a fault, and all others correctly. */
const failFirst = (count: number, fault: Fault): FakeOptions => ({
  faultOf: ({ index }) => (index < count ? fault : null),
});

it.each([
  ...['429', '408', '500', '503', '504', 'reset', 'half-body', 'malformed', 'html', 'empty-choices'],
  ...['no-choices', 'null-body', 'empty-body', 'echo'],
])('a request is retried after %s', async (fault) => {
  const { answer, tally, fake } = await askOnce(failFirst(2, fault), { retries: 2 });
  expect(answer!.usage.requests).toBe(3);
  expect([tally.requests, tally.unanswered, fake.requests.length]).toEqual([3, 2, 3]);
});

it.each(['400', '401', '403', '404', '429-no-money', 'redirect'])(
  'a request fails without a retry after %s',
  async (fault) => {
    const { error, fake } = await askOnce({ faultOf: () => fault }, { retries: 5 });
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: true });
    expect(fake.requests.length).toBe(1);
  },
);

it('a request fails if no retry is left, and the error names the remedies', async () => {
  const { error, fake } = await askOnce({ faultOf: () => '500' }, { retries: 3 });
  expect(fake.requests.length).toBe(4);
  expect(error).toMatchObject({ code: 'endpoint_failed', lasting: false });
  expect(error!.message).toMatch(
    /^Expected http:\/\/127\.0\.0\.1:\d+\/v1 to answer, got 4 consecutive failures, the last: 500 fake error 500\. Check its address and that it runs, try again later, or allow more retries \(--retries\)\.$/,
  );
});

it('a request fails after its retries and at no cost if there is no server', async () => {
  const closed = await startModel();
  const endpoint = toEndpoint({ environment: closed.environment });
  await closed.close();
  const { error, ledger } = await askOnce({}, { endpoint, retries: 1 });
  expect(error!.message).toMatch(/got 2 consecutive failures, the last: no answer: .*ECONNREFUSED/);
  expect(ledger.spent).toBe(0);
});

describe('the waits before two retries are', () => {
  const DEFAULT = [1000, 2000];
  /** Null: the request fails at once, because the endpoint requests a wait of more than 900 s. */
  const waits: [status: number, headers: Record<string, string>, expected: number[] | null][] = [
    [429, {}, DEFAULT],
    [429, { 'retry-after': '2' }, [2000, 2000]],
    [429, { 'retry-after': '900' }, [900_000, 900_000]],
    // The second wait is the default, because the first ends at the date.
    [429, { 'retry-after': new Date(START + 3000).toUTCString() }, [3000, 2000]],
    [429, { 'retry-after': '90', 'retry-after-ms': '15' }, [15, 15]],
    [500, { 'retry-after': '0.5' }, [500, 500]],
    [429, { 'x-ratelimit-reset-requests': '6m0s' }, [360_000, 360_000]],
    [503, { 'x-ratelimit-reset-tokens': '59.56s' }, [59_560, 59_560]],
    [429, { 'x-ratelimit-reset-tokens': '1500ms' }, [1500, 2000]],
    [429, { 'retry-after': '2', 'x-ratelimit-reset-tokens': '59s' }, [2000, 2000]],
    [500, { 'x-ratelimit-reset-tokens': '59s' }, DEFAULT],
    [429, { 'x-ratelimit-reset-requests': '1h0m0s', 'x-ratelimit-remaining-requests': '0' }, null],
    ...['901', '3600', '9'.repeat(310), 'Fri, 31 Dec 9999 23:59:59 GMT'].map(
      (after): [number, Record<string, string>, null] => [429, { 'retry-after': after }, null],
    ),
    ...['0', '0.0009', '-5', 'soon', 'apples 5', '1e308', 'Infinity', '0x10', '1,5', '5, 10', 'NaN'].flatMap(
      (after): [number, Record<string, string>, number[]][] => [
        [429, { 'retry-after': after }, DEFAULT],
        [429, { 'retry-after-ms': after }, DEFAULT],
      ],
    ),
    [429, { 'retry-after': new Date(0).toUTCString() }, DEFAULT],
    [429, { 'retry-after': 'Fri, 31 Dec 275761 23:59:59 GMT' }, DEFAULT],
  ];
  it.each(waits)('after status %d with the headers %j: %j', async (status, headers, expected) => {
    const busy: Fault = ({ response }) => json(response, status, {}, headers);
    const { error, clock } = await askOnce({ faultOf: () => busy }, { retries: 2 });
    expect(clock.waits).toEqual(expected ?? []);
    expect(error).toMatchObject({ lasting: expected === null });
    if (expected === null) expect(error!.message).toMatch(/within 900 s, got a wait of (\d|Infinity)/);
  });

  it('growing, by default for longer than a minute, so that a limit per minute ends no run', async () => {
    const defaults = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000];
    const { clock, answer } = await askOnce(failFirst(9, 'malformed'), { retries: 9, random: () => 0.5 });
    expect(answer).not.toBeNull();
    // Each wait is longer by a random share up to 0.25, here by half of that.
    expect(clock.waits).toEqual(defaults.map((ms) => ms * 1.125));
    expect(defaults.slice(0, LLM_DEFAULTS.retries).reduce((sum, ms) => sum + ms)).toBe(63_000);
  });
});

describe('a request is sent again in other forms if the endpoint refuses one:', () => {
  /** The form of a request: N or O, the newer or older name of the token limit; S or U, the role of the rules. */
  function formOf({ body }: FakeRequest): string {
    const [system, user] = firstPrompt();
    const merged = [{ role: 'user', content: `${system.content}\n\n${user.content}` }];
    const hasSystem = (body.messages as unknown[]).length === 2;
    expect(body.messages).toEqual(hasSystem ? [system, user] : merged);
    // The third field is the token limit.
    expect(Object.entries(body)[2]).toEqual([
      'max_completion_tokens' in body ? 'max_completion_tokens' : 'max_tokens',
      64,
    ]);
    return `${'max_completion_tokens' in body ? 'N' : 'O'}${hasSystem ? 'S' : 'U'}`;
  }
  const NAME = 'max_completion_tokens';
  const refusals: [service: string, status: number, body: unknown][] = [
    ['OpenAI', 400, { error: { message: `Unrecognized request argument: ${NAME}` } }],
    ['vLLM', 400, { object: 'error', message: `[{'loc': ('body', '${NAME}')}]`, code: 400 }],
    ['FastAPI', 422, { detail: [{ loc: ['body', NAME], msg: 'Extra inputs' }] }],
    ['FastAPI in Mistral', 422, { object: 'error', message: { detail: [{ loc: [NAME] }] } }],
    ['a text', 404, `unknown field: ${NAME}`],
    ['two fields', 400, { error: 'Bad Request', message: `${NAME} is not allowed` }],
  ];
  const alternate = { error: { message: 'Conversation roles must alternate' } };
  const noOlderLimit = refusing(({ body }) => 'max_tokens' in body, 400, {
    error: { message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." },
  });
  /** The first answer is longer than the token limit of 64, as if the endpoint ignored the newer name. */
  const tooLong: FakeOptions = { answer: ({ index }) => (index === 0 ? 'word '.repeat(500) : '5 5 5 SLEEP') };

  it.each<[name: string, FakeOptions, forms: string, ModelOptions?]>([
    ...refusals.map(([service, status, body]): [string, FakeOptions, string] => [
      `the newer name of the token limit (${service})`,
      { faultOf: () => refusing(hasNewerLimit, status, body) },
      'NS OS OS',
    ]),
    ['the system role', { faultOf: () => 'no-system-role' }, 'NS NU NU'],
    [
      'the system role, with status 500',
      { faultOf: () => refusing(hasSystemMessage, 500, alternate) },
      'NS NU NU',
    ],
    [
      'nothing, because of the option systemRole',
      { faultOf: () => 'no-system-role' },
      'NU NU',
      { systemRole: 'user' },
    ],
    [
      'both the newer name and the system role',
      { faultOf: (request) => (hasNewerLimit(request) ? 'no-newer-limit' : 'no-system-role') },
      'NS OS OU OU',
    ],
    ['nothing, but ignores the newer name', tooLong, 'NS OS'],
    ['the older name, but ignores the newer one', { ...tooLong, faultOf: () => noOlderLimit }, 'NS OS NS'],
  ])('%s', async (_, fakeOptions, forms, options = {}) => {
    const { answer, model, fake, ledger } = await askOnce(fakeOptions, options);
    const second = await model.complete(firstPrompt(), NEVER);
    expect(fake.requests.map(formOf).join(' ')).toBe(forms);
    expect(answer!.usage.requests! + second.usage.requests!).toBe(fake.requests.length);
    // A refused request is not charged.
    expect(ledger.spent).toBe(answer!.usage.cost_usd! + second.usage.cost_usd!);
  });

  it.each<[name: string, message: (request: FakeRequest) => string, forms: string, error: RegExp]>([
    ['the system role in every form', () => 'System role not supported', 'NS NU', /got 400 System role not/],
    [
      'both names of the token limit, with both errors',
      (request) =>
        hasNewerLimit(request) ? `${NAME} is too large: 64` : "Unsupported parameter: 'max_tokens'",
      'NS OS',
      /got 400 max_completion_tokens is too large: 64\. Check.* With max_tokens: Expected .* got 400 Unsupported parameter: 'max_tokens'\. /,
    ],
  ])('%s, and then fails', async (_, messageOf, forms, message) => {
    const refusal: Fault = ({ request, response }) => json(response, 400, { message: messageOf(request) });
    const { error, fake } = await askOnce({ faultOf: () => refusal }, { retries: 5 });
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: true });
    expect(error!.message).toMatch(message);
    expect(fake.requests.map(formOf).join(' ')).toBe(forms);
  });
});

describe.each(['silence', 'trickle'])('a request that is answered with %s', (fault) => {
  it('is retried when the time limit has passed, and fails if no retry is left', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    // Longer than a request takes to arrive.
    const timeoutMs = 290_000;
    for (const retries of [1, 0]) {
      const fake = await startModel(failFirst(1, fault));
      const { model, ledger } = await modelOf(fake, { retries, timeoutMs, ledger: { prices: PRICES } });
      const answer = model.complete(firstPrompt(), NEVER).catch((error: Error) => error.message);
      await vi.waitUntil(() => fake.requests.length === 1);
      vi.advanceTimersByTime(timeoutMs);
      if (retries === 1) expect(await answer).toMatchObject({ usage: { requests: 2 } });
      else expect(await answer).toMatch(/got: no complete answer within 290 s\. Check/);
      // The first request may be charged.
      expect(ledger.spent).toBeGreaterThan(billedFor(fake));
    }
  });

  it('is charged when its signal aborts', async () => {
    const fake = await startModel({ faultOf: () => fault });
    const { model, ledger } = await modelOf(fake, { ledger: { prices: PRICES } });
    const stop = new AbortController();
    const answer = model.complete(firstPrompt(), stop.signal);
    await vi.waitUntil(() => fake.requests.length === 1);
    stop.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    expect(ledger.spent).toBeGreaterThan(0);
  });
});

it('a 429 pauses all requests', async () => {
  const fake = await startModel(failFirst(1, '429-seconds'));
  let now = 0;
  let resume = () => {};
  /** The number of requests before each wait. The first wait, of the refused request, lasts until `resume` is called. */
  const requests: number[] = [];
  const wait = async (ms: number) => {
    expect(ms).toBe(2000);
    if (requests.push(fake.requests.length) > 1) now += ms;
    else
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
  };
  const { model } = await modelOf(fake, { retries: 1, clock: { now: () => now, wait } });
  const first = model.complete(firstPrompt(), NEVER);
  await vi.waitUntil(() => requests.length === 1);
  await model.complete(firstPrompt(), NEVER);
  resume();
  await first;
  expect([requests, fake.requests.length]).toEqual([[1, 1], 3]);
});
