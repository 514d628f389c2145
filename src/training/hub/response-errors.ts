/** Builds the errors for answers with an error status and for network errors. */
import { BoundsError } from '../../shared/http/bounded-fetch.js';
import { causesOf, messageIn, parseBody } from '../../shared/http/error-texts.js';
import { resetMs, retryAfterMs } from '../../shared/http/retry.js';
import { HubError } from './hub-errors.js';
import { redacted } from './redact.js';

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
