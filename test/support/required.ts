/** What a test run must not do without. */

/**
 * Whether `RHYTHM_REQUIRE`, names with commas between them, has this one: then its absence fails the run, where it would
 * otherwise be a skipped test. CI requires `native`, and `gymnasium` where it can be installed.
 */
export const isRequired = (name: string): boolean =>
  (process.env.RHYTHM_REQUIRE ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .includes(name);
