/** Reads which engines and libraries a test run requires or leaves out. */

const names = (variable: string): string[] =>
  (process.env[variable] ?? '').split(',').map((entry) => entry.trim());

/**
 * Returns whether `RHYTHM_REQUIRE`, a comma-separated list, contains this name. The absence of a required engine or
 * library fails the test run; otherwise its tests are skipped.
 */
export const isRequired = (name: string): boolean => names('RHYTHM_REQUIRE').includes(name);

/** Returns whether `RHYTHM_SKIP`, a comma-separated list, contains this name. Tests must not load what it names. */
export const isLeftOut = (name: string): boolean => names('RHYTHM_SKIP').includes(name);
