/** Reads environment variables. */

/** Returns an environment variable; undefined where there are none, as in browsers, and where Deno may not read it. */
export function readVariable(name: string): string | undefined {
  try {
    return globalThis.process?.env?.[name];
  } catch {
    return undefined;
  }
}
