/** Parses how long a service asks its clients to wait. */

/** Response headers, as `fetch` returns them. */
export interface Headers {
  get(name: string): string | null;
}

/** Date.parse accepts many texts that are not dates, such as "-5". An HTTP date begins with a day's name. */
const HTTP_DATE = /^\s*[A-Z][a-z]{2,8},? /;

/**
 * Returns the wait in milliseconds from now, at least 0: `retry-after-ms`, or else `retry-after` in seconds or as an
 * HTTP date. Returns null if neither header is present and readable.
 */
export function retryAfterMs(headers: Headers | null | undefined, now: number): number | null {
  const exact = numberIn(headers?.get('retry-after-ms'));
  if (exact !== null) return exact;
  const header = headers?.get('retry-after');
  const seconds = numberIn(header);
  if (seconds !== null) return seconds * 1000;
  const date = HTTP_DATE.test(header ?? '') ? Date.parse(header!) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function numberIn(text: string | null | undefined): number | null {
  return /^\s*\d+(\.\d*)?\s*$/.test(text ?? '') ? Number(text) : null;
}
