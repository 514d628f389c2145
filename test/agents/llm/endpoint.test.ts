/** The choice of the endpoint, the redaction of its secrets, and the parsing of waits in headers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toEndpoint } from '../../../src/agents/llm/endpoint.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { redactor } from '../../../src/shared/http/redactor.js';
import { resetMs, waitIn } from '../../../src/shared/http/retry.js';
import { THOROUGH } from '../../support/engines.js';
import { refusalOf } from '../../support/refusals.js';

const AZURE = {
  AZURE_OPENAI_ENDPOINT: 'https://some.openai.azure.com/',
  AZURE_OPENAI_API_KEY: 'azure-key',
  OPENAI_API_VERSION: '2024-10-21',
};

describe('an endpoint', () => {
  const OPENAI = { OPENAI_API_KEY: 'sk-1' };
  const OPENAI_URL = 'https://api.openai.com/v1';
  it.each<
    [
      string,
      Record<string, string>,
      baseUrl: string | undefined,
      kind: string,
      url: string,
      key: string | null,
    ]
  >([
    ['of OpenAI', OPENAI, undefined, 'openai', OPENAI_URL, 'sk-1'],
    [
      'of a base URL',
      { ...OPENAI, OPENAI_BASE_URL: 'http://a/v1/' },
      undefined,
      'openai',
      'http://a/v1',
      'sk-1',
    ],
    [
      'without a key',
      { OPENAI_BASE_URL: 'http://host:8000/v1' },
      undefined,
      'openai',
      'http://host:8000/v1',
      null,
    ],
    [
      'of an option',
      { OPENAI_BASE_URL: 'http://a/v1', ...AZURE },
      'http://b/v1',
      'openai',
      'http://b/v1',
      null,
    ],
    ['of Azure', { ...AZURE, ...OPENAI }, undefined, 'azure', 'https://some.openai.azure.com', 'azure-key'],
    [
      'with empty variables, which count as unset',
      { ...OPENAI, AZURE_OPENAI_ENDPOINT: ' ', OPENAI_BASE_URL: '' },
      undefined,
      'openai',
      OPENAI_URL,
      'sk-1',
    ],
  ])('is found: %s', (_, environment, baseUrl, kind, url, key) => {
    expect(toEndpoint({ environment, baseUrl })).toMatchObject({ kind, url, key });
  });

  it.each<[environment: Record<string, string>, baseUrl: string | undefined, ErrorCode, message: string]>([
    [{}, undefined, 'missing_setting', 'Set it, or pass --base-url'],
    [{}, OPENAI_URL, 'missing_setting', 'OPENAI_API_KEY'],
    [{ ...AZURE, AZURE_OPENAI_API_KEY: '' }, undefined, 'missing_setting', 'AZURE_OPENAI_API_KEY'],
    [{ ...AZURE, OPENAI_API_VERSION: '' }, undefined, 'missing_setting', 'OPENAI_API_VERSION'],
    [{ ...AZURE, OPENAI_BASE_URL: 'http://a' }, undefined, 'unknown_option', 'Unset one of these variables'],
    [{}, 'localhost:8000', 'out_of_range', 'an http or https URL'],
    [{}, 'file:///etc/passwd', 'out_of_range', 'an http or https URL'],
    [{ OPENAI_BASE_URL: 'nonsense' }, undefined, 'out_of_range', 'OPENAI_BASE_URL'],
    ...['secret-word', 'me:secret-word', ':secret-word'].map(
      (user): [Record<string, string>, string, ErrorCode, string] => [
        {},
        `http://${user}@host/v1`,
        'out_of_range',
        'no user name and password',
      ],
    ),
  ])('is refused: %j %s', (environment, baseUrl, code, message) => {
    const error = refusalOf(() => toEndpoint({ environment, baseUrl }));
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(String(error)).not.toContain('secret-word');
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
    // A redactor takes some 50 ms.
    { numRuns: THOROUGH ? 100 : 20 },
  );
});

it.each<readonly [string, number | null]>([
  ['1s', 1000],
  ['6m0s', 360_000],
  ['2m59.56s', 179_560],
  ['20ms', 20],
  ['1h2m3s', 3_723_000],
  ['1d', 86_400_000],
  ['59.5', 59_500],
  // A time since 1970: seconds, milliseconds; then RFC 3339, a time in the past.
  ['1795305660', 60_000],
  ['1795305660000', 60_000],
  ['2026-11-22T00:01:00Z', 60_000],
  ['2026-11-21T00:01:00+02:00', 0],
  ['1000000000', 0],
  ...['', 'soon', '5 apples', '-1s', '1s ago', '1.s', 's', '1e3', '2026-11', '2026-13-45T99:00:00Z'].map(
    (text) => [text, null] as const,
  ),
])('waitIn reads %j as %s ms', (text, expected) => {
  expect(waitIn(text, Date.parse('2026-11-22T00:00:00Z'))).toBe(expected);
});

describe('resetMs', () => {
  const now = Date.parse('2026-11-22T00:00:00Z');
  const resetFor = (headers: Record<string, string>) => resetMs(new Headers(headers), now);
  const openAi = (requests: string, tokens: string) => ({
    'x-ratelimit-remaining-requests': requests,
    'x-ratelimit-reset-requests': '12h0m0s',
    'x-ratelimit-remaining-tokens': tokens,
    'x-ratelimit-reset-tokens': '57s',
  });

  it('is the reset of the limit with nothing left', () => {
    expect(resetFor(openAi('100', '0'))).toBe(57_000);
    expect(resetFor(openAi('0', '300'))).toBe(43_200_000);
    expect(resetFor(openAi('0', '0'))).toBe(43_200_000);
    expect(resetFor({ ratelimit: '"api";r=3;t=90, "pages";r=0;t=55' })).toBe(55_000);
  });

  it('is the longest of the others, except those of requests that are left', () => {
    // The tokens that are left may be fewer than the request needs.
    expect(resetFor(openAi('100', '300'))).toBe(57_000);
    expect(resetFor({ 'x-ratelimit-reset-requests': '2m59.56s', 'x-ratelimit-reset-tokens': '7.66s' })).toBe(
      179_560,
    );
    expect(resetFor({ 'x-ratelimit-reset': '30', 'x-ratelimit-remaining': '4' })).toBeNull();
    expect(resetFor({ ratelimit: '"api";r=3;t=55' })).toBeNull();
  });

  it('is read in the units of several services', () => {
    expect(resetFor({ 'x-ratelimit-reset': `${now + 40_000}`, 'x-ratelimit-remaining': '0' })).toBe(40_000);
    const anthropic = {
      'anthropic-ratelimit-requests-reset': '2026-11-22T00:00:09Z',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-22T00:00:30Z',
      'anthropic-ratelimit-input-tokens-remaining': '5000',
    };
    expect(resetFor(anthropic)).toBe(9000);
    expect(resetFor({ 'x-ratelimit-reset-tokens-minute': '17.5' })).toBe(17_500);
  });

  it('is null without a readable header', () => {
    expect(
      resetFor({ 'x-ratelimit-reset-requests': 'later', 'x-ratelimit-limit-requests': '60' }),
    ).toBeNull();
    expect([resetFor({}), resetMs(undefined, now)]).toEqual([null, null]);
  });
});
