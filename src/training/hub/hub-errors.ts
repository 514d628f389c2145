/** Errors of the Hub, without secrets, and what to do about them. */
import { RhythmError } from '../../shared/errors.js';
import { BoundsError } from '../../shared/http/bounded-fetch.js';
import { causesOf, messageIn, parseBody } from '../../shared/http/error-texts.js';
import { redactor } from '../../shared/http/redactor.js';
import { resetMs, retryAfterMs } from '../../shared/http/retry.js';
import { shortened, toPrintable } from '../../shared/names.js';

/** The replacement of a secret. */
const MASK = 'hf_***';
/** Matches any token of the Hub. Four characters suffice (chosen by hand), so that a token that was cut matches too. */
const ANY_TOKEN = /\bhf_[A-Za-z0-9]{4,}/g;
/** Matches a URL with a query. The query of a storage URL grants access. */
const URL_WITH_QUERY = /(https?:\/\/[^\s?"']+)\?[^\s"']+/g;
/** The maximum length of a quoted answer, in characters, without the "..." after a cut. Chosen by hand. */
const MAX_LENGTH = 400;

/** Removes the queries of URLs; replaces control characters, and the token as `redactor` finds it. */
export const withoutSecrets = (text: string, token: string | null): string =>
  toPrintable(redactor(token === null ? [] : [token], MASK)(text).replace(URL_WITH_QUERY, '$1'));

/** Like `withoutSecrets`, for answers: also replaces all other tokens, and truncates long texts. */
export const redacted = (text: string, token: string | null): string =>
  shortened(withoutSecrets(text, token).replace(ANY_TOKEN, MASK), MAX_LENGTH);

/** The Hub refused a request, could not be reached, or has an unexpected state; or a local file changed. */
export class HubError extends RhythmError {
  /** The HTTP status; null if no answer came; undefined if no request failed. */
  readonly status: number | null | undefined;
  /** The milliseconds that the Hub wants a client to wait before the same request; null if that would not help. */
  readonly retryAfterMs: number | null;

  // The error has no `cause`: messages of libraries and servers may quote the token, and a stack trace would print them.
  constructor(message: string, status?: number | null, retryAfterMs: number | null = null) {
    super('hub_failed', message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns whether an error is a HubError with this status. */
export const isStatus = (error: unknown, status: number): boolean =>
  error instanceof HubError && error.status === status;

/** Statuses of temporary failures. */
const TRANSIENT_STATUSES = [408, 425, 429, 500, 502, 503, 504];
/** Matches the codes of network errors that are not temporary: unknown hosts, and certificates. */
const PERMANENT_CODE = /^(?:ENOTFOUND|ERR_INVALID_URL)$|CERT/;
const RESUME = 'Run the same command later: it resumes the upload.';
const NO_HUB = 'Check HF_ENDPOINT: its server may not be a Hub.';

/** Remedies by status. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: 'Check HF_TOKEN, or run "hf auth login": the token may have expired.',
  403: 'Use a token with write access, or another USER in --repo. A gated repository must grant access on its page. If the file storage refused the upload, the upload URL from the Hub may have expired: run the same command again.',
  404: 'Check --repo and --type. A private repository needs a token with access to it.',
  405: NO_HUB,
  412: 'Another commit was made meanwhile. Run the same command again.',
  413: 'The file is too large for the server. Split it.',
  429: `The rate limit is exceeded. ${RESUME}`,
  501: NO_HUB,
};

/** Returns the error for an answer. @param what the request, such as "GET https://...". @param body its text. */
export function responseError(
  { status, headers }: Response,
  body: string,
  what: string,
  token: string | null,
) {
  const message = headers.get('x-error-message') ?? messageIn(parseBody(body));
  const quoted = message === '' ? '' : ` (${redacted(message, token)})`;
  const isConflict = status === 409 && message.includes('conflicting operation');
  const transient = isConflict || TRANSIENT_STATUSES.includes(status);
  const remedy = REMEDIES[status] ?? (transient ? RESUME : 'Check the uploaded files.');
  const wait = retryAfterMs(headers, Date.now()) ?? resetMs(headers, Date.now()) ?? 0;
  const text = `Expected the Hub to answer ${what}, got status ${status}${quoted}. ${remedy}`;
  return new HubError(text, status, transient ? wait : null);
}

/** Returns the error for a local file that changed. @param what the file, or the request that sent it. */
export const unreadable = (what: string): HubError =>
  new HubError(
    `Expected files not to change while they are uploaded, but one changed or cannot be read: ${what}. Nothing was ` +
      'committed. Run the same command again when no process writes to it.',
  );

/** Returns the error for a failed request without an answer, or a failed read of a local file. @param what of both. */
export function networkError(error: unknown, what: string, token: string | null): HubError {
  const causes = causesOf(error);
  if (causes.some(({ name }) => name === 'NotReadableError')) return unreadable(what);
  const codes = causes.flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
  // The first code; without codes, the message of the innermost cause.
  const [reason] = [...codes, ...causes.map(({ message }) => message).reverse()];
  const isPermanent = error instanceof BoundsError || codes.some((code) => PERMANENT_CODE.test(code));
  return new HubError(
    `Expected an answer to ${what}, got ${redacted(String(reason), token)}. Check the network and HF_ENDPOINT. ${RESUME}`,
    null,
    isPermanent ? null : 0,
  );
}

/** Runs `work`. @throws RhythmErrors of `work`, the signal's reason, and a HubError for every other error. */
export async function withSafeErrors<Result>(
  token: string | null,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    // The text may quote a response of the Hub, or the name of a file.
    if (error instanceof HubError)
      throw new HubError(withoutSecrets(error.message, token), error.status, error.retryAfterMs);
    if (error instanceof RhythmError) throw error;
    if ((error as Error).name === 'NotReadableError') throw unreadable('the upload');
    // The message of a JSON parser quotes the answer, which may contain the token.
    const message = error instanceof Error ? error.message : String(error);
    const reason = error instanceof SyntaxError ? 'invalid JSON' : redacted(message, token);
    throw new HubError(`Expected an answer of the Hub, got an unreadable one: ${reason}. ${NO_HUB}`);
  }
}
