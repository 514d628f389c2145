/** When a service wants to be asked again. */

/** The headers that are looked at; their names in any case. */
export interface Headers {
  get(name: string): string | null;
}

/**
 * `retry-after-ms`, else `retry-after` in seconds or as an HTTP date, in milliseconds from now, never below 0; null where
 * neither says anything that can be read.
 */
export function retryAfterMs(headers: Headers | null | undefined, now: number): number | null {
  const exact = numberIn(headers?.get('retry-after-ms'));
  if (exact !== null) return exact;
  const said = headers?.get('retry-after');
  const seconds = numberIn(said);
  if (seconds !== null) return seconds * 1000;
  const date = Date.parse(said ?? '');
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function numberIn(text: string | null | undefined): number | null {
  return /^\s*\d+(\.\d*)?\s*$/.test(text ?? '') ? Number(text) : null;
}
