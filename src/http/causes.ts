/** What stands behind an error: `fetch` throws one that says nothing itself. */

/** An error, as far as it is looked at: libraries throw of many classes, and some no error at all. */
export interface Cause {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

/** An error, what caused it, and so on, each once; [] for what is none. */
export function causesOf(error: unknown): Cause[] {
  const causes: Cause[] = [];
  const waiting = [error];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null || causes.includes(next)) continue;
    causes.push(next);
    const { cause, errors } = next as { cause?: unknown; errors?: unknown };
    // The last is looked at first: what caused it before what it is made of.
    waiting.push(...(Array.isArray(errors) ? [...errors].reverse() : []), cause);
  }
  return causes;
}
