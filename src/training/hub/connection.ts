/** The connection to the Hub. */
import { BoundsError, boundedFetch } from '../../shared/http/bounded-fetch.js';
import {
  type BackOff,
  backOff,
  CLOCK,
  type Clock,
  type FailedAttempt,
  retry,
} from '../../shared/http/retry.js';
import { load } from '../../shared/optional-packages.js';
import type { Account } from './account.js';
import { HubError, networkError, redacted, responseError } from './hub-errors.js';

type HubLibrary = typeof import('@huggingface/hub');

/** The library of the Hub, and the settings of its requests. */
export interface Connection {
  readonly library: HubLibrary;
  readonly endpoint: string;
  readonly token: string | null;
  readonly fetch: typeof fetch;
}

type ConnectOptions = Omit<FetchOptions, 'token' | 'clock'> & Partial<Pick<FetchOptions, 'clock'>>;

/** Creates a connection, without a request. @throws LibraryError `library_missing`. */
export async function connect(
  { endpoint, token }: Account,
  { clock = CLOCK, ...options }: ConnectOptions,
): Promise<Connection> {
  const library = await load('uploads', ['@huggingface/hub@2'], () => import('@huggingface/hub'));
  return { library, endpoint, token, fetch: fetchWithRetry({ ...options, clock, token }) };
}

/** Returns the parameters that all functions of the library take. */
export const commonParams = ({ endpoint, token, fetch }: Connection) => ({
  hubUrl: endpoint,
  fetch,
  accessToken: token ?? undefined,
});

// The numbers below are chosen by hand. More retries and longer waits survive longer outages, but report errors later.

/** The number of attempts after the first. */
const RETRIES = 5;
/** The first and the longest wait, in milliseconds, unless the Hub demands a longer one. */
const BACK_OFF: BackOff = { first: 1000, last: 30_000 };
/** The maximum wait that the Hub may demand, in milliseconds. A longer wait is an error. */
const MAX_WAIT_MS = 300_000;
/** The maximum size of an answer in bytes. The longest answers list the URLs of the parts of a hundred large files. */
const MAX_ANSWER_BYTES = 2 ** 26;

const hubFetch = boundedFetch(MAX_ANSWER_BYTES);

interface FetchOptions {
  readonly token: string | null;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Whether a request without an answer is repeated. Default true. */
  readonly retryUnanswered?: boolean;
  /** Called before each wait, with its reason. */
  readonly onWait: (why: string) => void;
  /** Called with the number of bytes of contents that were sent; negative after a failed attempt. */
  readonly onSent: (bytes: number) => void;
}

/** Returns a `fetch` that throws HubError or the signal's reason. */
function fetchWithRetry(options: FetchOptions): typeof fetch {
  const { signal, clock } = options;
  return (input, init) =>
    retry(() => attempt(input, init ?? {}, options), {
      retries: RETRIES,
      signal,
      clock,
      waitAfter: (failed) => waitAfter(failed, options),
    });
}

/** Returns the wait before the next attempt: the Hub's or the back-off, whichever is longer. Null stops the retries. */
function waitAfter(
  { error, attempt, left }: FailedAttempt,
  { onWait, retryUnanswered = true }: FetchOptions,
): number | null {
  if (left === 0 || !isTemporary(error) || (error.unanswered && !retryUnanswered)) return null;
  const ms = Math.max(error.retryAfterMs ?? 0, backOff(BACK_OFF, attempt));
  const which = `attempt ${attempt} of ${RETRIES + 1}`;
  onWait(`${error.brief}; retrying in ${Math.ceil(ms / 1000)} s (${which}).`);
  return ms;
}

const isTemporary = (error: Error): error is HubError =>
  error instanceof HubError && error.transient && (error.retryAfterMs ?? 0) <= MAX_WAIT_MS;

type Input = Parameters<typeof fetch>[0];
type Init = NonNullable<Parameters<typeof fetch>[1]>;

/** Makes a request once. If it fails, reports its sent bytes again as a negative number. */
async function attempt(input: Input, init: Init, { token, signal, onSent }: FetchOptions): Promise<Response> {
  let sent = 0;
  const count = (bytes: number) => {
    sent += bytes;
    onSent(bytes);
  };
  const what = redacted(`${init.method ?? 'GET'} ${String(input).split('?')[0]}`, token);
  try {
    const answer = await exchange(input, withCount(init, count), signal, what, token);
    sent = 0;
    return answer;
  } finally {
    if (sent > 0) onSent(-sent);
  }
}

/**
 * Sends a request and reads the whole answer. A truncated answer is a network error, and is retried.
 * @param what the method and URL, for errors.
 */
async function exchange(
  input: Input,
  init: Init,
  signal: AbortSignal,
  what: string,
  token: string | null,
): Promise<Response> {
  const signals = init.signal ? [signal, init.signal] : [signal];
  let response: Response | undefined;
  let body: ArrayBuffer;
  try {
    response = await hubFetch(input, { ...init, signal: AbortSignal.any(signals) });
    body = await response.arrayBuffer();
  } catch (error) {
    for (const each of signals) each.throwIfAborted();
    // The status explains more than an unreadable body.
    if (response?.ok === false && error instanceof BoundsError)
      throw responseError(response, error.message, what, token);
    throw networkError(error, what, token);
  }
  if (!response.ok) throw responseError(response, Buffer.from(body).toString(), what, token);
  return new Response(body.byteLength === 0 ? null : body, response);
}

/** Counts the bytes that a request sends. Only PUT requests send file contents. */
const withCount = (init: Init, count: (bytes: number) => void): Init =>
  init.method === 'PUT' && init.body instanceof Blob
    ? { ...init, body: new CountedBlob(init.body, count) }
    : init;

/** A Blob that reports the bytes read from it. A stream would not do, because storage requires the length in advance. */
class CountedBlob extends Blob {
  readonly #inner: Blob;
  readonly #count: (bytes: number) => void;

  override readonly size: number;

  constructor(inner: Blob, count: (bytes: number) => void) {
    super([]);
    this.size = inner.size;
    this.#inner = inner;
    this.#count = count;
  }

  override stream(): ReturnType<Blob['stream']> {
    const count = this.#count;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        count(chunk.length);
        controller.enqueue(chunk);
      },
    });
    return this.#inner.stream().pipeThrough(counter) as ReturnType<Blob['stream']>;
  }
}
