/** Classification of failed requests. */
import { expect, it } from 'vitest';
import { toEndpoint } from '../../../src/agents/llm/endpoint.js';
import { EndpointError } from '../../../src/agents/llm/language-model.js';
import { faultOf, refusalOf, TemporaryFailure } from '../../../src/agents/llm/request-faults.js';

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

const REDIRECT = 'Pass the URL of the redirect as the base URL (--base-url)';
const OPTIONS = 'Check the name of the model (llm:MODEL), the token limit (--max-tokens)';
const KEY = 'Check the key in OPENAI_API_KEY and the base URL (--base-url)';
const PATH = 'Check the name of the model (llm:MODEL) and the base URL (--base-url)';

it.each([
  [302, REDIRECT, REDIRECT],
  [399, REDIRECT, REDIRECT],
  [400, OPTIONS, OPTIONS],
  [401, KEY, 'Check AZURE_OPENAI_API_KEY'],
  [403, KEY, 'Check AZURE_OPENAI_API_KEY'],
  [404, PATH, 'Check AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_DEPLOYMENT'],
  [410, OPTIONS, OPTIONS],
  [499, OPTIONS, OPTIONS],
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

const CONTEXT = "This model's maximum context length is 512 tokens.";
it.each([
  [{ error: { message: CONTEXT, param: 'messages', code: 'context_length_exceeded' } }, CONTEXT],
  [{ object: 'error', message: CONTEXT, type: 'BadRequestError', param: null, code: 400 }, CONTEXT],
  [{ error: CONTEXT }, CONTEXT],
  [{ error: 'Bad Request', message: CONTEXT, statusCode: 400 }, CONTEXT],
  [{ detail: CONTEXT }, CONTEXT],
  [{ message: { detail: [{ loc: ['body', 'messages', 0], msg: 'Bad.' }] } }, 'body.messages.0: Bad.'],
  [{ detail: [{ msg: 'One.' }, { loc: ['body'], msg: 'Two.' }] }, 'One.; body: Two.'],
  [{ detail: [{ type: 'extra', loc: ['body', 'n'] }] }, '{"detail":[{"type":"extra","loc":["body","n"]}]}.'],
  [[{ error: { code: 400, message: CONTEXT, status: 'INVALID_ARGUMENT' } }], CONTEXT],
  [{ success: false, errors: [{ code: 7, message: CONTEXT }], messages: [] }, CONTEXT],
  [{ error: { message: 'Provider returned error', metadata: { raw: CONTEXT } } }, CONTEXT],
  [{ error: { message: '', code: 'no_text' } }, '{"error":{"message":"","code":"no_text"}}.'],
  [`  ${CONTEXT}\n`, CONTEXT],
  ['a\n\t b', 'a b.'],
  ['<html><head><title>Bad request</title></head><body>...</body></html>', 'Bad request.'],
  ['<html><body>No title</body></html>', '<html><body>No title</body></html>.'],
  ['\u001b[31mred', '\ufffd[31mred.'],
  ['null', 'null.'],
  [{ detail: 'x'.repeat(1e5) }, `${'x'.repeat(296)}...`],
  [{ detail: [{ type: 'a', input: 'sk-not-a-key' }] }, '{"detail":[{"type":"a","input":"[redacted]"}]}.'],
])('the message is found in the body of an error: %j', (body, expected) => {
  const error = typeof body === 'string' ? body : JSON.stringify(body);
  expect(fault({ status: 400, message: 'no', error }).message).toContain(` to answer, got 400 ${expected}`);
});

it('the wait is found in the body of an error, where Gemini sends it', () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17.5s' }];
  const error = JSON.stringify([{ error: { code: 429, message: 'Quota exceeded', details } }]);
  expect(fault({ status: 429, error })).toMatchObject({
    retryAfterMs: 17_500,
    message: '429 Quota exceeded',
  });
});

it('an exceeded quota is a lasting fault, whatever the status', () => {
  for (const status of [400, 402, 429])
    expect(fault({ status, error: '{"error":{"code":"insufficient_quota"}}' })).toMatchObject({
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
  [400, '{"error":{"code":"content_filter"}}', 'filtered'],
  [422, '{"code":"content_policy_violation"}', 'filtered'],
  [400, '{"error":{"innererror":{"code":"ResponsibleAIPolicyViolation"}}}', 'filtered'],
  [400, '{"error":{"innererror":{"code":"other"}}}', null],
  [400, '{"error":{"param":"max_completion_tokens"}}', 'limit-name'],
  [422, '{"detail":[{"loc":["body","max_completion_tokens"]}]}', 'limit-name'],
  [404, 'unknown: max_completion_tokens', 'limit-name'],
  [400, '{"error":{"message":"max_tokens"}}', null],
  [429, '{"error":{"code":"content_filter"}}', null],
  [429, '{"error":{"param":"max_completion_tokens"}}', null],
  [500, '{"error":{"param":"max_completion_tokens"}}', null],
  // The error repeats the request.
  [422, '{"msg":"Invalid role: system","input":{"max_completion_tokens":64}}', 'system-role'],
  [400, '{"error":{"message":"The system is not available, and messages are not supported."}}', null],
  [503, '{"message":"System role not supported"}', null],
  [400, '', null],
  [400, undefined, null],
  [undefined, undefined, null],
] as const)('the status %s with the body %j is classified as the refusal %s', (status, error, expected) => {
  expect(refusalOf({ status, error }, 'max_completion_tokens')).toBe(expected);
});

it.each([
  'System role not supported',
  'developer/system messages are not supported',
  "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
  'Developer instruction is not enabled for models/gemma-3-27b-it',
  "ValidationException: This model doesn't support system prompts.",
  'The model does not support the `system` role',
  'Conversation roles must alternate user/assistant/user/assistant/...',
  'Only user and assistant roles are supported!',
  'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter',
  'Failed to deserialize: messages[0].role: unknown variant `system`, expected `user` or `assistant`',
  '[{"loc":["body","messages",0,"role"],"type":"literal_error"}]',
])('an error that refuses the system role is recognised, also with status 500: %s', (message) => {
  for (const status of [400, 422, 500]) {
    const error = message.startsWith('[') ? `{"detail":${message}}` : JSON.stringify({ error: { message } });
    expect(refusalOf({ status, error }, 'max_tokens')).toBe('system-role');
  }
});

it('an error that names the older name of the token limit refuses it, if the request had it', () => {
  const thrown = { status: 400, error: "Unsupported parameter: 'max_tokens'" };
  expect(refusalOf(thrown, 'max_tokens')).toBe('limit-name');
  expect(refusalOf(thrown, 'max_completion_tokens')).toBeNull();
});
