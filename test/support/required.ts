/** Reads which engines and libraries a test run requires or leaves out. */

const names = (variable: string): string[] =>
  (process.env[variable] ?? '').split(',').map((entry) => entry.trim());

/**
 * Returns whether `RHYTHM_REQUIRE`, a comma-separated list, has this name. Then its absence fails the run instead of
 * skipping tests. CI requires `native` and `python`, and as many of `webgpu`, `chromium`, `gymnasium`, `websockets`, `trl`
 * and `pyarrow` as it can install.
 */
export const isRequired = (name: string): boolean => names('RHYTHM_REQUIRE').includes(name);

/** Returns whether `RHYTHM_SKIP` has this name. A run that must not load `webgpu` names it there. */
export const isLeftOut = (name: string): boolean => names('RHYTHM_SKIP').includes(name);
