/** Classifies failed requests: whether a retry may help, how long to wait, and whether the request may have been charged. */

import { BoundsError } from '../../shared/http/bounded-fetch.js';
import { causesOf, messageIn, parseBody, valuesOf } from '../../shared/http/error-texts.js';
import { type Headers, resetMs, retryAfterMs, waitIn } from '../../shared/http/retry.js';
import { shortened, toPrintable } from '../../shared/names.js';
import type { Endpoint } from './endpoint.js';
import { EndpointError } from './language-model.js';

/** The fields of errors of the client, the package `openai`. Its error classes are not imported, because it is optional. */
interface Thrown {
  readonly message?: unknown;
  readonly status?: unknown;
  readonly headers?: Headers;
  /** The body of the response, as text: see `openClient`. */
  readonly error?: unknown;
}

/** The maximum number of characters of an endpoint's message in an error, chosen by hand. */
const MAX_MESSAGE = 300;

/** Returns a text in one line, shortened and without control characters. */
export const clip = (text: string): string =>
  shortened(toPrintable(text.replaceAll(/\s+/g, ' ').trim()), MAX_MESSAGE);

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
const QUOTA = ['insufficient_quota'];
/** The codes of content filters. The last is Azure's. */
const FILTERS = ['content_filter', 'content_policy_violation', 'ResponsibleAIPolicyViolation'];
/** Matches messages about a system role that is not supported: of chat templates, OpenAI, Gemini, Anthropic and Bedrock. */
const NO_SYSTEM_ROLE = new RegExp(
  [
    // "System role not supported", "Developer instruction is not enabled for models/..."
    /\b(?:system|developer)\W+(?:role|message|prompt|instruction)s?\b.{0,20}?(?:not|n't|un)\W?(?:supported|enabled|allowed|accepted)/,
    // "This model doesn't support system prompts", "'messages[0].role' does not support 'system' with this model"
    /(?:not|n't) support\W+(?:the \W?)?(?:system|developer)\b/,
    // "Conversation roles must alternate user/assistant/...", "Only user and assistant roles are supported!"
    /roles must alternate|only user\b.{0,20}? roles are supported/,
    // 'Unexpected role "system"', "unknown variant `system`", {"loc":["body","messages",0,"role"]}
    /(?:unexpected|invalid|unknown|unsupported) (?:role|variant)\W+(?:system|developer)\b|\bmessages\W+0\W+role\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/**
 * Why an endpoint refused a request: its content filter, the name of the token limit, or the system role; else
 * null.
 */
export type Refusal = 'filtered' | 'limit-name' | 'system-role' | null;

/** Returns why a request was refused, from the error that the client threw. @param limitName the request's. */
export function refusalOf(thrown: unknown, limitName: LimitName): Refusal {
  const { status, error } = (thrown ?? {}) as Thrown;
  if (typeof status !== 'number' || typeof error !== 'string') return null;
  const body = parseBody(error);
  if ((status === 400 || status === 422) && hasCode(body, FILTERS)) return 'filtered';
  // Errors of chat templates have status 500 at some servers.
  if ((isPermanent(status) || status === 500) && NO_SYSTEM_ROLE.test(messageIn(body))) return 'system-role';
  const names = [limitName, 'max_completion_tokens'];
  return isPermanent(status) && names.some((name) => error.includes(name)) ? 'limit-name' : null;
}

const isPermanent = (status: number): boolean => status >= 400 && status < 500 && !TEMPORARY.includes(status);

const hasCode = (body: unknown, codes: readonly string[]): boolean =>
  valuesOf(body, 'code').some((code) => codes.includes(code as string));

/**
 * Classifies an error of the client. The message of the result has no secrets.
 * @param now the time in milliseconds since 1970, from which the dates of headers are counted.
 * @returns a TemporaryFailure if a retry may help, otherwise an EndpointError.
 */
export function faultOf(thrown: unknown, endpoint: Endpoint, now: number): TemporaryFailure | EndpointError {
  const { status, headers, error, message } = (thrown ?? {}) as Thrown;
  if (typeof status !== 'number') return failureWithoutStatus(thrown, endpoint);
  const body = typeof error === 'string' ? parseBody(error) : '';
  const said = messageIn(body);
  const text = clip(endpoint.redact(said === '' ? String(message) : `${status} ${said}`));
  if (hasCode(body, QUOTA)) return lastingError(endpoint, text, "Look at the account's plan and billing.");
  if (TEMPORARY.includes(status) || status >= 500) {
    const rateLimited = status === 429 || status === 503;
    return new TemporaryFailure(text, {
      retryAfterMs: retryAfterMs(headers, now) ?? delayIn(body, now),
      resetMs: rateLimited ? resetMs(headers, now) : null,
      rateLimited,
      mayBeCharged: MAY_BE_CHARGED.includes(status),
    });
  }
  return lastingError(endpoint, text, remedyFor(status, endpoint));
}

/** Returns the wait in the body of an error, in milliseconds: Google's `retryDelay`, such as "17s". Null for none. */
const delayIn = (body: unknown, now: number): number | null =>
  valuesOf(body, 'retryDelay')
    .map((delay) => (typeof delay === 'string' ? waitIn(delay, now) : null))
    .find((ms) => ms !== null) ?? null;

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

/** Thrown for a failure that a retry may resolve. */
export class TemporaryFailure extends Error {
  /** The requested wait in milliseconds; null if there is none. */
  readonly retryAfterMs: number | null;
  /** The milliseconds until the endpoint's rate limit is reset; null if it is not known. A lower bound of the wait. */
  readonly resetMs: number | null;
  /** Whether all requests should wait: the endpoint limits their rate. */
  readonly rateLimited: boolean;
  /** Whether the request may be charged. */
  readonly mayBeCharged: boolean;

  constructor(
    message: string,
    details: {
      readonly retryAfterMs?: number | null;
      readonly resetMs?: number | null;
      readonly rateLimited?: boolean;
      readonly mayBeCharged: boolean;
    },
  ) {
    super(message);
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.resetMs = details.resetMs ?? null;
    this.rateLimited = details.rateLimited ?? false;
    this.mayBeCharged = details.mayBeCharged;
  }
}

/** The names of the parameter that limits an answer's tokens, each with the other one. */
const OTHER = { max_completion_tokens: 'max_tokens', max_tokens: 'max_completion_tokens' } as const;

/** A name of this parameter. */
export type LimitName = keyof typeof OTHER;

/** The name of the token limit in use for an endpoint. It changes when the endpoint refuses or ignores a name. */
export class LimitNames {
  #current: LimitName = 'max_completion_tokens';
  readonly #refused = new Set<LimitName>();

  get current(): LimitName {
    return this.#current;
  }

  /** Records a refused name. @returns whether the other name can still be tried. */
  refuse(name: LimitName): boolean {
    this.#refused.add(name);
    const other = OTHER[name];
    if (this.#refused.has(other)) return false;
    this.#current = other;
    return true;
  }

  /** Records an answer longer than its limit. Older servers ignore `max_completion_tokens` without an error. */
  exceeded(): void {
    if (!this.#refused.has('max_tokens')) this.#current = 'max_tokens';
  }
}
