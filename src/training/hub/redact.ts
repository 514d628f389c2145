/** Replaces secrets and control characters in texts of servers, so that the texts can be printed. */
import { redactor } from '../../shared/http/redactor.js';
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
