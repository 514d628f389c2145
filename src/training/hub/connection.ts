/** The connection to the Hub: its library, and requests that are retried. */
import { BoundsError, boundedFetch } from '../../shared/http/bounded-fetch.js';
import { backOff, CLOCK, type Clock, retry } from '../../shared/http/retry.js';
import { load } from '../../shared/optional-packages.js';
import type { Account } from './account.js';
import { HubError, networkError, redacted, responseError } from './hub-errors.js';

export interface Connection {
  readonly library: typeof import('@huggingface/hub');
  readonly token: string | null;
  /** The parameters that all functions of the library take. */
  readonly params: { readonly hubUrl: string; readonly accessToken?: string; readonly fetch: typeof fetch };
}

export interface ConnectOptions {
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** Whether a request without an answer is repeated. Default true. */
  readonly retryUnanswered?: boolean;
  /** Called before each wait, with its reason. */
  readonly onWait: (why: string) => void;
  /** Called with the number of bytes of each content that was sent: a file, or a part of a large one. */
  readonly onSent: (bytes: number) => void;
}

/** The maximum size of an answer in bytes. The longest answers list the URLs of the parts of a hundred large files. */
const MAX_ANSWER_BYTES = 2 ** 26;
const hubFetch = boundedFetch(MAX_ANSWER_BYTES);

// The numbers below are chosen by hand. More retries and longer waits survive longer outages, but report errors later.

/** The number of attempts after the first. */
const RETRIES = 5;
/** The first and the longest wait, in milliseconds, unless the Hub demands a longer one. */
const BACK_OFF = { first: 1000, last: 30_000 };
/** The maximum wait that the Hub may demand, in milliseconds. A longer wait is an error. */
const MAX_WAIT_MS = 300_000;

/** Creates a connection, without a request. Its `fetch` throws HubErrors. @throws LibraryError `library_missing`. */
export async function connect({ endpoint, token }: Account, options: ConnectOptions): Promise<Connection> {
  const library = await load('uploads', ['@huggingface/hub@2'], () => import('@huggingface/hub'));
  const fetch: typeof globalThis.fetch = (input, init = {}) =>
    fetchWithRetry(`${input}`, init, token, options);
  return { library, token, params: { hubUrl: endpoint, accessToken: token ?? undefined, fetch } };
}

function fetchWithRetry(
  url: string,
  init: RequestInit,
  token: string | null,
  { signal, clock = CLOCK, retryUnanswered = true, onWait, onSent }: ConnectOptions,
): Promise<Response> {
  const what = redacted(`${init.method ?? 'GET'} ${url.split('?')[0]}`, token);
  const request = async () => {
    const answer = await exchange(url, init, what, token, signal);
    if (init.body instanceof Blob) onSent(init.body.size);
    return answer;
  };
  return retry(request, {
    ...{ retries: RETRIES, signal, clock },
    waitAfter({ error, attempt, left }) {
      if (!(error instanceof HubError) || left === 0) return null;
      const { status, retryAfterMs: demanded } = error;
      if (demanded === null || demanded > MAX_WAIT_MS) return null;
      if (status === null && !retryUnanswered) return null;
      const ms = Math.max(demanded, backOff(BACK_OFF, attempt));
      const got = status === null ? 'no answer' : `status ${status}`;
      onWait(
        `${what}: ${got}; retrying in ${Math.ceil(ms / 1000)} s (attempt ${attempt} of ${RETRIES + 1}).`,
      );
      return ms;
    },
  });
}

/** Makes a request once, and reads the whole answer: a truncated one is a network error. @throws HubError. */
async function exchange(
  url: string,
  init: RequestInit,
  what: string,
  token: string | null,
  stop: AbortSignal,
): Promise<Response> {
  const signal = init.signal ? AbortSignal.any([stop, init.signal]) : stop;
  let response: Response | undefined;
  try {
    response = await hubFetch(url, { ...init, signal });
    const body = await response.arrayBuffer();
    if (response.ok) return new Response(body.byteLength === 0 ? null : body, response);
    throw responseError(response, Buffer.from(body).toString(), what, token);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HubError) throw error;
    // The status explains more than an unreadable body.
    if (response?.ok === false && error instanceof BoundsError)
      throw responseError(response, error.message, what, token);
    throw networkError(error, what, token);
  }
}
