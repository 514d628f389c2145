/** Classification of failed requests. */
import { expect, it } from 'vitest';
import { toEndpoint } from '../../../src/agents/llm/endpoint.js';
import { EndpointError, TemporaryFailure } from '../../../src/agents/llm/llm-errors.js';
import { clip, faultOf, refusalOf } from '../../../src/agents/llm/request-faults.js';

const OPENAI = toEndpoint({ environment: { OPENAI_API_KEY: 'sk-not-a-key' } });
const AZURE = toEndpoint({
  environment: {
    AZURE_OPENAI_ENDPOINT: 'https://some.openai.azure.com',
    AZURE_OPENAI_API_KEY: 'azure-key',
    OPENAI_API_VERSION: '1',
  },
});
const fault = (thrown: unknown, endpoint = OPENAI) => faultOf(thrown, endpoint, 0);

it.each([
  [408, { rateLimited: false, mayBeCharged: true }],
  [409, { rateLimited: false, mayBeCharged: false }],
  [425, { rateLimited: false, mayBeCharged: false }],
  [429, { rateLimited: true, mayBeCharged: false }],
  [500, { rateLimited: false, mayBeCharged: false }],
  [502, { rateLimited: false, mayBeCharged: true }],
  [503, { rateLimited: true, mayBeCharged: false }],
  [504, { rateLimited: false, mayBeCharged: true }],
  [520, { rateLimited: false, mayBeCharged: true }],
  [524, { rateLimited: false, mayBeCharged: true }],
  [599, { rateLimited: false, mayBeCharged: false }],
])('status %d is temporary', (status, expected) => {
  const failure = fault({
    status,
    message: `${status} sk-not-a-key`,
    headers: new Headers({ 'retry-after': '7' }),
  });
  expect(failure).toBeInstanceOf(TemporaryFailure);
  expect(failure).toMatchObject({ ...expected, retryAfterMs: 7000, message: `${status} [redacted]` });
});

it.each([
  [
    302,
    'Pass the URL of the redirect as the base URL (--base-url)',
    'Pass the URL of the redirect as the base URL (--base-url)',
  ],
  [
    399,
    'Pass the URL of the redirect as the base URL (--base-url)',
    'Pass the URL of the redirect as the base URL (--base-url)',
  ],
  [
    400,
    'Check the name of the model (llm:MODEL), the token limit (--max-tokens)',
    'Check the name of the model (llm:MODEL), the token limit (--max-tokens)',
  ],
  [401, 'Check the key in OPENAI_API_KEY and the base URL (--base-url)', 'Check AZURE_OPENAI_API_KEY'],
  [403, 'Check the key in OPENAI_API_KEY and the base URL (--base-url)', 'Check AZURE_OPENAI_API_KEY'],
  [
    404,
    'Check the name of the model (llm:MODEL) and the base URL (--base-url)',
    'Check AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_DEPLOYMENT',
  ],
  [
    410,
    'Check the name of the model (llm:MODEL), the token limit (--max-tokens)',
    'Check the name of the model (llm:MODEL), the token limit (--max-tokens)',
  ],
  [
    499,
    'Check the name of the model (llm:MODEL), the token limit (--max-tokens)',
    'Check the name of the model (llm:MODEL), the token limit (--max-tokens)',
  ],
])('status %d is lasting, and its message has the remedy', (status, remedy, ofAzure) => {
  for (const [endpoint, expected] of [
    [OPENAI, remedy],
    [AZURE, ofAzure],
  ] as const) {
    const failure = fault({ status, message: 'no' }, endpoint);
    expect(failure).toBeInstanceOf(EndpointError);
    expect(failure).toMatchObject({ lasting: true, message: expect.stringContaining(`got no. ${expected}`) });
  }
});

it('an exceeded quota is a lasting fault, whatever the status', () => {
  for (const status of [400, 402, 429])
    expect(fault({ status, code: 'insufficient_quota', message: 'no' })).toMatchObject({
      lasting: true,
      message: expect.stringContaining('plan and billing'),
    });
});

it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])(
  'a request that was never sent is not charged: %s',
  (code) => {
    const cause = Object.assign(new Error('deep'), { code });
    expect(fault(new Error('top', { cause }))).toMatchObject({
      mayBeCharged: false,
      message: 'no answer: top: deep',
    });
  },
);

it('a request whose connection was lost, or that failed with an unknown error, may be charged', () => {
  expect(fault(Object.assign(new Error('gone'), { code: 'ECONNRESET' }))).toMatchObject({
    mayBeCharged: true,
  });
  for (const thrown of [null, undefined, 'text'])
    expect(fault(thrown)).toMatchObject({ mayBeCharged: true, rateLimited: false, retryAfterMs: null });
});

// limit-name: the endpoint refuses the parameter max_completion_tokens.
it.each([
  [{ status: 400, code: 'content_filter' }, 'filtered'],
  [{ status: 422, code: 'content_policy_violation' }, 'filtered'],
  [{ status: 400, error: { innererror: { code: 'ResponsibleAIPolicyViolation' } } }, 'filtered'],
  [{ status: 400, error: { innererror: { code: 'other' } } }, null],
  [{ status: 400, param: 'max_completion_tokens' }, 'limit-name'],
  [{ status: 422, message: 'unknown: max_completion_tokens' }, 'limit-name'],
  [{ status: 400, message: 'max_tokens' }, null],
  [{ status: 429, code: 'content_filter' }, null],
  [{ status: 500, param: 'max_completion_tokens' }, null],
  [null, null],
])('the error %j is classified as the refusal %s', (thrown, expected) => {
  expect(refusalOf(thrown)).toBe(expected);
});

it('clip puts a text in one line, and cuts it after 300 characters', () => {
  expect(clip('  a\n\t b ')).toBe('a b');
  expect(clip('x'.repeat(300))).toBe('x'.repeat(300));
  expect(clip('x'.repeat(301))).toBe(`${'x'.repeat(300)}...`);
});
