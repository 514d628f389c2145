/** The choice of the endpoint, the redaction of its secrets, and the parsing of Retry-After headers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toEndpoint } from '../../../src/agents/llm/endpoint.js';
import { redactor } from '../../../src/shared/http/redactor.js';
import { retryAfterMs } from '../../../src/shared/http/retry-after.js';

const AZURE = {
  AZURE_OPENAI_ENDPOINT: 'https://some.openai.azure.com/',
  AZURE_OPENAI_API_KEY: 'azure-key',
  OPENAI_API_VERSION: '2024-10-21',
};

describe('an endpoint', () => {
  it.each([
    ['of OpenAI', { OPENAI_API_KEY: 'sk-1' }, undefined, ['openai', 'https://api.openai.com/v1', 'sk-1']],
    [
      'of a base URL',
      { OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: 'http://a/v1/' },
      undefined,
      ['openai', 'http://a/v1', 'sk-1'],
    ],
    [
      'without a key',
      { OPENAI_BASE_URL: 'http://localhost:8000/v1' },
      undefined,
      ['openai', 'http://localhost:8000/v1', null],
    ],
    [
      'of an option, which overrides the environment',
      { OPENAI_BASE_URL: 'http://a/v1', ...AZURE },
      'http://b/v1',
      ['openai', 'http://b/v1', null],
    ],
    [
      'of Azure',
      { ...AZURE, OPENAI_API_KEY: 'sk-1' },
      undefined,
      ['azure', 'https://some.openai.azure.com', 'azure-key'],
    ],
    [
      'with empty variables, which count as unset',
      { OPENAI_API_KEY: 'sk-1', AZURE_OPENAI_ENDPOINT: ' ', OPENAI_BASE_URL: '' },
      undefined,
      ['openai', 'https://api.openai.com/v1', 'sk-1'],
    ],
  ] as const)('is found: %s', (_, environment, baseUrl, expected) => {
    const { kind, url, key } = toEndpoint({ environment, baseUrl });
    expect([kind, url, key]).toEqual(expected);
  });

  it.each([
    [
      {},
      undefined,
      'missing_setting',
      /^Expected OPENAI_API_KEY in the environment, got none\. Set it, or pass --base-url/,
    ],
    [{}, 'https://api.openai.com/v1', 'missing_setting', /OPENAI_API_KEY/],
    [{ ...AZURE, AZURE_OPENAI_API_KEY: '' }, undefined, 'missing_setting', /AZURE_OPENAI_API_KEY/],
    [{ ...AZURE, OPENAI_API_VERSION: '' }, undefined, 'missing_setting', /OPENAI_API_VERSION/],
    [{ ...AZURE, OPENAI_BASE_URL: 'http://a' }, undefined, 'unknown_option', /Unset one of these variables/],
    [{}, 'localhost:8000', 'out_of_range', /an http or https URL/],
    [{}, 'file:///etc/passwd', 'out_of_range', /an http or https URL/],
    [{ OPENAI_BASE_URL: 'nonsense' }, undefined, 'out_of_range', /OPENAI_BASE_URL/],
    [{}, 'http://secret-word@host/v1', 'out_of_range', /no user name and password/],
    [{}, 'http://me:secret-word@host/v1', 'out_of_range', /no user name and password/],
    [{}, 'http://:secret-word@host/v1', 'out_of_range', /no user name and password/],
  ])('is refused: %j %s', (environment, baseUrl, code, message) => {
    let thrown: unknown;
    try {
      toEndpoint({ environment, baseUrl });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(String(thrown)).not.toContain('secret-word');
  });

  it("separates a URL's query and redacts it", () => {
    const { url, query, redact } = toEndpoint({ environment: {}, baseUrl: 'http://h/v1?code=query-secret' });
    expect([url, query]).toEqual(['http://h/v1', { code: 'query-secret' }]);
    expect(redact('at http://h/v1?code=query-secret')).toBe('at http://h/v1?code=[redacted]');
  });

  it('redacts the secrets in custom headers, and the admin key', () => {
    const environment = {
      OPENAI_API_KEY: 'sk-12',
      OPENAI_CUSTOM_HEADERS: 'X-A: one\nX-Gate: Token gate-secret',
    };
    expect(toEndpoint({ environment }).redact('sk-12 gate-secret')).toBe('[redacted] [redacted]');
    const withAdminKey = { OPENAI_API_KEY: 'sk-12', OPENAI_ADMIN_KEY: 'sk-admin' };
    expect(toEndpoint({ environment: withAdminKey }).redact('sk-admin')).toBe('[redacted]');
  });
});

it('a redactor removes secrets as plain text and as URLs and JSON encode them', () => {
  // A redactor ignores shorter secrets.
  const secrets = fc.array(fc.string({ minLength: 4, unit: 'grapheme' }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(secrets, fc.string(), (all, around) => {
      const encoded = all.flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret)]);
      const text = redactor(all)(encoded.join(`${around}|`));
      for (const secret of all)
        if (!'[redacted]'.includes(secret) && !around.includes(secret)) expect(text).not.toContain(secret);
    }),
  );
});

it('retryAfterMs reads seconds, dates and milliseconds, prefers milliseconds, and ignores other texts', () => {
  const now = Date.parse('2026-11-22T00:00:00Z');
  const waitFor = (headers: Record<string, string>) => retryAfterMs(new Headers(headers), now);
  expect(waitFor({ 'retry-after': '90' })).toBe(90_000);
  expect(waitFor({ 'retry-after': '0.5' })).toBe(500);
  expect(waitFor({ 'retry-after': 'Sun, 22 Nov 2026 00:02:00 GMT' })).toBe(120_000);
  expect(waitFor({ 'retry-after': 'Sat, 21 Nov 2026 00:02:00 GMT' })).toBe(0);
  expect(waitFor({ 'retry-after': '90', 'retry-after-ms': '15' })).toBe(15);
  // JavaScript would parse this as a date.
  expect(waitFor({ 'retry-after': '-5' })).toBeNull();
  expect(waitFor({ 'retry-after': 'soon' })).toBeNull();
  expect(waitFor({})).toBeNull();
});
