/** Validates names that callers choose and that results print. */

/** The maximum length of a name that fits a table. Chosen by hand. */
const MAX_LENGTH = 60;

/** The maximum length of a model's name, which may be a path on a server. Chosen by hand. */
const MAX_MODEL_LENGTH = 200;

/** The rule of `isPrintable`, as errors state it. */
export const PRINTABLE = `1 to ${MAX_LENGTH} printable characters`;

/** The rule of `isModelName`, as errors state it. */
export const MODEL_NAME = `1 to ${MAX_MODEL_LENGTH} printable characters`;

/**
 * Characters that a terminal interprets or that UTF-8 files cannot hold: controls, line ends, direction marks, lone
 * surrogates.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Returns whether a value is a name that fits a table, is not blank, and contains no UNPRINTABLE character. */
export const isPrintable = (value: unknown): value is string => isText(value, MAX_LENGTH);

/** Returns whether a value is a model's name: as `isPrintable`, but of up to MAX_MODEL_LENGTH characters. */
export const isModelName = (value: unknown): value is string => isText(value, MAX_MODEL_LENGTH);

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= maxLength &&
  value.search(UNPRINTABLE) < 0;

/** Replaces UNPRINTABLE characters by U+FFFD. */
export const toPrintable = (text: string): string => text.replace(UNPRINTABLE, '\uFFFD');

/** Returns a text, cut after `maxLength` characters. A text that was cut ends with "...". */
export const shortened = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}...` : text;
