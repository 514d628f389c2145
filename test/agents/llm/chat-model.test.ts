/** Single answers of a chat model: requests, contents and token counts. */
import { describe, expect, it, vi } from 'vitest';
import { toEndpoint } from '../../../src/agents/llm/endpoint.js';
import { parseCompletion } from '../../../src/rollouts/text/parse-completions.js';
import { FAKE_KEY } from '../../fakes/openai.js';
import { json } from '../../fakes/openai-faults.js';
import { askOnce, firstPrompt, modelOf, NEVER, startModel } from '../../support/llm.js';

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
      const { answer, fake } = await askOnce({ faultOf: () => fault });
      expect(answer).toMatchObject({ ...expected, usage: counted });
      expect(parseCompletion(answer!.completion).action).toBeNull();
      expect(fake.requests.length).toBe(1);
    },
  );
});

it('an answer that continues an open thought has no completion before the thought ends', async () => {
  const content = 'One option:\n1 2 3 LEARN\nwould raise';
  const completionOf = async (thought?: 'open') =>
    (await askOnce({ answer: () => content }, { thought })).answer!.completion;
  expect([await completionOf(), await completionOf('open')]).toEqual([content, '']);
});

describe('token counts of an endpoint', () => {
  const bytes = firstPrompt().reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  const text = '4 5 6 SLEEP';
  // The client expects a prompt to have at most 64 tokens more than bytes (TEMPLATE_TOKENS of chat-model.ts). The request
  // limits the completion to 64 tokens.
  const maxCost = (2.5 * (bytes + 64) + 10 * 64) / 1e6;

  it.each([
    ['all that the request can use', bytes + 64, 64, text, true],
    ['an answer longer than its limit', 100, 500, 'x'.repeat(500), true],
    ['one prompt token too many', bytes + 65, 1, text, false],
    ['a token more than the limit', 100, 65, text, false],
    ['no token of an answer with text', 100, 0, text, false],
    ['a token more than the bytes of an answer longer than the limit', 100, 501, 'x'.repeat(500), false],
  ])(
    'with %s are accepted, or else charged the maximum cost',
    async (_, prompt, completion, content, accepted) => {
      const choices = [{ message: { content }, finish_reason: 'stop' }];
      const usage = { prompt_tokens: prompt, completion_tokens: completion };
      const { answer, ledger } = await askOnce({
        faultOf:
          () =>
          ({ response }) =>
            json(response, 200, { choices, usage }),
      });
      const counts = accepted ? { ...usage, cached_tokens: 0 } : {};
      expect(answer!.usage).toEqual({
        requests: 1,
        cost_usd: ledger.spent,
        cut_off: 0,
        refused: 0,
        ...counts,
      });
      expect(ledger.spent).toBeCloseTo(accepted ? (2.5 * prompt + 10 * completion) / 1e6 : maxCost, 12);
    },
  );
});
