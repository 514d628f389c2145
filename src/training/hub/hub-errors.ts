/** Errors of the Hub, without secrets, and what to do about them. */
import { RhythmError } from '../../shared/errors.js';
import { BoundsError } from '../../shared/http/bounded-fetch.js';
import { causesOf, messageIn, parseBody } from '../../shared/http/error-texts.js';
import { redactor } from '../../shared/http/redactor.js';
import { resetMs, retryAfterMs } from '../../shared/http/retry.js';
import { shortened, toPrintable } from '../../shared/names.js';

/** The maximum length of a quoted answer, in characters, without the "..." after a cut. Chosen by hand. */
const MAX_LENGTH = 400;

/** The replacement of a secret. */
const MASK = 'hf_***';

/** Matches any token of the Hub. Four characters suffice (chosen by hand), so that a token that was cut matches too. */
const ANY_TOKEN = /\bhf_[A-Za-z0-9]{4,}/g;
/** Matches a URL with a query. The query of a storage URL grants access. */
const URL_WITH_QUERY = /(https?:\/\/[^\s?"']+)\?[^\s"']+/g;

/** Removes the queries of URLs; replaces control characters, and the token as `redactor` finds it. */
export function withoutSecrets(text: string, token: string | null): string {
  const redact = redactor(token === null ? [] : [token], MASK);
  return toPrintable(redact(text).replace(URL_WITH_QUERY, '$1'));
}

/** Like `withoutSecrets`, for answers: also replaces all other tokens, and truncates long texts. */
export function redacted(text: string, token: string | null): string {
  return shortened(withoutSecrets(text, token).replace(ANY_TOKEN, MASK), MAX_LENGTH);
}

interface HubErrorOptions {
  /** The HTTP status; null if no answer came. */
  readonly status?: number | null;
  /** The Hub's error code, such as RevisionNotFound. */
  readonly hubCode?: string | null;
  /** Whether the same request may succeed later. */
  readonly transient?: boolean;
  /** Whether a request had no answer. */
  readonly unanswered?: boolean;
  /** The message without its remedy. */
  readonly brief?: string;
  /** The wait that the Hub demands, in milliseconds; null if it demands none. */
  readonly retryAfterMs?: number | null;
}

/** The Hub refused a request, could not be reached, or has an unexpected state; or a local file changed. */
export class HubError extends RhythmError {
  readonly status: number | null;
  readonly hubCode: string | null;
  readonly transient: boolean;
  readonly unanswered: boolean;
  readonly brief: string;
  readonly retryAfterMs: number | null;

  // The error has no `cause`: messages of libraries and servers may quote the token, and a stack trace would print them.
  constructor(message: string, options: HubErrorOptions = {}) {
    super('hub_failed', message);
    this.status = options.status ?? null;
    this.hubCode = options.hubCode ?? null;
    this.transient = options.transient ?? false;
    this.unanswered = options.unanswered ?? false;
    this.brief = options.brief ?? message;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Returns whether an error is a HubError with one of these statuses. */
export const isStatus = (error: unknown, ...statuses: number[]): error is HubError =>
  error instanceof HubError && error.status !== null && statuses.includes(error.status);

/** Statuses of temporary failures. */
const TRANSIENT_STATUSES = [408, 425, 429, 500, 502, 503, 504];

/** Remedies by status. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: 'Check HF_TOKEN, or run "hf auth login": the token may have expired.',
  403: 'Use a token with write access, or another USER in --repo. If the file storage refused the upload, the upload URL from the Hub may have expired: run the same command again.',
  404: 'Check --repo and --type. A private repository needs a token with access to it.',
  405: 'Check HF_ENDPOINT: its server may not be a Hub.',
  412: 'Another commit was made meanwhile. Run the same command again.',
  413: 'The file is too large for the server. Split it.',
  429: 'The rate limit is exceeded. Run the same command later: it resumes the upload.',
  501: 'Check HF_ENDPOINT: its server may not be a Hub.',
};

/** Returns the error for an answer. @param what the request, such as "GET https://...". @param text the body. */
export function responseError(
  response: Response,
  text: string,
  what: string,
  token: string | null,
): HubError {
  const { status, headers } = response;
  const hubCode = headers.get('x-error-code');
  const message = headers.get('x-error-message') ?? messageIn(parseBody(text));
  const quoted = message === '' ? '' : ` (${redacted(message, token)})`;
  const requestId = headers.get('x-request-id');
  const id = requestId === null ? '' : ` Request ${redacted(requestId, token)}.`;
  const transient =
    TRANSIENT_STATUSES.includes(status) || (status === 409 && message.includes('conflicting operation'));
  const remedy =
    hubCode === 'GatedRepo'
      ? 'The repository is gated. Request access on its page.'
      : (REMEDIES[status] ??
        (transient ? 'Run the same command later: it resumes the upload.' : 'Check the uploaded files.'));
  const brief = `Expected the Hub to answer ${what}, got status ${status}${quoted}`;
  return new HubError(`${brief}. ${remedy}${id}`, {
    brief,
    status,
    hubCode,
    transient,
    retryAfterMs: demandedWaitMs(headers),
  });
}

/** Returns the wait that an answer demands, in milliseconds; null if it demands none. */
export const demandedWaitMs = (headers: Headers, now = Date.now()): number | null =>
  retryAfterMs(headers, now) ?? resetMs(headers, now);

/** Codes of network errors that are not temporary. */
const PERMANENT_CODES = [
  'ENOTFOUND',
  'ERR_INVALID_URL',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
];

/** Returns the error for a failed request without an answer, or a failed read of a local file. */
export function networkError(error: unknown, what: string, token: string | null): HubError {
  const causes = causesOf(error);
  if (causes.some(({ name }) => name === 'NotReadableError')) {
    return new HubError(
      `Expected files not to change while they are uploaded, but one changed during ${what}. Nothing was committed. Run ` +
        'the same command again when no process writes to it.',
    );
  }
  const codes = causes.flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
  // The first code; without codes, the message of the innermost cause.
  const [reason] = [...codes, ...causes.map(({ message }) => message).reverse()];
  const brief = `Expected an answer to ${what}, got ${redacted(String(reason), token)}`;
  const permanent = error instanceof BoundsError || codes.some((code) => PERMANENT_CODES.includes(code));
  return new HubError(
    `${brief}. Check the network and HF_ENDPOINT, and run the same command again: it resumes the upload.`,
    { brief, transient: !permanent, unanswered: true },
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
    // The texts may quote a response of the Hub, or the name of a file.
    if (error instanceof HubError) {
      const safe = (text: string) => withoutSecrets(text, token);
      const { message, brief, hubCode } = error;
      throw new HubError(safe(message), { ...error, brief: safe(brief), hubCode: hubCode && safe(hubCode) });
    }
    if (error instanceof RhythmError) throw error;
    // A local file changed during the upload. `networkError` builds the error for this case too.
    if (error instanceof Error && error.name === 'NotReadableError')
      throw networkError(error, 'the upload', token);
    throw new HubError(
      `Expected an answer of the Hub, got an unreadable one: ${reasonOf(error, token)}. Check HF_ENDPOINT, and ` +
        'run the same command again.',
    );
  }
}

/** Returns the error's message. Replaces the message of a JSON parser: it quotes the answer, which may contain the token. */
function reasonOf(error: unknown, token: string | null): string {
  if (error instanceof SyntaxError) return 'invalid JSON';
  return redacted(error instanceof Error ? error.message : String(error), token);
}
