/** Makes foreign texts safe to show: without secrets and terminal control characters. */
import { redactor } from '../../shared/http/secrets.js';
import { madePrintable, shortened } from '../../shared/printable-names.js';

/** More of an answer than this helps nobody. */
const MAX_TEXT = 400;

/** What stands where a secret stood. */
const MASK = 'hf_***';

/** Tokens of anybody, of the form that the Hub gives them. */
const TOKEN_LIKE = /\bhf_[A-Za-z0-9]{4,}/g;
/** Addresses of storage carry their permission in the query. */
const QUERY = /(https?:\/\/[^\s?"']+)\?[^\s"']+/g;

/**
 * A text without the token, however a server may spell it, without queries of addresses, and that no terminal obeys.
 */
export function withoutSecrets(text: string, token: string | null): string {
  const redact = redactor(token === null ? [] : [token], MASK);
  return madePrintable(redact(text).replace(QUERY, '$1'));
}

/** The same of an answer: also without anybody else's token, and cut off where it is long. */
export function redacted(text: string, token: string | null): string {
  return shortened(withoutSecrets(text, token).replace(TOKEN_LIKE, MASK), MAX_TEXT);
}
