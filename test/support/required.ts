/** What a test run must not do without, and what it is to leave out. */

const names = (variable: string): string[] =>
  (process.env[variable] ?? '').split(',').map((entry) => entry.trim());

/**
 * Whether `RHYTHM_REQUIRE`, names with commas between them, has this one: then its absence fails the run, where it would
 * otherwise be a skipped test. CI requires `native` and `python`, and what it can install of `webgpu`, `chromium`,
 * `gymnasium`, `websockets`, `trl` and `pyarrow`.
 */
export const isRequired = (name: string): boolean => names('RHYTHM_REQUIRE').includes(name);

/** Whether `RHYTHM_SKIP` has it: a test run that must not even load `webgpu` names it there. */
export const isLeftOut = (name: string): boolean => names('RHYTHM_SKIP').includes(name);
