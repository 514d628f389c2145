/**
 * `fetch` for the Hub: asks again where an answer may become better, waits as long as the Hub asks it to, and fails in
 * words without secrets. The Hub's library asks once, and throws for whatever comes.
 */

import { BoundsError, boundedFetch } from '../../shared/http/bounded-fetch.js';
import type { Clock } from '../../shared/http/clock.js';
import { type BackOff, backOff, type FailedAttempt, retry } from '../../shared/http/retry.js';
import { HubError } from './hub-errors.js';
import { redacted } from './redact.js';
import { faultOf, refusalOf } from './refusals.js';

/** Attempts after the first. */
const RETRIES = 5;
const WAITS: BackOff = { first: 1000, last: 30_000 };
/** Who is asked to wait longer had better come back. */
const MOST_WAIT_MS = 300_000;
/** The longest answer lists the addresses of the parts of a hundred large files, each of a kilobyte. */
const MAX_ANSWER_BYTES = 2 ** 26;

const hubFetch = boundedFetch(MAX_ANSWER_BYTES);

export interface FetchOptions {
  readonly token: string | null;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Told before each wait. */
  readonly onWait: (why: string) => void;
  /** Told of the bytes of contents as they leave; negative ones are those of an attempt that failed. */
  readonly onSent: (bytes: number) => void;
}

/** @throws from what it returns: HubError; the signal's reason. */
export function fetchWithRetry(options: FetchOptions): typeof fetch {
  const { signal, clock, onWait } = options;
  return (input, init) =>
    retry(() => attempt(input, init ?? {}, options), {
      ...{ retries: RETRIES, signal, clock },
      waitAfter: (failed) => waitAfter(failed, onWait),
    });
}

/** As `askAgain` wants it: as long as the Hub asks for, and no shorter than one would wait by oneself. */
function waitAfter({ error, attempt, left }: FailedAttempt, onWait: FetchOptions['onWait']): number | null {
  if (left === 0 || !mayPass(error)) return null;
  const ms = Math.max(error.retryAfterMs ?? 0, backOff(WAITS, attempt));
  const which = `attempt ${attempt} of ${RETRIES + 1}`;
  onWait(`${error.brief}; asking again in ${Math.ceil(ms / 1000)} s (${which}).`);
  return ms;
}

const mayPass = (error: Error): error is HubError =>
  error instanceof HubError && error.transient && (error.retryAfterMs ?? 0) <= MOST_WAIT_MS;

type Input = Parameters<typeof fetch>[0];
type Init = NonNullable<Parameters<typeof fetch>[1]>;

async function attempt(input: Input, init: Init, { token, signal, onSent }: FetchOptions): Promise<Response> {
  let sent = 0;
  const count = (bytes: number) => {
    sent += bytes;
    onSent(bytes);
  };
  const what = redacted(`${init.method ?? 'GET'} ${String(input).split('?')[0]}`, token);
  try {
    const answer = await exchange(input, counted(init, count), signal, what, token);
    sent = 0;
    return answer;
  } finally {
    if (sent > 0) onSent(-sent);
  }
}

/** Reads the whole answer, too: one that is cut off is a fault of the connection, and asked for again. */
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
    // The status says more than the body that could not be read.
    if (response?.ok === false && error instanceof BoundsError)
      throw refusalOf(response, error.message, what, token);
    throw faultOf(error, what, token);
  }
  if (!response.ok) throw refusalOf(response, Buffer.from(body).toString(), what, token);
  return new Response(body.byteLength === 0 ? null : body, response);
}

/** Contents are sent by PUT. */
const counted = (init: Init, count: (bytes: number) => void): Init =>
  init.method === 'PUT' && init.body instanceof Blob
    ? { ...init, body: new CountedBlob(init.body, count) }
    : init;

/** A Blob that tells how much of it was read. It stays one: storage wants to know the length before it takes anything. */
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
