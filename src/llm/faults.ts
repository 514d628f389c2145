/** What a failed request means: for how long, and whether it may have been paid for. */

import { causesOf } from '../http/causes.js';
import { type Headers, retryAfterMs } from '../http/retry-after.js';
import { shortened } from '../validate/names.js';
import type { Endpoint } from './endpoint.js';
import { EndpointError, PassingFault } from './errors.js';

/** What the client throws, as far as it is looked at: its classes are loaded late, and other fetches have others. */
interface Thrown {
  readonly message?: unknown;
  readonly status?: unknown;
  readonly headers?: Headers;
  readonly error?: unknown;
  readonly code?: unknown;
  readonly param?: unknown;
}

/** More of what an endpoint says helps nobody. */
const MAX_SAID = 300;

export const clip = (text: string): string => shortened(text.replaceAll(/\s+/g, ' ').trim(), MAX_SAID);

/** Worth another try. */
const PASSING = [408, 409, 425, 429];
/** A gateway gave up, Cloudflare's among them: what stands behind it may have answered, and be paid. Azure says so of 408. */
const MAY_HAVE_COST = [408, 502, 504, 520, 524];
/** Codes of systems whose request never left: nobody is paid for it. */
const NEVER_SENT = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];
/** Said with 429 where no waiting helps. */
const NO_MONEY = 'insufficient_quota';

export type Refusal = 'filtered' | 'limit-name' | null;

/** What a refused request can be asked instead: nothing, as a filter refused it; or with the limit by its older name. */
export function refusalOf(thrown: unknown): Refusal {
  const { status, error, code, param, message } = (thrown ?? {}) as Thrown;
  if (status !== 400 && status !== 422) return null;
  if (code === 'content_filter' || code === 'content_policy_violation' || hasInnerFilter(error))
    return 'filtered';
  const named = param === 'max_completion_tokens' || String(message).includes('max_completion_tokens');
  return named ? 'limit-name' : null;
}

const hasInnerFilter = (error: unknown): boolean =>
  (error as { innererror?: { code?: unknown } } | undefined)?.innererror?.code ===
  'ResponsibleAIPolicyViolation';

/**
 * What the client threw, in words without secrets.
 * @returns PassingFault for what is tried again, EndpointError for what is not.
 */
export function faultOf(thrown: unknown, endpoint: Endpoint, now: number): PassingFault | EndpointError {
  const { status, headers, code, message } = (thrown ?? {}) as Thrown;
  if (typeof status !== 'number') return lostConnection(thrown, endpoint);
  const said = clip(endpoint.redact(String(message)));
  if (code === NO_MONEY) return ended(endpoint, said, "Look at the account's plan and billing.");
  if (PASSING.includes(status) || status >= 500) {
    return new PassingFault(said, {
      retryAfterMs: retryAfterMs(headers, now),
      crowded: status === 429 || status === 503,
      mayHaveCost: MAY_HAVE_COST.includes(status),
    });
  }
  return ended(endpoint, said, remedyFor(status, endpoint));
}

const ended = (endpoint: Endpoint, said: string, remedy: string): EndpointError =>
  new EndpointError(`Expected ${endpoint.url} to answer, got ${said}. ${remedy}`, { lasting: true });

function remedyFor(status: number, { kind }: Endpoint): string {
  const azure = kind === 'azure';
  if (status === 401 || status === 403) {
    return azure
      ? 'Check AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT.'
      : 'Check OPENAI_API_KEY and --base-url.';
  }
  if (status === 404) {
    return azure
      ? 'Check AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_DEPLOYMENT (or --model) and OPENAI_API_VERSION.'
      : 'Check --model and --base-url, which ends in /v1 for most servers.';
  }
  if (status >= 300 && status < 400) return 'Pass the --base-url that it sends you to, if you trust it.';
  return 'Check --model, --max-tokens and the other options of the model.';
}

function lostConnection(thrown: unknown, endpoint: Endpoint): PassingFault {
  const causes = causesOf(thrown);
  const words = causes.map(({ message }) => String(message ?? '')).filter((text) => text !== '');
  const said = clip(endpoint.redact(`no answer: ${words.join(': ')}`));
  return new PassingFault(said, {
    mayHaveCost: !causes.some(({ code }) => NEVER_SENT.includes(String(code))),
  });
}
