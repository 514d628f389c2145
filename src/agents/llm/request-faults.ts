/** Classifies failed requests: whether a retry may help, how long to wait, and whether the request may have been charged. */

import { BoundsError } from '../../shared/http/bounded-fetch.js';
import { causesOf } from '../../shared/http/error-causes.js';
import { type Headers, retryAfterMs } from '../../shared/http/retry-after.js';
import { shortened } from '../../shared/printable-names.js';
import type { Endpoint } from './endpoint.js';
import { EndpointError, TemporaryFailure } from './llm-errors.js';

/** The fields of errors of the client, the package `openai`. Its error classes are not imported, because it is optional. */
interface Thrown {
  readonly message?: unknown;
  readonly status?: unknown;
  readonly headers?: Headers;
  readonly error?: unknown;
  readonly code?: unknown;
  readonly param?: unknown;
}

/** The maximum number of characters of an endpoint's message in an error, chosen by hand. */
const MAX_MESSAGE = 300;

/** Returns a text in one line, shortened. */
export const clip = (text: string): string => shortened(text.replaceAll(/\s+/g, ' ').trim(), MAX_MESSAGE);

/** Statuses below 500 that are retried. All statuses from 500 on are retried too. */
const TEMPORARY = [408, 409, 425, 429];
/**
 * Statuses of a gateway that gave up (520 and 524 are Cloudflare's). The server behind it may have answered and charged. For
 * 408 Azure documents that the request may be charged.
 */
const MAY_BE_CHARGED = [408, 502, 504, 520, 524];
/** Error codes of requests that were never sent, and so not charged. */
const NEVER_SENT = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];
/** The code of a 429 for which no retry helps. */
const INSUFFICIENT_QUOTA = 'insufficient_quota';

/** Why an endpoint refused a request: its content filter, or the token limit's parameter name (limit-name.ts); else null. */
export type Refusal = 'filtered' | 'limit-name' | null;

/** Returns why a request was refused, from the error that the client threw. */
export function refusalOf(thrown: unknown): Refusal {
  const { status, error, code, param, message } = (thrown ?? {}) as Thrown;
  if (status !== 400 && status !== 422) return null;
  if (code === 'content_filter' || code === 'content_policy_violation' || hasInnerFilter(error))
    return 'filtered';
  const isLimitName = param === 'max_completion_tokens' || String(message).includes('max_completion_tokens');
  return isLimitName ? 'limit-name' : null;
}

/** Returns whether the body of a refusal names Azure's content filter. */
const hasInnerFilter = (error: unknown): boolean =>
  (error as { innererror?: { code?: unknown } } | undefined)?.innererror?.code ===
  'ResponsibleAIPolicyViolation';

/**
 * Classifies an error of the client. The message of the result has no secrets.
 * @param now the time in milliseconds since 1970, from which a `Retry-After` date is counted.
 * @returns a TemporaryFailure if a retry may help, otherwise an EndpointError.
 */
export function faultOf(thrown: unknown, endpoint: Endpoint, now: number): TemporaryFailure | EndpointError {
  const { status, headers, code, message } = (thrown ?? {}) as Thrown;
  if (typeof status !== 'number') return failureWithoutStatus(thrown, endpoint);
  const text = clip(endpoint.redact(String(message)));
  if (code === INSUFFICIENT_QUOTA)
    return lastingError(endpoint, text, "Look at the account's plan and billing.");
  if (TEMPORARY.includes(status) || status >= 500) {
    return new TemporaryFailure(text, {
      retryAfterMs: retryAfterMs(headers, now),
      rateLimited: status === 429 || status === 503,
      mayBeCharged: MAY_BE_CHARGED.includes(status),
    });
  }
  return lastingError(endpoint, text, remedyFor(status, endpoint));
}

const lastingError = (endpoint: Endpoint, text: string, remedy: string): EndpointError =>
  new EndpointError(`Expected ${endpoint.url} to answer, got ${text}. ${remedy}`, { lasting: true });

function remedyFor(status: number, { kind }: Endpoint): string {
  const azure = kind === 'azure';
  if (status === 401 || status === 403) {
    return azure
      ? 'Check AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT.'
      : 'Check the key in OPENAI_API_KEY and the base URL (--base-url).';
  }
  if (status === 404) {
    return azure
      ? 'Check AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_DEPLOYMENT (or the name of the model, llm:MODEL) and OPENAI_API_VERSION.'
      : 'Check the name of the model (llm:MODEL) and the base URL (--base-url), which ends in /v1 for most servers.';
  }
  if (status >= 300 && status < 400)
    return 'Pass the URL of the redirect as the base URL (--base-url), if you trust it.';
  return 'Check the name of the model (llm:MODEL), the token limit (--max-tokens) and the other options of the model.';
}

/** Builds the error of a request without a status: a lost connection, or an answer that cannot be read. */
function failureWithoutStatus(thrown: unknown, endpoint: Endpoint): TemporaryFailure {
  const causes = causesOf(thrown);
  const words = causes.map(({ message }) => String(message ?? '')).filter((message) => message !== '');
  const isInvalid = causes.some((cause) => cause instanceof BoundsError);
  const text = clip(endpoint.redact(`${isInvalid ? 'an invalid answer' : 'no answer'}: ${words.join(': ')}`));
  return new TemporaryFailure(text, {
    mayBeCharged: !causes.some(({ code }) => NEVER_SENT.includes(String(code))),
  });
}
