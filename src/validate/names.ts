/** Names that callers give, and that results are printed under. */

/** More of a name than this does not fit a table. */
const MAX_LENGTH = 60;

/** What `isPrintable` wants, as errors say it. */
export const PRINTABLE = `1 to ${MAX_LENGTH} printable characters`;

/** Whether a value is a name that fits a table, and that no terminal obeys. */
export const isPrintable = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= MAX_LENGTH && !/\p{Cc}/u.test(value);
