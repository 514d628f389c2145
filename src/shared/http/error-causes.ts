/** Collects the causes of an error. The message of a `fetch` error alone does not name the reason. */

/** The fields read from an error. Libraries throw many classes, and some throw values that are not errors. */
export interface Cause {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

/**
 * Returns an error, its cause, the members of an AggregateError, the causes of these and so on, each once. [] for a value that
 * is not an object.
 */
export function causesOf(error: unknown): Cause[] {
  const causes: Cause[] = [];
  const stack = [error];
  while (stack.length > 0) {
    const next = stack.pop();
    if (typeof next !== 'object' || next === null || causes.includes(next)) continue;
    causes.push(next);
    const { cause, errors } = next as { cause?: unknown; errors?: unknown };
    // The stack is last in, first out: the cause comes before the members of an AggregateError.
    stack.push(...(Array.isArray(errors) ? [...errors].reverse() : []), cause);
  }
  return causes;
}
