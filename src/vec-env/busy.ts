/** Environments that are in the middle of a call: whatever that calls back may not call them. */

interface Callee {
  busy: boolean;
}

/** Does what may call the caller's code, while every call on these environments is refused as `busy`. */
export function whileBusy<T>(callees: readonly Callee[], body: () => T): T {
  for (const callee of callees) callee.busy = true;
  try {
    return body();
  } finally {
    for (const callee of callees) callee.busy = false;
  }
}
