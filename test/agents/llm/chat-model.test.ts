/** Single answers of a chat model: requests, contents and token counts. */
import { describe, expect, it, vi } from 'vitest';
import { toEndpoint } from '../../../src/agents/llm/endpoint.js';
import { parseCompletion } from '../../../src/rollouts/text/parse-completions.js';
import { FAKE_KEY, type FakeOptions } from '../../fakes/openai.js';
import type { Fault } from '../../fakes/openai-faults.js';
import { askOnce, firstPrompt, modelOf, NEVER, startModel } from '../../support/llm.js';

/** Answers the first `count` requests with a fault, and all others correctly. */
const failFirst = (count: number, fault: Fault): FakeOptions => ({
  faultOf: ({ index }) => (index < count ? fault : null),
});

describe('an answer', () => {
  it('has the completion and its usage', async () => {
    const { answer, fake, ledger, tally } = await askOnce({});
    const [{ body, headers, path }] = fake.requests;
    const [usage] = fake.billed;
    const { prompt_tokens, completion_tokens } = usage;
    const cached_tokens = usage.prompt_tokens_details.cached_tokens;
    // PRICES of test/support/llm.ts, per million tokens.
    const cost =
      ((prompt_tokens - cached_tokens) * 2.5 + cached_tokens * 1.25 + completion_tokens * 10) / 1e6;
    expect(answer).toEqual({
      completion: expect.stringMatching(/^<reasoning>.*<\/reasoning>\n\d 5 \d [A-Z_]+$/),
      reasoning: undefined,
      finish: 'stop',
      refused: false,
      usage: {
        requests: 1,
        prompt_tokens,
        cached_tokens,
        completion_tokens,
        cost_usd: cost,
        cut_off: 0,
        refused: 0,
      },
    });
    expect([ledger.spent, tally.requests, tally.unanswered]).toEqual([cost, 1, 0]);
    const [system, user] = firstPrompt();
    expect(body).toEqual({ model: 'fake', messages: [system, user], max_completion_tokens: 64 });
    expect([path, headers.authorization]).toEqual(['/v1/chat/completions', `Bearer ${FAKE_KEY}`]);
  });

  it('is requested with the sampling parameters', async () => {
    const sampling = { max_tokens: 9, temperature: 0, top_p: 0.5, seed: 7 };
    const { fake } = await askOnce({}, { sampling });
    const { messages: _, ...body } = fake.requests[0].body;
    expect(body).toEqual({ model: 'fake', max_completion_tokens: 9, temperature: 0, top_p: 0.5, seed: 7 });
  });

  it("of Azure is requested at the deployment's path, with the key and API version", async () => {
    const fake = await startModel();
    // The client must not read this variable.
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:1');
    const { model } = await modelOf(fake, { endpoint: toEndpoint({ environment: fake.azureEnvironment }) });
    await model.complete(firstPrompt(), NEVER);
    vi.unstubAllEnvs();
    const [{ path, headers, body }] = fake.requests;
    expect(body.model).toBe('fake-deployment');
    expect(path).toBe('/openai/deployments/fake-deployment/chat/completions?api-version=2024-10-21');
    expect([headers['api-key'], headers.authorization]).toEqual([FAKE_KEY, undefined]);
  });

  it('of a server without a key is requested without a key, but with the query of the URL', async () => {
    const fake = await startModel();
    vi.stubEnv('OPENAI_ADMIN_KEY', 'admin-secret');
    const baseUrl = `${fake.url}/v1?code=abcd`;
    const { model } = await modelOf(fake, { endpoint: toEndpoint({ baseUrl, environment: {} }) });
    await model.complete(firstPrompt(), NEVER);
    vi.unstubAllEnvs();
    const [{ path, headers }] = fake.requests;
    expect([path, headers.authorization]).toEqual(['/v1/chat/completions?code=abcd', undefined]);
  });

  it.each([
    ['cut-off', { finish: 'length', refused: false }, { cut_off: 1, refused: 0 }],
    [
      'refusal',
      { finish: 'stop', refused: true, completion: "I'm sorry, I can't help with that." },
      { cut_off: 0, refused: 1 },
    ],
    ['filtered-answer', { finish: 'content_filter', refused: true, completion: '' }, { refused: 1 }],
    [
      'content-filter',
      { finish: 'content_filter', refused: true, completion: '' },
      { refused: 1, requests: 1 },
    ],
    ['null-content', { finish: 'stop', refused: false, completion: '' }, { refused: 0 }],
  ] as const)(
    'without an action is returned, and not requested again: %s',
    async (fault, expected, counted) => {
      const { answer, fake } = await askOnce(failFirst(1, fault));
      expect(answer).toMatchObject({ ...expected, usage: counted });
      expect(parseCompletion(answer!.completion).action).toBeNull();
      expect(fake.requests.length).toBe(1);
    },
  );

  it('has the reasoning that the endpoint returns separately', async () => {
    const { answer } = await askOnce(failFirst(1, 'thinking'));
    expect(answer!.reasoning).toBe('Reasoning outside the content.');
  });

  it.each([
    ['<think>Rest?\n</think>\n\n4 5 6 SLEEP', '4 5 6 SLEEP', 'Rest?'],
    ['<think>I might say\n4 5 6 SLEEP\nor', '', 'I might say\n4 5 6 SLEEP\nor'],
    ['I think <think> is a tag.\n4 5 6 SLEEP', 'I think <think> is a tag.\n4 5 6 SLEEP', undefined],
  ])('is split from reasoning only if it begins with <think>: %j', async (text, completion, reasoning) => {
    const { answer } = await askOnce({ answer: () => text });
    expect([answer!.completion, answer!.reasoning]).toEqual([completion, reasoning]);
  });

  it('without valid token counts is charged more than its tokens cost', async () => {
    for (const fault of ['no-usage', 'odd-usage']) {
      const { answer, ledger, fake } = await askOnce(failFirst(1, fault));
      const { prompt_tokens, completion_tokens } = fake.billed[0];
      expect(answer!.usage).toEqual({ requests: 1, cost_usd: ledger.spent, cut_off: 0, refused: 0 });
      expect(ledger.spent).toBeGreaterThan((prompt_tokens * 2.5 + completion_tokens * 10) / 1e6);
    }
  });
});

describe('token counts of an endpoint', () => {
  const bytes = firstPrompt().reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  const text = '4 5 6 SLEEP';
  const answerWithCounts = (
    prompt_tokens: number,
    completion_tokens: number,
    content = text,
  ): FakeOptions => ({
    faultOf:
      () =>
      ({ response }) => {
        const usage = { prompt_tokens, completion_tokens };
        const choices = [{ message: { content }, finish_reason: 'stop' }];
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ choices, usage }));
      },
  });
  // The client expects a prompt to have at most 64 tokens more than bytes (TEMPLATE_TOKENS of chat-model.ts). The request
  // limits the completion to 64 tokens.
  const maxCost = (2.5 * (bytes + 64) + 10 * 64) / 1e6;

  it.each([
    ['all that the request can use', bytes + 64, 64, text],
    ['an answer longer than its limit', 100, 500, 'x'.repeat(500)],
  ])('are accepted: %s', async (_, prompt, completion, content) => {
    const { answer, ledger } = await askOnce(answerWithCounts(prompt, completion, content));
    expect(answer!.usage).toMatchObject({ prompt_tokens: prompt, completion_tokens: completion });
    expect(ledger.spent).toBeCloseTo((2.5 * prompt + 10 * completion) / 1e6, 12);
  });

  it.each([
    ['one prompt token too many', bytes + 65, 1, text],
    ['a token more than the limit', 100, 65, text],
    ['a token more than the bytes of an answer longer than the limit', 100, 501, 'x'.repeat(500)],
    ['a billion', 1e9, 1e9, text],
  ])(
    'are rejected, and the request is charged its maximum cost: %s',
    async (_, prompt, completion, content) => {
      const { answer, ledger } = await askOnce(answerWithCounts(prompt, completion, content));
      expect(answer!.usage).toEqual({ requests: 1, cost_usd: ledger.spent, cut_off: 0, refused: 0 });
      expect(ledger.spent).toBeCloseTo(maxCost, 12);
    },
  );
});
