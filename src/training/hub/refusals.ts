/** Turns invalid answers into errors: what was expected, what came, and the remedy. */
import { BoundsError } from '../../shared/http/bounded-fetch.js';
import { causesOf } from '../../shared/http/error-causes.js';
import { retryAfterMs } from '../../shared/http/retry-after.js';
import { HubError } from './hub-errors.js';
import { redacted } from './redact.js';

/** Overload, maintenance and accidents. */
const TRANSIENT = [408, 425, 429, 500, 502, 503, 504];

const REMEDIES: Readonly<Record<number, string>> = {
  401: 'Check HF_TOKEN, or run "hf auth login": a token may have expired.',
  403: 'Use a token that may write there, or another USER in --repo; a permission for storage may also have expired: run the same command again.',
  404: 'Check --repo and --type; what is private is only there for tokens that may see it.',
  405: 'Check HF_ENDPOINT: it may be no Hub.',
  412: 'Somebody committed meanwhile. Run the same command again.',
  413: 'It takes no files of this size. Split them.',
  429: 'It is asked too often. Run the same command later: it goes on where this one stopped.',
  501: 'Check HF_ENDPOINT: it may be no Hub.',
};

/** @param what was asked, as people read it. @param text the answer's body. */
export function refusalOf(response: Response, text: string, what: string, token: string | null): HubError {
  const { status, headers } = response;
  const hubCode = headers.get('x-error-code');
  const said = headers.get('x-error-message') ?? saidIn(text);
  const words = said === '' ? '' : ` (${redacted(said, token)})`;
  const requestId = headers.get('x-request-id');
  const id = requestId === null ? '' : ` Request ${redacted(requestId, token)}.`;
  const transient = TRANSIENT.includes(status) || (status === 409 && said.includes('conflicting operation'));
  const remedy =
    hubCode === 'GatedRepo'
      ? 'Access to it must be granted first: ask for it on its page.'
      : (REMEDIES[status] ??
        (transient
          ? 'Run the same command later: it goes on where this one stopped.'
          : 'Check what is uploaded.'));
  const brief = `Expected the Hub to answer ${what}, got status ${status}${words}`;
  return new HubError(`${brief}. ${remedy}${id}`, {
    brief,
    ...{ status, hubCode, transient },
    retryAfterMs: waitAskedFor(headers),
  });
}

/** What an answer says of itself: JSON's error or message, or a short text that is no page. */
function saidIn(text: string): string {
  try {
    const { error, message } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return [error, message].find((each) => typeof each === 'string') ?? '';
  } catch {
    const code = /<Code>([^<]*)<\/Code>/.exec(text)?.[1];
    return code ?? (text.trimStart().startsWith('<') ? '' : text.trim());
  }
}

/** Milliseconds; null where it does not say. */
export function waitAskedFor(headers: Headers, now = Date.now()): number | null {
  const wait = retryAfterMs(headers, now);
  if (wait !== null) return wait;
  // The Hub's own: "api";r=0;t=55.
  const limit = /;\s*r=0\s*;\s*t=(\d+)/.exec(headers.get('ratelimit') ?? '');
  return limit === null ? null : 1000 * Number(limit[1]);
}

/** Faults that waiting does not mend. */
const LASTING = [
  'ENOTFOUND',
  'ERR_INVALID_URL',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
];

/** For what `fetch` threw. */
export function faultOf(error: unknown, what: string, token: string | null): HubError {
  const causes = causesOf(error);
  if (causes.some(({ name }) => name === 'NotReadableError')) {
    return new HubError(
      `Expected files to stay as they are while they are uploaded, but one was changed during ${what}. Nothing was ` +
        'committed. Run the same command again when nobody writes to it.',
    );
  }
  const codes = causes.flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
  const [reason] = [...codes, ...causes.map(({ message }) => message).reverse()];
  const brief = `Expected an answer to ${what}, got ${redacted(String(reason), token)}`;
  const lasting = error instanceof BoundsError || codes.some((code) => LASTING.includes(code));
  return new HubError(
    `${brief}. Check the network and HF_ENDPOINT, and run the same command again: it goes on where this one stopped.`,
    { brief, transient: !lasting },
  );
}
